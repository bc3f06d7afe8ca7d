import type { Server } from 'node:https'
import { createServer, type TLSSocket } from 'node:tls'
import type { ControlListener, FabricController } from '../fabric/index.ts'
import { type Address, formatAddress, isWildcardHost } from './sockets/address.ts'
import { type Connections, trackConnections } from './sockets/connections.ts'
import { listen } from './sockets/listen.ts'
import { peerCertificates } from './tls/peer-certificates.ts'
import { type ServerCertificate, tlsOptions } from './tls/tls-options.ts'

/** What of a controller serves routers. */
export type FabricSource = FabricController

/** Where routers connect. */
export interface ControlChannelOptions {
  /** A port for routers alone; they share that of the APIs unless it is given. Port 0 lets the system choose. */
  readonly listen?: Address
  /** The address that routers dial, when it is another one than what is listened on. */
  readonly advertise?: Address
  /**
   * Where routers dial the other processes over the same storage, one address for each. Routers learn of them when they enroll
   * and when they connect, and hold a channel to every one.
   */
  readonly others?: readonly Address[]
}

interface ControlChannel {
  /** The ALPN protocols of the port of the APIs. */
  readonly protocols: readonly string[]
  readonly address: string | undefined
  /** Takes the sockets of routers from the server of the APIs, and tells of each. */
  share(server: Server, onTaken: (socket: TLSSocket) => void): void
  /** Binds the port of its own, if there is one. */
  bind(): Promise<void>
  /** Says where routers connect, once the APIs are bound to an address. */
  advertise(apis: Address): void
  /** Begins to serve routers; until then their sockets wait. */
  open(source: FabricSource): Promise<void>
  replaceCertificate(certificate: ServerCertificate): void
  close(): Promise<void>
}

const PROTOCOL = 'ziti-ctrl'
const HTTP = 'http/1.1'
const HANDSHAKE_MS = 5000
const KEEP_ALIVE_MS = 15_000
/** Beyond it a handshake on a port of routers ends that takes long, of the network that has most. */
const MOST_CONNECTIONS = 20_000
/** Serves no routers. */
export const NO_CONTROL_CHANNEL: ControlChannel = {
  protocols: [HTTP],
  address: undefined,
  share: () => undefined,
  bind: async () => undefined,
  advertise: () => undefined,
  open: async () => undefined,
  replaceCertificate: () => undefined,
  close: async () => undefined,
}

/** The control channel as the options of `serve` ask for it; one that does nothing where they do not. */
export function controlChannel(
  certificate: ServerCertificate,
  fabric: boolean | ControlChannelOptions,
): ControlChannel {
  return fabric === false ? NO_CONTROL_CHANNEL : new OpenControlChannel(certificate, fabric === true ? {} : fabric)
}

class OpenControlChannel implements ControlChannel {
  readonly #options: ControlChannelOptions
  readonly #own: ReturnType<typeof createServer> | undefined
  /** Those of its own port. */
  readonly #connections: Connections | undefined
  /** Settles when routers are served. */
  readonly #listener = deferred<ControlListener>()
  #address: string | undefined
  #port: number | undefined

  constructor(certificate: ServerCertificate, options: ControlChannelOptions) {
    this.#options = options
    this.#own = options.listen && createServer(this.#tls(certificate), (socket) => this.#accept(socket))
    this.#connections = this.#own && trackConnections(this.#own, { total: MOST_CONNECTIONS })
  }

  get protocols(): readonly string[] {
    return this.#own === undefined ? [PROTOCOL, HTTP] : [HTTP]
  }

  get address(): string | undefined {
    return this.#address
  }

  share(server: Server, onTaken: (socket: TLSSocket) => void): void {
    if (this.#own !== undefined) return
    const ofApis = server.listeners('secureConnection')
    server.removeAllListeners('secureConnection')
    server.on('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol === PROTOCOL) {
        onTaken(socket)
        this.#accept(socket)
      } else for (const listener of ofApis) listener.call(server, socket)
    })
  }

  async bind(): Promise<void> {
    const { listen: own } = this.#options
    if (own !== undefined && this.#own !== undefined) this.#port = await listen(this.#own, own.host, own.port)
  }

  advertise(apis: Address): void {
    const { listen: own, advertise } = this.#options
    const reached = advertise ?? { host: (own ?? apis).host, port: this.#port ?? apis.port }
    if (isWildcardHost(reached.host)) {
      throw new Error(
        `fabric.advertise: ${formatAddress(reached)} stands for every interface, routers need one address`,
      )
    }
    this.#address = controlAddress(reached)
  }

  async open(source: FabricSource): Promise<void> {
    const { openControlListener } = await import('../fabric/index.ts')
    const others = this.#options.others?.map(controlAddress)
    this.#listener.resolve(await openControlListener(source, { addresses: [this.#address ?? ''], others }))
  }

  replaceCertificate(certificate: ServerCertificate): void {
    this.#own?.setSecureContext(this.#tls(certificate))
  }

  async close(): Promise<void> {
    this.#own?.close()
    this.#listener.reject(new Error('closed before routers were served'))
    await this.#listener.promise.then(
      (listener) => listener.close(),
      () => undefined,
    )
    this.#connections?.destroy()
  }

  #tls(certificate: ServerCertificate) {
    return { ...tlsOptions(certificate, [PROTOCOL]), handshakeTimeout: HANDSHAKE_MS }
  }

  #accept(socket: TLSSocket): void {
    this.#connections?.keep(socket)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    socket.setTimeout(0)
    const { remoteAddress } = socket
    const chain = peerCertificates(socket) ?? []
    this.#listener.promise.then(
      (listener) => listener.accept(socket, chain, remoteAddress),
      () => socket.destroy(),
    )
  }
}

function controlAddress(address: Address): string {
  return `tls:${formatAddress(address)}`
}

/** A promise that somebody else settles. */
function deferred<T>() {
  let resolve: (value: T) => void = () => undefined
  let reject: (reason: Error) => void = () => undefined
  const promise = new Promise<T>((settle, fail) => {
    resolve = settle
    reject = fail
  })
  // Nobody may wait for it.
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}
