import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import { isIP } from 'node:net'
import { type TLSSocket, Server as TlsServer } from 'node:tls'
import { checkArgument, checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import type { CapacityOptions } from '../../../src/concurrency/fair-capacity.ts'
import { Lifetime } from '../../../src/concurrency/lifetime.ts'
import type { Controller, ControllerFetch } from '../../../src/index.ts'
import { type Address, listen, urlOf } from '../../network/channel/index.ts'
import { connectionInfo } from './connection-info.ts'
import { positive, trackConnections } from './connections.ts'
import {
  CONTROL_PROTOCOL,
  type ControlChannelOptions,
  controlChannel,
  type FabricSource,
  NO_CONTROL_CHANNEL,
  PROCESS_PROTOCOL,
} from './control-channel.ts'
import { EDGE_FIRST_BYTES, EdgePort, type EdgeRouterOptions, ROUTER_PROTOCOLS } from './edge-port.ts'
import { createListener, LISTENER_OPTIONS, type ListenerOptions } from './listener.ts'
import type { LocalRouter } from './local-router.ts'

import { asksForOperatorChannel, serveOperators } from './operator-port.ts'

import { sharePort } from './shared-port.ts'
import { type ServerCertificate, serverCertificateFacts, tlsOptions } from './tls-sockets.ts'

/** The part of a controller that a server needs: its answers and its certificate. */
export interface ServableController {
  readonly fetch: ControllerFetch
  /** The headers of every answer. */
  readonly answerHeaders?: Readonly<Record<string, string>>
  tls(): ServerCertificate
  /** A replacement certificate is shown from the next connection on. */
  readonly events?: Pick<Controller['events'], 'on'>
  /** Opens the data plane; where it is not there yet, {@link RunningServer.openFabric} has to be called. */
  readonly openFabric?: FabricSource['openFabric']
}

/** Where a controller is served and what a connection may cost; all times in ms. */
export interface ServeOptions extends ListenerOptions {
  /** The address to bind; `127.0.0.1` unless given, so that nothing is exposed by accident. */
  readonly host?: string
  /** The port to bind; 0 lets the system choose. */
  readonly port: number
  /** How long a TLS handshake, and then the headers of a request, may take; 10 s unless given. */
  readonly headersTimeoutMs?: number
  /** How long a whole request may take to arrive; 30 s unless given, never less than `headersTimeoutMs`. */
  readonly requestTimeoutMs?: number
  /** How long an idle connection is kept for the next request; 5 s unless given. */
  readonly keepAliveTimeoutMs?: number
  /**
   * How many connections may be open; 10 000 unless given. A further connection takes the place of the longest silent connection of the
   * address with the most connections. It is dropped when requests are being answered on all of them.
   */
  readonly maxConnections?: number
  /**
   * How many of them one address may have, an IPv6 address being its first 64 bits; half of `maxConnections` unless given.
   * All clients behind a proxy that passes TLS on, or behind a NAT, have one address.
   */
  readonly maxConnectionsPerAddress?: number
  /**
   * A host application that answers every request instead of the controller, which is mounted in it: an Express application
   * as it is, `getRequestListener(app.fetch)` of `@hono/node-server`, `fastify.routing`. It gets the connection limits, the
   * draining at the end and the renewal of the certificate; limits of bodies and answers come with the handler that mounts
   * the controller.
   */
  readonly app?: RequestListener
  /**
   * Lets routers connect: `true` on the same port, by ALPN, under the address of `host` and the port that is
   * bound; or as the options say. Without it no router is served.
   */
  readonly fabric?: boolean | ControlChannelOptions
  /**
   * Runs an edge router in this process, with `fabric`: SDKs and tunnelers dial and host through it. `true` on the same port,
   * by ALPN and the first bytes; or as the options say. Its record, key and certificate are made once and
   * kept in the storage.
   */
  readonly router?: boolean | EdgeRouterOptions
  /**
   * Further certificates, such as one of a public authority for browsers: a client that asks for one of its DNS names (SNI) sees it. Other
   * clients see the controller's own certificate, which alone signs tokens.
   */
  readonly namedCertificates?: readonly ServerCertificate[]
}

/** Options with an edge router, and the control channel by which the controller lays its circuits. */
export interface RoutedServeOptions extends ServeOptions {
  readonly fabric: NonNullable<Exclude<ServeOptions['fabric'], false>>
  readonly router: NonNullable<Exclude<ServeOptions['router'], boolean>> | true
}

/** A controller that is being served with an edge router. */
export interface RoutedServer extends RunningServer {
  readonly router: LocalRouter
}

/** A controller that is being served; `await using` closes it at the end of a block, before the controller that was made before it. */
export interface RunningServer extends AsyncDisposable {
  /** The URL of the bound address, `https://host:port`. */
  readonly url: string
  /** The port that is bound, also where the system chose it. */
  readonly port: number
  /** Where routers reach the controller, for example `tls:host:1280`; undefined without `fabric`. */
  readonly controlAddress: string | undefined
  /** The edge router of this process; undefined without `router`, and until routers are served. */
  readonly router: LocalRouter | undefined
  /** Serves the routers of a controller that came to be after its server. Does nothing without `fabric`. */
  openFabric(controller: FabricSource): Promise<void>
  /**
   * Stops accepting connections, waits `graceMs` (4 s unless given) for requests in flight, then ends the rest. A request that has not
   * arrived whole gets a second at most. Calling it again gives the same promise.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>
  /** Presents another certificate from the next connection on; without an argument, asks the controller for it. */
  replaceCertificate(certificate?: ServerCertificate): void
  /**
   * Presents a certificate, from the next connection on, to clients that ask for one of its DNS names (SNI), in place of an earlier
   * certificate for the name. Throws when it has no DNS name.
   */
  addNamedCertificate(certificate: ServerCertificate): void
}

const OPTIONS: OptionRules<ServeOptions> = {
  ...LISTENER_OPTIONS,
  host: 'string',
  port: {
    shape: 'number',
    isNeeded: true,
    hint: 'a number; 0 lets the system choose',
    problem: (port: number) =>
      Number.isInteger(port) && port >= 0 && port <= 65_535 ? undefined : `takes 0 to 65535, not ${port}`,
  },
  headersTimeoutMs: 'number',
  requestTimeoutMs: 'number',
  keepAliveTimeoutMs: 'number',
  maxConnections: 'number',
  maxConnectionsPerAddress: 'number',
  app: 'function',
  namedCertificates: 'array',
  fabric: { members: ['listen', 'advertise', 'others'], or: [true, false], problem: wrongAddress },
  router: {
    members: ['name', 'roleAttributes', 'listen', 'advertise', 'running'],
    or: [true, false],
    problem: wrongAddress,
  },
}

/** Programs without types give addresses as the command line takes them. */
function wrongAddress(given: Readonly<Record<'listen' | 'advertise', unknown>>): string | undefined {
  const wrong = (['listen', 'advertise'] as const).find((name) => given[name] !== undefined && !isAddress(given[name]))
  return wrong && `takes ${wrong} as { host: '${wrong === 'listen' ? '0.0.0.0' : 'router.example.org'}', port: 3022 }`
}

function isAddress(value: unknown): value is Address {
  return typeof value === 'object' && value !== null && 'host' in value && typeof value.host === 'string'
}

const HTTP = 'http/1.1'
/**
 * The connections that {@link serve} holds at once unless `maxConnections` says otherwise. Each takes a file descriptor.
 *
 * @example
 * const needed = DEFAULT_MAX_CONNECTIONS + 256 // descriptors, with those of files and of connections that the process makes
 */
export const DEFAULT_MAX_CONNECTIONS = 10_000
/** Leaves a process a second to close what else it has open, where a service manager waits for five. */
const DEFAULT_GRACE_MS = 4000
/** How long a request may go on arriving while the server closes, in ms. */
const CLOSING_ARRIVAL_MS = 1000
/** How long a connection may stand still in the middle of a response, in ms. */
const STALLED_CONNECTION_MS = 100_000
/** How often connections are checked against their time limits, in ms. */
const CHECKING_INTERVAL_MS = 1000
/** Room for several bearer tokens, in bytes. */
const MAX_HEADER_BYTES = 32_768

/**
 * Serves a controller over HTTPS (TLS 1.2 or later, HTTP/1.1), asking clients for a certificate without requiring one.
 *
 * @example
 * const server = await serve(controller, { host: '0.0.0.0', port: 1280 })
 * await server.close()
 *
 * @example
 * const server = await serve(controller, { port: 1280, fabric: true, router: true })
 * await server.router.host('wiki', (_request, response) => response.end('hello'))
 *
 * @throws RangeError for a limit that is no positive number.
 * @throws Error with `code` `EADDRINUSE` when the address is in use, or another code of the system for a failed bind.
 */
export function serve(
  controller: ServableController & Required<Pick<ServableController, 'openFabric'>>,
  options: RoutedServeOptions,
): Promise<RoutedServer>
/** Serves a controller as above, without a router or before there is one. */
export function serve(controller: ServableController, options: ServeOptions): Promise<RunningServer>
export async function serve(controller: ServableController, options: ServeOptions): Promise<RunningServer> {
  checkArgument('serve', 'controller', controller, {
    functions: ['fetch', 'tls'],
    isNeeded: true,
    hint: 'a controller',
  })
  checkOptions('serve', options, OPTIONS)
  const host = options.host ?? '127.0.0.1'
  const onError =
    options.onError ?? ((error: unknown) => process.emitWarning(error instanceof Error ? error : String(error)))
  const headersTimeout = options.headersTimeoutMs ?? 10_000
  const control = controlChannel(controller.tls(), options.fabric ?? false)
  const edge = edgePort(controller.tls(), options)
  const protocols = [...control.protocols, ...(edge?.isShared ? ROUTER_PROTOCOLS : []), HTTP]
  const server = createServer({
    ...tlsOptions(controller.tls(), protocols),
    headersTimeout,
    handshakeTimeout: headersTimeout,
    requestTimeout: Math.max(options.requestTimeoutMs ?? 30_000, headersTimeout),
    keepAliveTimeout: options.keepAliveTimeoutMs ?? 5000,
    connectionsCheckingInterval: CHECKING_INTERVAL_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    shouldUpgradeCallback: (incoming) => Boolean(options.fabric) && asksForOperatorChannel(incoming),
  })
  server.timeout = STALLED_CONNECTION_MS
  for (const certificate of options.namedCertificates ?? []) addNamed(server, certificate)
  const ownListener = () =>
    createListener(controller.fetch, {
      answerHeaders: () => controller.answerHeaders ?? {},
      ...picked(options, Object.keys(LISTENER_OPTIONS)),
    })
  server.on('request', options.app ?? ownListener())
  const connections = trackConnections(server, connectionLimits(options))
  if (options.fabric) {
    const infoOf = options.connectionInfo ?? connectionInfo
    serveOperators(server, { fetch: controller.fetch, infoOf, onError, onTaken: (socket) => connections.keep(socket) })
  }
  if (protocols.length > 1) {
    sharePort(server, {
      byProtocol: new Map([
        [CONTROL_PROTOCOL, (socket) => control.accept(socket)],
        [PROCESS_PROTOCOL, (socket) => control.accept(socket)],
        ...ROUTER_PROTOCOLS.map((protocol) => [protocol, (socket: TLSSocket) => edge?.accept(socket)] as const),
      ]),
      ...(edge?.isShared && { byFirstBytes: { bytes: EDGE_FIRST_BYTES, take: (socket) => edge.accept(socket) } }),
      onTaken: (socket) => connections.keep(socket),
      firstBytesMs: headersTimeout,
    })
  }
  const closeChannels = async () => {
    await edge?.close()
    await control.close()
  }
  await control.bind()
  await edge?.bind()
  const port = await listen(server, host, options.port).catch(async (error: unknown) => {
    await closeChannels()
    throw error
  })
  const openFabric = async (source: FabricSource) => {
    control.advertise({ host, port })
    const plane = await control.open(source)
    if (plane !== undefined) await edge?.open(plane, controller.fetch, { host, port })
  }
  if (controller.openFabric !== undefined && control !== NO_CONTROL_CHANNEL) {
    try {
      await openFabric({ openFabric: controller.openFabric })
    } catch (error) {
      server.close()
      await closeChannels()
      throw error
    }
  }
  await edge?.join({ host, port })
  // Out of file descriptors is a reason to report, not to end the process.
  server.on('error', onError)

  const replaceCertificate = (certificate: ServerCertificate) => {
    server.setSecureContext(tlsOptions(certificate))
    control.replaceCertificate(certificate)
    edge?.replaceCertificate(certificate)
  }
  const unlisten = controller.events?.on('pki.changed', () => replaceCertificate(controller.tls()))
  const lifetime = new Lifetime('the server is closed')
  const closed = new Promise((resolve) => server.once('close', resolve))
  const close: RunningServer['close'] = ({ graceMs = DEFAULT_GRACE_MS } = {}) =>
    lifetime.close(
      () => unlisten?.(),
      // It accepts nothing more. The method of HTTP would also cut connections on which the next request is on its way.
      () => void TlsServer.prototype.close.call(server),
      () => closeChannels(),
      () => connections.drain({ graceMs, arrivalMs: Math.min(graceMs, CLOSING_ARRIVAL_MS) }),
      () => connections.destroy(),
      () => void server.close(),
      () => closed,
    )
  return {
    url: urlOf(host, port),
    port,
    get controlAddress() {
      return control.address
    },
    get router() {
      return edge?.router
    },
    openFabric,
    close,
    [Symbol.asyncDispose]: () => close(),
    replaceCertificate: (certificate = controller.tls()) => replaceCertificate(certificate),
    addNamedCertificate: (certificate) => addNamed(server, certificate),
  }
}

/** Where SDKs connect, as the options ask for it. Throws for a router without the control channel that it belongs to. */
function edgePort(
  certificate: ServerCertificate,
  { router = false, fabric = false }: ServeOptions,
): EdgePort | undefined {
  if (router === false) return undefined
  const isRunning = router !== true && router.running !== undefined
  if (fabric === false && !isRunning)
    throw new TypeError('serve: router needs fabric, by which controllers lay circuits')
  return new EdgePort(certificate, router === true ? {} : router)
}

function addNamed(server: Server, certificate: ServerCertificate): void {
  const names = serverCertificateFacts(certificate.cert).names.filter((name) => isIP(name) === 0)
  if (names.length === 0) throw new Error('a named certificate needs a DNS name, by which clients ask for it')
  for (const name of names) server.addContext(name, tlsOptions(certificate))
}

/** The options that other functions take too. */
function picked(options: ListenerOptions, names: readonly string[]): ListenerOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name)))
}

function connectionLimits(options: ServeOptions): CapacityOptions {
  const total = positive('maxConnections', options.maxConnections ?? DEFAULT_MAX_CONNECTIONS)
  const usual = Math.max(Math.floor(total / 2), 1)
  return { total, perNetwork: positive('maxConnectionsPerAddress', options.maxConnectionsPerAddress ?? usual) }
}
