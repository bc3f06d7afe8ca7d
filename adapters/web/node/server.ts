import { createServer, type Server } from 'node:https'
import { isIP } from 'node:net'
import { type TLSSocket, Server as TlsServer } from 'node:tls'
import { checkArgument, checkOptions } from '../../../src/base/arguments.ts'
import type { CapacityOptions } from '../../../src/concurrency/fair-capacity.ts'
import { Lifetime } from '../../../src/concurrency/lifetime.ts'
import { listen, urlOf } from '../../network/channel/index.ts'
import { connectionInfo } from './connection-info.ts'
import { EDGE_FIRST_BYTES, EdgePort, ROUTER_PROTOCOLS } from './edge-port.ts'
import {
  CONTROL_PROTOCOL,
  controlChannel,
  type FabricSource,
  NO_CONTROL_CHANNEL,
  PROCESS_PROTOCOL,
} from './fabric-port.ts'
import { createListener, LISTENER_OPTIONS, type ListenerOptions } from './listener.ts'
import { asksForOperatorChannel, serveOperators } from './operator-port.ts'
import {
  type RoutedServeOptions,
  type RoutedServer,
  type RunningServer,
  SERVE_RULES,
  type ServableController,
  type ServeOptions,
} from './server-options.ts'
import { sharePort } from './shared-port.ts'
import { type ServerCertificate, serverCertificateFacts, tlsOptions } from './tls-sockets.ts'
import { positive, trackConnections } from './tracked-connections.ts'

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
  checkOptions('serve', options, SERVE_RULES)
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
