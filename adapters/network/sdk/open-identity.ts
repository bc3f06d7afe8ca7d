import { checkArgument, checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import type { ApiClient, ClientApi, Fetch, RequestOf } from '../../../src/client/index.ts'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import type { RouterOffer } from '../../../src/data-plane.ts'
import { type EndpointFacts, postureResponses } from '../../../src/policy.ts'
import type { Channel } from '../channel/channel.ts'
import { processTimer, type Timer } from '../channel/conversation.ts'
import { httpsFetch } from '../enrollment/https-fetch.ts'
import type { BearerTokens } from './bearer-login.ts'
import { CertificateRenewal } from './certificate-renewal.ts'
import { ControllerSession } from './controller-session.ts'
import { type DialOptions, dialService } from './dialing.ts'
import { HeldCertificate } from './held-certificate.ts'
import { appServer, type HostedAppOptions } from './hosted-app.ts'
import { type HostedService, type HostOptions, hostService } from './hosting.ts'
import type { Identity, IdentityOptions } from './identity.ts'
import { clientIn, portcullisIn, secondFactorOf } from './identity-client.ts'
import {
  type CertifiedKey,
  type Credentials,
  type EnrolledDevice,
  type IdentityFile,
  keptInFile,
  readIdentity,
} from './identity-file.ts'
import type { DirectIdentity, ProvingParts } from './proved/direct-identity.ts'
import { connectToRouter, RouterPool } from './routers/router-pool.ts'
import { ServiceAccess } from './service-access.ts'
import { ServiceAgent, serviceDispatcher, serviceFetch } from './service-agent.ts'

const OPTIONS: OptionRules<IdentityOptions> = {
  sessions: { oneOf: ['auto', 'api-session', 'bearer'] },
  posture: 'unknown',
  secondFactor: 'function',
  directE2EE: { oneOf: ['offered', 'required'] },
  keep: 'function',
}

const DIAL_OPTIONS: OptionRules<DialOptions> = {
  applicationData: { shape: 'unknown' },
  instance: 'string',
  proved: 'boolean',
  timeoutMs: 'number',
  signal: 'object',
}

const HOST_OPTIONS: OptionRules<HostOptions & HostedAppOptions> = {
  instance: 'string',
  cost: 'number',
  precedence: { oneOf: ['default', 'required', 'failed'] },
  routers: 'number',
  maxConnections: 'number',
  accept: 'function',
  proved: 'boolean',
  onChange: 'function',
  callerHeader: 'string',
}

/**
 * Opens an identity that has enrolled: the path of its file, the content of the file, or the result of {@link enrollDevice}; for Portcullis
 * or a deployed controller. It sends nothing before its first use. Once it has dialed or hosts, it holds the process until it is closed.
 *
 * Rejects with a `TypeError` for an invalid identity.
 *
 * @example
 * await using laptop = await openIdentity('laptop.json')
 * const response = await laptop.fetch('http://payroll/salaries')
 */
export async function openIdentity(
  identity: string | IdentityFile | EnrolledDevice,
  options: IdentityOptions = {},
): Promise<Identity> {
  checkArgument('openIdentity', 'identity', identity, {
    ...{ shape: 'unknown', isNeeded: true, hint: 'the path of an identity file, or what is in it' },
  })
  checkOptions('openIdentity', options, OPTIONS)
  const { controllers, credentials, pending } = await readIdentity(identity)
  const certificate = new HeldCertificate(credentials, pending)
  const inFile = typeof identity === 'string' && options.keep === undefined ? await keptInFile(identity) : undefined
  return identityOver({
    ...{ ...options, controllers, certificate, fetchBy: fetchOf, timer: processTimer },
    ...(inFile && { keep: inFile.keep, reread: inFile.reread }),
    connect: (address) => connectToRouter(address, certificate.shown),
  })
}

function fetchOf(credentials: Credentials | undefined): Fetch {
  const { ca, ...shown } = credentials ?? { ca: undefined }
  return httpsFetch({ ...shown, ...(ca !== undefined && { ca }) })
}

/** An identity with its way to controllers and routers. */
export interface IdentityConnections extends IdentityOptions {
  readonly controllers: readonly string[]
  /** The way to controllers with given credentials. */
  fetchBy(credentials: Credentials | undefined): Fetch
  readonly timer: Timer
  /** Milliseconds of a monotonic clock; the clock of the process unless given. */
  readonly now?: () => number
  connect(address: string): Promise<Channel>
  /** The pair that is kept at present, by this program or another program. */
  reread?(): CertifiedKey | undefined
  /** Begins a session in another way than by certificate; answers its token, or its tokens. */
  logIn?(): Promise<string | BearerTokens>
  /** The certificate that it shows; undefined for an identity without a certificate. */
  readonly certificate?: HeldCertificate
  /** Whether a router can be reached; every router can unless given. */
  reaches?(router: RouterOffer): boolean
  /** Whether the process lasts as long as something is hosted; it does unless given. */
  readonly holdsProcess?: boolean
}

/** An identity over any way to controllers and routers. */
export function identityOver(connections: IdentityConnections): Identity {
  const { certificate, connect, controllers, posture, secondFactor, timer } = connections
  const fetchController = fetchShowing(connections)
  const report = async (api: ApiClient<ClientApi>, facts: EndpointFacts) => {
    const body = [...postureResponses(facts)]
    // Some controllers leave the posture of sessions of access tokens to routers.
    routers.report(facts)
    if (body.length > 0) await api.call('POST /posture-response-bulk', { body: body as PostureReport })
  }
  let self: Promise<{ readonly id: string; readonly name: string }> | undefined
  const session = new ControllerSession({
    ...{ controllers, fetch: fetchController, timer },
    otherCertificate: () => {
      const kept = connections.reread?.()
      const isNews = kept !== undefined && ![certificate?.shown.cert, certificate?.other?.cert].includes(kept.cert)
      // Another program with the same file renewed the pair.
      if (isNews) certificate?.propose(kept, certificate.shown.ca)
      const other = certificate?.other
      return other && { fetch: connections.fetchBy(other), show: () => certificate?.showOther(other) }
    },
    sessions: connections.sessions ?? 'auto',
    ...(connections.logIn && { logIn: () => connections.logIn?.() ?? Promise.reject(new Error('no login')) }),
    ...(secondFactor && { secondFactor: () => secondFactor() }),
    onLogin: async (api) => {
      if (posture !== undefined) await report(api, typeof posture === 'function' ? await posture() : posture)
    },
    onNewSession: () => routers.retire(),
    onNewToken: (token) => routers.updateToken(token),
    onAlive: () => renewal.renewWhenDue(),
  })
  const whoAmI = () => {
    self ??= session.call('identity', async (api) => (await api.call('GET /current-identity')).data)
    self.catch(() => {
      self = undefined
    })
    return self
  }
  const routers = new RouterPool({
    ...{ connect, timer, now: connections.now ?? runtime.monotonic },
    hello: async (mayBeOver) => {
      // A router waits for the announcement of an unknown session, while the controller refuses it at once.
      if (mayBeOver) await session.renewIfOver()
      return { apiSessionToken: await session.token(), identityId: (await whoAmI()).id }
    },
  })
  const [controller = ''] = controllers
  const renewal = new CertificateRenewal({ session, controllers, certificate, keep: connections.keep, timer })
  const access = new ServiceAccess(session, (router) => connections.reaches?.(router) ?? true)
  const forgetSession = () => session.forget()
  let direct: Promise<DirectIdentity> | undefined
  const directOffer = async (serviceId: string, isRequired = connections.directE2EE === 'required') => {
    if (!isRequired && connections.directE2EE === undefined) return undefined
    direct ??= openProving({ ...{ certificate, controllers, session, timer }, fetch: fetchController, whoAmI })
    return (await direct).offer(serviceId, isRequired)
  }
  const common = { access, routers, timer, directOffer, forgetSession }
  const hosted = new Set<HostedService>()
  const dial = (service: string, options: DialOptions = {}) =>
    dialService({ ...common, name: async () => (await whoAmI()).name }, service, options)
  const agent = new ServiceAgent(dial)
  const fetch = serviceFetch(agent)
  let release: (() => void) | undefined
  const close = async () => {
    release?.()
    agent.destroy()
    await Promise.all([...hosted].map((one) => one.close()))
    routers.close()
    renewal.close()
    await session.close()
  }
  return {
    ...{ agent, fetch, close, dispatcher: serviceDispatcher(agent) },
    dial: async (service, options = {}) => {
      checkArgument('dial', 'service', service, { shape: 'string', isNeeded: true })
      checkOptions('dial', options, DIAL_OPTIONS)
      return dial(service, options)
    },
    host: async (service, app, options = {}) => {
      checkArgument('host', 'service', service, { shape: 'string', isNeeded: true })
      checkOptions('host', options, HOST_OPTIONS)
      const server = appServer(app, options)
      const started = await hostService(common, service, (connection) => server.take(connection), options)
      // While the identity changes routers no socket holds the process.
      if (connections.holdsProcess !== false) release ??= runtime.interval(HOLD_MS, () => undefined, true)
      const closing: HostedService = {
        service,
        [Symbol.asyncDispose]: () => closing.close(),
        get routers() {
          return started.routers
        },
        get connections() {
          return started.connections
        },
        close: async (ending) => {
          hosted.delete(closing)
          if (hosted.size === 0) {
            release?.()
            release = undefined
          }
          server.close()
          await started.close(ending)
        },
      }
      hosted.add(closing)
      return closing
    },
    services: () => access.list(),
    report: (facts) => session.call('posture', (api) => report(api, facts)),
    mfa: secondFactorOf(session),
    client: clientIn(session, { baseUrl: controller, fetch: fetchController }),
    portcullis: portcullisIn(session, { baseUrl: controller, fetch: fetchController }),
    renew: async (keep) => {
      checkArgument('renew', 'keep', keep, { shape: 'function', isNeeded: true })
      await renewal.renew(keep)
    },
    [Symbol.asyncDispose]: close,
  }
}

/** The identity as it proves itself: loaded with the first connection that asks for it. */
async function openProving(parts: ProvingParts): Promise<DirectIdentity> {
  const { provingIdentity } = await import('./proved/direct-identity.ts')
  return provingIdentity(parts)
}

/** The way to controllers by the certificate that is shown at the moment. */
function fetchShowing({ certificate, fetchBy }: IdentityConnections): Fetch {
  let shown = certificate?.shown
  let fetch = fetchBy(shown)
  return (request) => {
    if (certificate?.shown !== shown) {
      shown = certificate?.shown
      fetch = fetchBy(shown)
    }
    return fetch(request)
  }
}

type PostureReport = RequestOf<ClientApi['POST /posture-response-bulk']>['body']

/** Milliseconds between idle turns: long, because they only hold the process. */
const HOLD_MS = 2 ** 30
