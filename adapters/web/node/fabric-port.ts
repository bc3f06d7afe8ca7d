import { connect, createServer, type TLSSocket } from 'node:tls'
import type { ControlPlane } from '../../../src/index.ts'
import { type Address, formatAddress, isWildcardHost, listen } from '../../network/channel/index.ts'
import type { ControlListener, FabricController, ProcessSocket } from '../../network/fabric/index.ts'
import { peerCertificates } from './connection-info.ts'
import { ROUTER_HANDSHAKE_MS, ROUTER_KEEP_ALIVE_MS, type ServerCertificate, tlsOptions } from './tls-sockets.ts'
import { type Connections, trackConnections } from './tracked-connections.ts'

/** The part of a controller that serves routers. */
export type FabricSource = FabricController

/** Where routers connect. */
export interface ControlChannelOptions {
  /** A port for routers alone; unless given, routers share the port of the APIs. Port 0 lets the system choose. */
  readonly listen?: Address
  /** The address that routers dial, when it differs from the listening address. */
  readonly advertise?: Address
  /**
   * Where routers dial the other processes over the same storage, one address for each. Routers learn of them when they enroll
   * and when they connect, and hold a channel to every one.
   */
  readonly others?: readonly Address[]
}

export interface ControlChannel {
  /** The ALPN protocols that it adds to the port of the APIs. */
  readonly protocols: readonly string[]
  readonly address: string | undefined
  /** Takes a socket of the port of the APIs whose protocol is that of routers, or of other processes. */
  accept(socket: TLSSocket): void
  /** Binds the separate port, if there is one. */
  bind(): Promise<void>
  /** Says where routers connect, once the APIs are bound to an address. */
  advertise(apis: Address): void
  /** Begins to serve routers; until then their sockets wait. */
  open(source: FabricSource): Promise<ControlPlane | undefined>
  replaceCertificate(certificate: ServerCertificate): void
  close(): Promise<void>
}

/** The ALPN protocol of routers that connect to their controller. */
export const CONTROL_PROTOCOL = 'ziti-ctrl'
/** The ALPN protocol of other processes over the same storage. */
export const PROCESS_PROTOCOL = 'portcullis-process'
const PROTOCOLS = [CONTROL_PROTOCOL, PROCESS_PROTOCOL]
/** Beyond it a handshake on a port of routers ends that takes long, of the network that has most. */
const MOST_CONNECTIONS = 20_000
/** Serves no routers. */
export const NO_CONTROL_CHANNEL: ControlChannel = {
  protocols: [],
  address: undefined,
  accept: (socket) => void socket.destroy(),
  bind: async () => undefined,
  advertise: () => undefined,
  open: async () => undefined,
  replaceCertificate: () => undefined,
  close: async () => undefined,
}

/** The control channel that the options of `serve` ask for; without such options, a channel that does nothing. */
export function controlChannel(
  certificate: ServerCertificate,
  fabric: boolean | ControlChannelOptions,
): ControlChannel {
  return fabric === false ? NO_CONTROL_CHANNEL : new OpenControlChannel(certificate, fabric === true ? {} : fabric)
}

class OpenControlChannel implements ControlChannel {
  readonly #options: ControlChannelOptions
  readonly #own: ReturnType<typeof createServer> | undefined
  /** Connections of its own port. */
  readonly #connections: Connections | undefined
  /** Settles when routers are served. */
  readonly #listener = deferred<ControlListener>()
  #address: string | undefined
  #port: number | undefined

  constructor(certificate: ServerCertificate, options: ControlChannelOptions) {
    this.#options = options
    this.#own = options.listen && createServer(this.#tls(certificate), (socket) => this.accept(socket))
    this.#connections = this.#own && trackConnections(this.#own, { total: MOST_CONNECTIONS })
  }

  get protocols(): readonly string[] {
    return this.#own === undefined ? PROTOCOLS : []
  }

  get address(): string | undefined {
    return this.#address
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

  async open(source: FabricSource): Promise<ControlPlane> {
    const { openControlListener } = await import('../../network/fabric/index.ts')
    const others = this.#options.others?.map(controlAddress)
    const addresses = [this.#address ?? '']
    const listener = await openControlListener(source, { addresses, others, dialProcess: openProcessSocket })
    this.#listener.resolve(listener)
    return listener.plane
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
    return { ...tlsOptions(certificate, PROTOCOLS), handshakeTimeout: ROUTER_HANDSHAKE_MS }
  }

  accept(socket: TLSSocket): void {
    this.#connections?.keep(socket)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, ROUTER_KEEP_ALIVE_MS)
    socket.setTimeout(0)
    const { remoteAddress, alpnProtocol } = socket
    const take = (listener: ControlListener) => {
      if (alpnProtocol === PROCESS_PROTOCOL)
        listener.acceptProcess({ stream: socket, binding: bindingOf(socket) }, remoteAddress)
      else listener.accept(socket, peerCertificates(socket) ?? [], remoteAddress)
    }
    this.#listener.promise.then(take).catch(() => socket.destroy())
  }
}

const BINDING_BYTES = 32

/** The value that both ends of a TLS connection share as a secret. */
function bindingOf(socket: TLSSocket): Uint8Array {
  return socket.exportKeyingMaterial(BINDING_BYTES, 'EXPORTER-portcullis-process', Buffer.alloc(0))
}

/**
 * Connects to another process. Its certificate is not judged: each side proves by the binding of the connection that it is a process
 * over the same storage.
 */
function openProcessSocket(address: string): Promise<ProcessSocket> {
  const { host, port } = addressOf(address)
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, ALPNProtocols: [PROCESS_PROTOCOL], rejectUnauthorized: false })
    socket.setTimeout(ROUTER_HANDSHAKE_MS, () => socket.destroy(new Error('no answer in time')))
    socket.on('error', reject)
    socket.once('secureConnect', () => {
      socket.setTimeout(0)
      socket.setNoDelay(true)
      socket.setKeepAlive(true, ROUTER_KEEP_ALIVE_MS)
      try {
        if (socket.alpnProtocol !== PROCESS_PROTOCOL) {
          throw new Error('the address does not speak the protocol of processes')
        }
        // Not every runtime has it.
        resolve({ stream: socket, binding: bindingOf(socket) })
      } catch (error) {
        socket.destroy()
        reject(error)
      }
    })
  })
}

function addressOf(address: string): Address {
  const [, host = '', port = ''] = /^tls:(.*):(\d+)$/.exec(address) ?? []
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

function controlAddress(address: Address): string {
  return `tls:${formatAddress(address)}`
}

/** A promise that another function settles. */
function deferred<T>() {
  let resolve: (value: T) => void = () => undefined
  let reject: (reason: Error) => void = () => undefined
  const promise = new Promise<T>((settle, fail) => {
    resolve = settle
    reject = fail
  })
  // A rejection may have no handler.
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}
