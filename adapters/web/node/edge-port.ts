import { createServer, type TLSSocket } from 'node:tls'
import type { ControllerFetch, ControlPlane } from '../../../src/index.ts'
import { type Address, formatAddress, isWildcardHost, listen } from '../../network/channel/index.ts'
import type { OwnRouterOptions, RunningRouter } from '../../network/router/index.ts'
import { peerCertificates } from './connection-info.ts'
import { type LocalRouter, localRouter } from './local-router.ts'
import { ROUTER_HANDSHAKE_MS, ROUTER_KEEP_ALIVE_MS, type ServerCertificate, tlsOptions } from './tls-sockets.ts'
import { trackConnections } from './tracked-connections.ts'

/** The edge router of the process: its name, and the address for SDKs and tunnelers. */
export interface EdgeRouterOptions extends OwnRouterOptions {
  /** A port for SDKs alone; unless given, SDKs share the port of the APIs. Port 0 lets the system choose. */
  readonly listen?: Address
  /** The address that SDKs dial, when it differs from the listening address. */
  readonly advertise?: Address
  /** A router that runs in this process already: endpoints reach it by this server as well, and it outlives the server. */
  readonly running?: RunningRouter
}

/** The ALPN protocol of links between routers. */
const LINK_PROTOCOL = 'ziti-link'
/** The ALPN protocols of the router: that of SDKs, which not all of them name, and that of links. */
export const ROUTER_PROTOCOLS = ['ziti-edge', LINK_PROTOCOL] as const
/** Every message of a channel begins with these. */
export const EDGE_FIRST_BYTES = Uint8Array.of(3, 6, 9, 12)
/** Beyond it a handshake on a port of SDKs ends that takes long, of the network that has most. */
const MOST_CONNECTIONS = 20_000

/** Where the sockets of SDKs come in, before the router is there and after. */
export class EdgePort {
  readonly #options: EdgeRouterOptions
  readonly #own: ReturnType<typeof createServer> | undefined
  readonly #connections: ReturnType<typeof trackConnections> | undefined
  #port: number | undefined
  #router: LocalRouter | undefined
  /** The router whose sockets come in here. */
  #taking: RunningRouter | undefined

  constructor(certificate: ServerCertificate, options: EdgeRouterOptions) {
    this.#options = options
    this.#own = options.listen && createServer(this.#tls(certificate), (socket) => this.accept(socket))
    this.#connections = this.#own && trackConnections(this.#own, { total: MOST_CONNECTIONS })
  }

  /** Whether SDKs come by the port of the APIs. */
  get isShared(): boolean {
    return this.#own === undefined
  }

  get router(): LocalRouter | undefined {
    return this.#router
  }

  /** Binds the separate port, if there is one. */
  async bind(): Promise<void> {
    const { listen: own } = this.#options
    if (own !== undefined && this.#own !== undefined) this.#port = await listen(this.#own, own.host, own.port)
  }

  /** Runs the router, once the APIs are bound to an address. */
  async open(plane: ControlPlane, fetch: ControllerFetch, apis: Address): Promise<void> {
    const { name, roleAttributes, running } = this.#options
    if (running !== undefined) return
    const options = { ...(name !== undefined && { name }), ...(roleAttributes && { roleAttributes }) }
    const advertise = this.#reachedAt(apis)
    // Not from the entry of routers: in the bundle that entry shares a file with the command line, which loads every storage.
    const { openOwnRouter } = await import('../../network/router/own-router.ts')
    const router = await openOwnRouter(options, { plane, advertise, takesLinks: true })
    this.#taking = router
    this.#router = await localRouter(router, { plane, fetch, origin: `https://${formatAddress(apis)}` })
  }

  /** Takes endpoints of the router that runs already, if there is one, once the APIs are bound to an address. */
  async join(apis: Address): Promise<void> {
    const { running } = this.#options
    if (running === undefined) return
    await running.moveTo(this.#reachedAt(apis))
    this.#taking = running
  }

  #reachedAt(apis: Address): string {
    const { listen: own, advertise } = this.#options
    const reached = advertise ?? { host: (own ?? apis).host, port: this.#port ?? apis.port }
    if (isWildcardHost(reached.host)) {
      throw new Error(`router.advertise: ${formatAddress(reached)} stands for every interface, SDKs need one address`)
    }
    return formatAddress(reached)
  }

  /** Takes a socket of an SDK or another router. A socket that comes before the router is ready is closed; its peer connects again. */
  accept(socket: TLSSocket): void {
    this.#connections?.keep(socket)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, ROUTER_KEEP_ALIVE_MS)
    socket.setTimeout(0)
    const stranger = { chain: peerCertificates(socket) ?? [], remoteAddress: socket.remoteAddress }
    if (this.#taking === undefined) socket.destroy()
    else if (socket.alpnProtocol === LINK_PROTOCOL) this.#taking.acceptLink(socket, stranger.chain)
    else this.#taking.accept(socket, stranger)
  }

  replaceCertificate(certificate: ServerCertificate): void {
    this.#own?.setSecureContext(this.#tls(certificate))
  }

  async close(): Promise<void> {
    this.#own?.close()
    this.#router?.close()
    this.#connections?.destroy()
  }

  #tls(certificate: ServerCertificate) {
    return { ...tlsOptions(certificate, [...ROUTER_PROTOCOLS]), handshakeTimeout: ROUTER_HANDSHAKE_MS }
  }
}
