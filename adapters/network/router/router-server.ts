import { constants } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { listen } from '../channel/listen.ts'
import { LINK_PROTOCOL } from './links/link-hello.ts'
import type { AcceptedSocket } from './links/links.ts'
import { type RouterCredentials, SETUP_MS } from './state/opened-socket.ts'

/** The takers of the sockets of a router. */
export interface RouterSockets {
  readonly credentials: () => RouterCredentials
  /** Takes sockets of other routers; a port without refuses them. */
  readonly acceptLink?: (socket: AcceptedSocket) => void
  /** Takes sockets of endpoints, whose certificates it judges itself; a port without refuses them. */
  readonly acceptEndpoint?: (socket: TLSSocket, accepted: AcceptedSocket) => void
}

/** The takers of the sockets of a router's port. */
export interface RouterServerOptions extends RouterSockets {
  readonly host: string
  readonly port: number
}

/** TLS for connections that another process accepted. */
export interface RouterTls {
  /** Takes a TCP connection on which a TLS client is expected. */
  take(socket: Socket): void
  /** Shows the present certificates to new peers. */
  renew(): void
}

/** A TLS port of a router: links and endpoints differ by their protocols (ALPN). */
export interface RouterServer {
  readonly port: number
  /** Shows the present certificates to new peers. */
  renew(): void
  /** Accepts nothing more; connections go on. */
  stop(): void
  close(): Promise<void>
}

const EDGE_PROTOCOL = 'ziti-edge'
/** Connections at a time: each holds some 30 kB. */
const MOST_CONNECTIONS = 20_000

/** Listens for other routers and endpoints. Rejects where the port is taken. */
export async function listenForRouter(options: RouterServerOptions): Promise<RouterServer> {
  const { server, sockets } = openTls(options)
  const bound = await listen(server, options.host, options.port)
  return {
    port: bound,
    renew: () => server.setSecureContext(tlsOptions(options.credentials())),
    stop: () => void server.close(),
    close: async () => {
      const closed = server.listening || sockets.size > 0 ? once(server, 'close') : Promise.resolve()
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** The same for connections that another process accepts. */
export function takeForRouter(options: RouterSockets): RouterTls {
  const { server } = openTls(options)
  return {
    take: (socket) => void server.emit('connection', socket),
    renew: () => server.setSecureContext(tlsOptions(options.credentials())),
  }
}

/** A TLS server that listens nowhere yet, and its open sockets. */
function openTls({ credentials, acceptLink, acceptEndpoint }: RouterSockets) {
  const protocols = [...(acceptLink ? [LINK_PROTOCOL] : []), ...(acceptEndpoint ? [EDGE_PROTOCOL] : [])]
  const server: Server = createServer({
    ...tlsOptions(credentials()),
    // Endpoints show certificates of their own making too; the taker of a socket judges them.
    requestCert: true,
    rejectUnauthorized: false,
    ALPNProtocols: protocols,
    handshakeTimeout: SETUP_MS,
    // A session that is resumed shows no certificates.
    secureOptions: constants.SSL_OP_NO_TICKET,
  })
  server.maxConnections = MOST_CONNECTIONS
  const sockets = new Set<TLSSocket>()
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  server.on('secureConnection', (stream) => {
    stream.on('error', () => undefined)
    sockets.add(stream)
    stream.once('close', () => sockets.delete(stream))
    stream.setNoDelay(true)
    stream.setKeepAlive(true, 15_000)
    const accepted = acceptedSocket(stream)
    if (stream.alpnProtocol !== LINK_PROTOCOL && acceptEndpoint !== undefined) acceptEndpoint(stream, accepted)
    else if (stream.alpnProtocol === LINK_PROTOCOL && acceptLink !== undefined && stream.authorized)
      acceptLink(accepted)
    else stream.destroy()
  })
  return { server, sockets }
}

function tlsOptions({ key, serverCert, ca }: RouterCredentials) {
  return { key, cert: serverCert, ca }
}

/** The certificates that a socket showed, leaf first, and where it is. */
function acceptedSocket(stream: TLSSocket): AcceptedSocket {
  const chain: Uint8Array[] = []
  const seen = new Set<object>()
  for (let shown = stream.getPeerCertificate(true); shown?.raw !== undefined && !seen.has(shown); ) {
    seen.add(shown)
    chain.push(new Uint8Array(shown.raw))
    shown = shown.issuerCertificate
  }
  return {
    stream,
    chain,
    localAddress: `tcp:${stream.localAddress}:${stream.localPort}`,
    remoteAddress: `tcp:${stream.remoteAddress}:${stream.remotePort}`,
    remoteHost: stream.remoteAddress ?? '',
  }
}
