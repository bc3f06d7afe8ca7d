import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { Server as TlsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { checkArgument, checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import { HOUR_MS } from '../../../src/base/time.ts'
import { Lifetime } from '../../../src/concurrency/lifetime.ts'
import type { ControllerFetch, HostEngine } from '../../../src/index.ts'
import { inProcessIdentity } from '../../network/sdk/in-process-identity.ts'
import { ConnectionFailure, type Identity } from '../../network/sdk/index.ts'
import { type Connections, trackConnections } from '../node/tracked-connections.ts'
import { BrowserLogins } from './browser-login.ts'
import type { CallerHeaders } from './forwarded-headers.ts'
import { GatewayDoor } from './gateway-door.ts'
import { CALLBACK_PATH, DEFAULT_HOME, GatewayHosts, hostsProblem } from './gateway-hosts.ts'
import { GatewayLogins } from './gateway-logins.ts'
import { type ProvidedLogin, ProviderClient } from './provider-client.ts'

/** The parts of a controller that a gateway needs. */
export interface GatewayController {
  readonly fetch: ControllerFetch
  readonly engine: { readonly access: Pick<HostEngine['access'], 'explain'> }
}

/** The router of the process, through which callers are dialed: `server.router` of `serve`. */
export type GatewayRouter = Parameters<typeof inProcessIdentity>[0]['router']

/** The settings of a gateway; times in ms. */
export interface GatewayOptions {
  /**
   * The hosts that browsers ask for: `*.apps.example`, with the port unless it is 443. The label before it is the name of a service. Give
   * the domain to nothing else: its apps are one site to browsers.
   */
  readonly hosts: string
  readonly router: GatewayRouter
  /** The label of the host that takes logins and lists apps; `home` unless given. No service of this name is served. */
  readonly home?: string
  /** The issuer whose login page browsers see; the issuer at the address of the controller unless given. */
  readonly issuer?: string
  /** Headers in which apps read the caller. A header of such a name that a browser sends is removed. Default: none. */
  readonly callerHeaders?: CallerHeaders
  /** Whether a service is served to browsers. Default: every service. Leave out services that do not speak HTTP. */
  readonly serves?: (service: string) => boolean
  /** Logins in all; 10 000 unless given. Beyond it, the login that was used longest ago ends. */
  readonly maxLogins?: number
  /** Logins of one identity; 20 unless given. */
  readonly maxLoginsPerIdentity?: number
  /** Requests and websockets of one login at once, each a circuit; 100 unless given. */
  readonly maxCircuitsPerLogin?: number
  /** Connections of a server that `attach` was given, if it speaks TLS; 10 000 unless given. Beyond it, the longest silent one ends. */
  readonly maxConnections?: number
  /** Connections of one address; half of these unless given. */
  readonly maxConnectionsPerAddress?: number
  /** How long a login lasts without use; an hour unless given. */
  readonly idleMs?: number
  /** How long a login lasts in all; 12 hours unless given. */
  readonly lifetimeMs?: number
  /** How long an app may take to begin its answer; two minutes unless given. */
  readonly answerTimeoutMs?: number
  /** How long a request or a websocket may carry nothing; ten minutes unless given. */
  readonly idleTimeoutMs?: number
  /** Called with every unexpected exception; a process warning unless given. */
  readonly onError?: (error: unknown) => void
}

/** A door for browsers. `await using` closes it at the end of a block. */
export interface Gateway extends AsyncDisposable {
  /** The address that the OpenID provider sends browsers back to. It has to stand in `oidc.redirectUris` of the controller. */
  readonly redirectUri: string
  /** The address of the page that lists apps. */
  readonly home: string
  /** The browsers that are logged in. */
  readonly logins: number
  /** Answers a request of a server of `node:https`. */
  readonly listener: RequestListener
  /** Answers an upgrade of such a server. */
  readonly upgrade: (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Answers everything that a server is asked, bounds its connections, and gives it the time limits that uploads of any size need. */
  attach(server: Server | TlsServer): void
  /** Ends every login with its API session, and cuts its connections. */
  close(): Promise<void>
}

const OPTIONS: OptionRules<GatewayOptions> = {
  hosts: { shape: 'string', isNeeded: true, hint: "a name such as '*.apps.example'", problem: hostsProblem },
  router: {
    functions: ['greet'],
    isNeeded: true,
    hint: 'the router of serve(controller, { fabric: true, router: true })',
  },
  home: 'string',
  issuer: 'string',
  callerHeaders: { members: ['name', 'id'] },
  serves: 'function',
  ...{ maxLogins: 'number', maxLoginsPerIdentity: 'number', maxCircuitsPerLogin: 'number' },
  ...{ maxConnections: 'number', maxConnectionsPerAddress: 'number' },
  ...{ idleMs: 'number', lifetimeMs: 'number', answerTimeoutMs: 'number', idleTimeoutMs: 'number' },
  onError: 'function',
}

const SWEEP_MS = 60_000
/** Milliseconds for the headers of a request. */
const HEADERS_MS = 10_000

/**
 * Opens dark services to browsers: `https://payroll.apps.example` is the service `payroll`, which the browser reaches after a login at the
 * controller, as the identity that logged in. Policies decide as for any other dial, and the end of the API session cuts what is open.
 *
 * @example
 * const server = await serve(controller, { port: 1280, fabric: true, router: true })
 * const door = gateway(controller, { hosts: '*.apps.example', router: server.router })
 * const https = createServer({ cert, key })
 * door.attach(https)
 * https.listen(443)
 *
 * @throws {TypeError} for an invalid option.
 */
export function gateway(controller: GatewayController, options: GatewayOptions): Gateway {
  checkArgument('gateway', 'controller', controller, { functions: ['fetch'], isNeeded: true, hint: 'a controller' })
  checkOptions('gateway', options, OPTIONS)
  const { router, onError = warn } = options
  const hosts = new GatewayHosts(options.hosts, options.home ?? DEFAULT_HOME)
  const redirectUri = gatewayRedirectUri(options.hosts, hosts.home)
  const provider = new ProviderClient(controller.fetch, redirectUri, options.issuer)
  const limits = {
    maxLogins: options.maxLogins ?? 10_000,
    maxLoginsPerIdentity: options.maxLoginsPerIdentity ?? 20,
    idleMs: options.idleMs ?? HOUR_MS,
    lifetimeMs: options.lifetimeMs ?? 12 * HOUR_MS,
  }
  const total = options.maxConnections ?? 10_000
  const perNetwork = options.maxConnectionsPerAddress ?? Math.max(Math.floor(total / 2), 1)
  const bounded: Connections[] = []
  const logins = new GatewayLogins(limits, Date.now)
  const parts = { hosts, logins, provider, onError, now: Date.now }
  const fetch = (request: Request) => controller.fetch(request, {})
  const browsers = new BrowserLogins({ ...parts, openIdentity: (tokens) => identityOf(tokens, fetch, router) })
  const door = new GatewayDoor({
    ...{ ...parts, browsers, access: controller.engine.access, callerHeaders: options.callerHeaders ?? {} },
    serves: options.serves ?? (() => true),
    maxCircuits: options.maxCircuitsPerLogin ?? 100,
    keep: (socket) => {
      for (const connections of bounded) connections.keep(socket)
    },
    times: { answerMs: options.answerTimeoutMs ?? 120_000, idleMs: options.idleTimeoutMs ?? 600_000 },
  })
  const sweep = setInterval(() => logins.sweep(), SWEEP_MS)
  sweep.unref()
  const lifetime = new Lifetime('the gateway is closed')
  const close = () =>
    lifetime.close(
      () => clearInterval(sweep),
      () => logins.close(),
    )
  return {
    ...{ redirectUri, home: `${hosts.originOf(hosts.home)}/`, close, [Symbol.asyncDispose]: close },
    get logins() {
      return logins.size
    },
    listener: (incoming, outgoing) => door.request(incoming, outgoing),
    upgrade: (incoming, socket, head) => door.upgrade(incoming, socket, head),
    attach(server) {
      // An upload may take as long as it likes while it goes on; silence ends it.
      server.requestTimeout = 0
      server.headersTimeout = HEADERS_MS
      // Without TLS they are those of a proxy.
      if (server instanceof TlsServer) bounded.push(trackConnections(server, { total, perNetwork }))
      server.on('request', (incoming, outgoing) => door.request(incoming, outgoing))
      server.on('checkContinue', (incoming, outgoing) => door.request(incoming, outgoing))
      server.on('upgrade', (incoming, socket, head) => door.upgrade(incoming, socket, head))
    },
  }
}

/**
 * The address that a gateway has the OpenID provider send browsers back to, for `oidc.redirectUris` of a controller that is made before it.
 *
 * @example
 * const oidc = { redirectUris: [gatewayRedirectUri('*.apps.example')] }
 *
 * @throws {TypeError} for invalid hosts.
 */
export function gatewayRedirectUri(hosts: string, home = DEFAULT_HOME): string {
  return `${new GatewayHosts(hosts, home).originOf(home)}${CALLBACK_PATH}`
}

/** An identity that acts by the tokens of its login, and by nothing else: when they are void, it is over. */
function identityOf(
  { origin, ...tokens }: ProvidedLogin,
  fetch: (request: Request) => Promise<Response>,
  router: GatewayRouter,
): Identity {
  let isBegun = false
  const startSession = async () => {
    if (isBegun) throw new ConnectionFailure('NOT_AUTHENTICATED', 'the login is over')
    isBegun = true
    return tokens
  }
  return inProcessIdentity({ origin, fetch, router, startSession })
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : new Error(String(error)))
}
