import type { Server } from 'node:https'
import { createServer, type TLSSocket } from 'node:tls'
import type { ControlListener, FabricController } from '../fabric/index.ts'
import { type Address, formatAddress, isWildcardHost } from './address.ts'
import { listen } from './listen.ts'
import { peerCertificates } from './peer-certificates.ts'
import { type ServerCertificate, tlsOptions } from './tls-options.ts'

/** What of a controller serves routers. */
export type FabricSource = FabricController

/** Where routers connect. */
export interface ControlChannelOptions {
  /** A port for routers alone; they share that of the APIs unless it is given. Port 0 lets the system choose. */
  readonly listen?: Address
  /** The address that routers dial, when it is another one than what is listened on. */
  readonly advertise?: Address
}

interface ControlChannel {
  /** The ALPN protocols of the port of the APIs. */
  readonly protocols: readonly string[]
  readonly address: string | undefined
  /** Takes the sockets of routers from the server of the APIs, and tells of each. */
  share(server: Server, onTaken: (socket: TLSSocket) => void): void
  /** Binds the port of its own, if there is one. */
  bind(): Promise<void>
  /** Begins to serve routers, once the APIs are bound to an address. Failures are told to `onError`. */
  open(apis: Address, onError: (error: Error) => void): void
  replaceCertificate(certificate: ServerCertificate): void
  close(): Promise<void>
}

interface Source {
  tls(): ServerCertificate
  readonly openFabric?: FabricSource['openFabric']
}

const PROTOCOL = 'ziti-ctrl'
const HTTP = 'http/1.1'
const HANDSHAKE_MS = 5000
const KEEP_ALIVE_MS = 15_000
const NONE: ControlChannel = {
  protocols: [HTTP],
  address: undefined,
  share: () => undefined,
  bind: async () => undefined,
  open: () => undefined,
  replaceCertificate: () => undefined,
  close: async () => undefined,
}

/** The control channel as the options of `serve` ask for it; one that does nothing where they do not. */
export function controlChannel(
  controller: Source,
  { fabric = false }: { readonly fabric?: boolean | ControlChannelOptions },
): ControlChannel {
  if (fabric === false) return NONE
  const { openFabric } = controller
  if (openFabric === undefined) throw new Error('fabric: the controller has no openFabric')
  return new OpenControlChannel(controller, { openFabric }, fabric === true ? {} : fabric)
}

class OpenControlChannel implements ControlChannel {
  readonly #source: FabricSource
  readonly #options: ControlChannelOptions
  readonly #own: ReturnType<typeof createServer> | undefined
  #listener: Promise<ControlListener> | undefined
  #address: string | undefined
  #port: number | undefined

  constructor(controller: Source, source: FabricSource, options: ControlChannelOptions) {
    this.#source = source
    this.#options = options
    this.#own = options.listen && createServer(this.#tls(controller.tls()), (socket) => this.#accept(socket))
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

  open(apis: Address, onError: (error: Error) => void): void {
    const { listen: own, advertise } = this.#options
    const reached = advertise ?? { host: (own ?? apis).host, port: this.#port ?? apis.port }
    if (isWildcardHost(reached.host)) {
      throw new Error(
        `fabric.advertise: ${formatAddress(reached)} stands for every interface, routers need one address`,
      )
    }
    const address = `tls:${formatAddress(reached)}`
    this.#address = address
    this.#own?.on('error', onError)
    this.#listener = import('../fabric/index.ts').then(({ openControlListener }) => {
      return openControlListener(this.#source, { addresses: [address] })
    })
    this.#listener.catch(onError)
  }

  replaceCertificate(certificate: ServerCertificate): void {
    this.#own?.setSecureContext(this.#tls(certificate))
  }

  async close(): Promise<void> {
    this.#own?.close()
    await this.#listener?.then(
      (listener) => listener.close(),
      () => undefined,
    )
  }

  #tls(certificate: ServerCertificate) {
    return { ...tlsOptions(certificate, [PROTOCOL]), handshakeTimeout: HANDSHAKE_MS }
  }

  #accept(socket: TLSSocket): void {
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    socket.setTimeout(0)
    const { remoteAddress } = socket
    const chain = peerCertificates(socket) ?? []
    if (this.#listener === undefined) socket.destroy()
    this.#listener?.then(
      (listener) => listener.accept(socket, chain, remoteAddress),
      () => socket.destroy(),
    )
  }
}
