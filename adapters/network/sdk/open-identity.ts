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
import { type HostedAppOptions, HostedApps } from './hosted-app.ts'
import type { HostOptions } from './hosting.ts'
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
  const session = new ControllerSession({
    ...{ controllers, fetch: fetchController, timer },
    otherCertificate: () => otherCertificate(connections),
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
  const report = (api: ApiClient<ClientApi>, facts: EndpointFacts) => reportPosture(api, routers, facts)
  const whoAmI = askedOnce(() =>
    session.call('identity', async (api) => (await api.call('GET /current-identity')).data),
  )
  const routers = new RouterPool({
    ...{ connect, timer, now: connections.now ?? runtime.monotonic },
    hello: async (mayBeOver) => {
      // A router waits for the announcement of an unknown session, while the controller refuses it at once.
      if (mayBeOver) await session.renewIfOver()
      return { apiSessionToken: await session.token(), identityId: (await whoAmI()).id }
    },
  })
  const renewal = new CertificateRenewal({ session, controllers, certificate, keep: connections.keep, timer })
  const access = new ServiceAccess(session, (router) => connections.reaches?.(router) ?? true)
  const proving = { certificate, controllers, session, timer, fetch: fetchController, whoAmI }
  const directOffer = directOffers(connections.directE2EE, proving)
  const common = { access, routers, timer, directOffer, forgetSession: () => session.forget() }
  const apps = new HostedApps(common, connections.holdsProcess ?? true)
  const dial = (service: string, options: DialOptions = {}) =>
    dialService({ ...common, name: async () => (await whoAmI()).name }, service, options)
  const agent = new ServiceAgent(dial)
  const close = async () => {
    agent.destroy()
    await apps.close()
    routers.close()
    renewal.close()
    await session.close()
  }
  const [baseUrl = ''] = controllers
  return {
    ...{ agent, fetch: serviceFetch(agent), close, dispatcher: serviceDispatcher(agent) },
    dial: async (service, options = {}) => {
      checkArgument('dial', 'service', service, { shape: 'string', isNeeded: true })
      checkOptions('dial', options, DIAL_OPTIONS)
      return dial(service, options)
    },
    host: async (service, app, options = {}) => {
      checkArgument('host', 'service', service, { shape: 'string', isNeeded: true })
      checkOptions('host', options, HOST_OPTIONS)
      return apps.host(service, app, options)
    },
    services: () => access.list(),
    report: (facts) => session.call('posture', (api) => report(api, facts)),
    mfa: secondFactorOf(session),
    client: clientIn(session, { baseUrl, fetch: fetchController }),
    portcullis: portcullisIn(session, { baseUrl, fetch: fetchController }),
    renew: async (keep) => {
      checkArgument('renew', 'keep', keep, { shape: 'function', isNeeded: true })
      await renewal.renew(keep)
    },
    [Symbol.asyncDispose]: close,
  }
}

/** The other certificate that the identity may show, after another program with the same file renewed the pair. */
function otherCertificate({ certificate, fetchBy, reread }: IdentityConnections) {
  const kept = reread?.()
  const isNews = kept !== undefined && ![certificate?.shown.cert, certificate?.other?.cert].includes(kept.cert)
  if (isNews) certificate?.propose(kept, certificate.shown.ca)
  const other = certificate?.other
  return other && { fetch: fetchBy(other), show: () => certificate?.showOther(other) }
}

async function reportPosture(api: ApiClient<ClientApi>, routers: RouterPool, facts: EndpointFacts): Promise<void> {
  const body = [...postureResponses(facts)]
  // Some controllers leave the posture of sessions of access tokens to routers.
  routers.report(facts)
  if (body.length > 0) await api.call('POST /posture-response-bulk', { body: body as PostureReport })
}

/** Asks once and keeps the answer. A failure is forgotten, so that the next call asks again. */
function askedOnce<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= ask()
    answer.catch(() => {
      answer = undefined
    })
    return answer
  }
}

/** How the identity proves itself on connections. The code for this is loaded with the first connection that asks for it. */
function directOffers(directE2EE: IdentityOptions['directE2EE'], parts: ProvingParts) {
  let direct: Promise<DirectIdentity> | undefined
  return async (serviceId: string, isRequired = directE2EE === 'required') => {
    if (!isRequired && directE2EE === undefined) return undefined
    direct ??= import('./proved/direct-identity.ts').then(({ provingIdentity }) => provingIdentity(parts))
    return (await direct).offer(serviceId, isRequired)
  }
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
