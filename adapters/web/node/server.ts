import { createServer, type Server } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { checkArgument, checkOptions } from '../../../src/base/arguments.ts'
import type { CapacityOptions } from '../../../src/concurrency/fair-capacity.ts'
import { Lifetime } from '../../../src/concurrency/lifetime.ts'
import { listen, urlOf } from '../../network/channel/index.ts'
import { connectionInfo } from './connection-info.ts'
import { createListener, LISTENER_OPTIONS, type ListenerOptions } from './listener.ts'
import { asksForOperatorChannel, serveOperators } from './operator-port.ts'
import { RouterPorts } from './router-ports.ts'
import {
  type RoutedServeOptions,
  type RoutedServer,
  type RunningServer,
  SERVE_RULES,
  type ServableController,
  type ServeOptions,
} from './server-options.ts'
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
/** How long a request may take to arrive, its headers and the whole, and how long a connection may wait for the next request, in ms. */
const DEFAULT_HEADERS_MS = 10_000
const DEFAULT_REQUEST_MS = 30_000
const DEFAULT_KEEP_ALIVE_MS = 5000
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
    ...{ functions: ['fetch', 'tls'], isNeeded: true, hint: 'a controller' },
  })
  checkOptions('serve', options, SERVE_RULES)
  const host = options.host ?? '127.0.0.1'
  const onError =
    options.onError ?? ((error: unknown) => process.emitWarning(error instanceof Error ? error : String(error)))
  const headersMs = options.headersTimeoutMs ?? DEFAULT_HEADERS_MS
  const routers = new RouterPorts(controller, options)
  const server = httpsServer(controller, options, { protocols: [...routers.protocols, HTTP], headersMs })
  const connections = trackConnections(server, connectionLimits(options))
  const onTaken = (socket: Socket) => connections.keep(socket)
  if (options.fabric) {
    const infoOf = options.connectionInfo ?? connectionInfo
    serveOperators(server, { fetch: controller.fetch, infoOf, onError, onTaken })
  }
  routers.shareWith(server, onTaken, headersMs)
  await routers.bind()
  const port = await listen(server, host, options.port).catch(async (error: unknown) => {
    await routers.close()
    throw error
  })
  try {
    await routers.openAtStart({ host, port })
  } catch (error) {
    server.close()
    await routers.close()
    throw error
  }
  await routers.join({ host, port })
  // Out of file descriptors is a reason to report, not to end the process.
  server.on('error', onError)
  const replaceCertificate = (certificate: ServerCertificate) => {
    server.setSecureContext(tlsOptions(certificate))
    routers.replaceCertificate(certificate)
  }
  const unlisten = controller.events?.on('pki.changed', () => replaceCertificate(controller.tls()))
  const lifetime = new Lifetime('the server is closed')
  const closed = new Promise((resolve) => server.once('close', resolve))
  const close: RunningServer['close'] = ({ graceMs = DEFAULT_GRACE_MS } = {}) =>
    lifetime.close(
      () => unlisten?.(),
      // It accepts nothing more. The method of HTTP would also cut connections on which the next request is on its way.
      () => void TlsServer.prototype.close.call(server),
      () => routers.close(),
      () => connections.drain({ graceMs, arrivalMs: Math.min(graceMs, CLOSING_ARRIVAL_MS) }),
      () => connections.destroy(),
      () => void server.close(),
      () => closed,
    )
  return {
    url: urlOf(host, port),
    port,
    get controlAddress() {
      return routers.controlAddress
    },
    get router() {
      return routers.router
    },
    openFabric: (source) => routers.open(source, { host, port }),
    close,
    [Symbol.asyncDispose]: () => close(),
    replaceCertificate: (certificate = controller.tls()) => replaceCertificate(certificate),
    addNamedCertificate: (certificate) => addNamed(server, certificate),
  }
}

/** The server of the APIs with its time limits; it does not listen yet. */
function httpsServer(
  controller: ServableController,
  options: ServeOptions,
  { protocols, headersMs }: { readonly protocols: readonly string[]; readonly headersMs: number },
): Server {
  const server = createServer({
    ...tlsOptions(controller.tls(), protocols),
    headersTimeout: headersMs,
    handshakeTimeout: headersMs,
    requestTimeout: Math.max(options.requestTimeoutMs ?? DEFAULT_REQUEST_MS, headersMs),
    keepAliveTimeout: options.keepAliveTimeoutMs ?? DEFAULT_KEEP_ALIVE_MS,
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
  return server.on('request', options.app ?? ownListener())
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
