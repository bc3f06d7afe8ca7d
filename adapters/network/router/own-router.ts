import { X509Certificate } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { HOUR_MS } from '../../../src/base/time.ts'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import {
  type FromRouter,
  type LinkListener,
  type OwnRouter,
  type RouterSession,
  softwareOf,
  softwareText,
  TOLD_TO_CONTROLLERS,
  type ToRouter,
} from '../../../src/control-channel.ts'
import { ROUTER_VERSION } from '../../../src/data-plane.ts'
import type { ControlPlane } from '../../../src/index.ts'
import type { Channel } from '../channel/channel.ts'
import { processTimer, type Timer } from '../channel/conversation.ts'
import { createRouterRequests } from '../enrollment/created-requests.ts'
import type { EdgeStranger } from './edge/edge-listener.ts'
import { EdgeRouter } from './edge-router.ts'
import { FabricRouter } from './fabric-router.ts'
import type { ControllerListener } from './state/controllers.ts'
import type { DialedStream, OpensStream, RouterCredentials } from './state/opened-socket.ts'

/** Which router runs in the process of its controller. */
export interface OwnRouterOptions {
  /** Its name; `portcullis` unless given. Processes over one store need one name each. */
  readonly name?: string
  /** The role attributes of a new router; none unless given. An existing router keeps its own. */
  readonly roleAttributes?: readonly string[]
}

/** How the router reaches its controller, and is reached. */
export interface OwnRouterPorts {
  readonly plane: ControlPlane
  /** Where endpoints reach it, `host:port`. */
  readonly advertise: string
  /** Other routers reach it there as well, by {@link RunningRouter.acceptLink}. */
  readonly takesLinks?: boolean
  /** Opens the sockets of links to other routers. Default: TLS. */
  readonly openStream?: OpensStream
  readonly timer?: Timer
  /** Epoch ms. */
  readonly now?: () => number
  /** Milliseconds of a clock that only goes forward. */
  readonly monotonic?: () => number
}

/** The edge router of a controller's own process. */
export interface RunningRouter {
  readonly id: string
  readonly name: string
  /** Takes a TLS socket on which an endpoint is expected. */
  accept(socket: Duplex, stranger: EdgeStranger): void
  /** Takes a socket after the TLS handshake on which another router is expected, with the certificates that it showed (DER, leaf first). */
  acceptLink(socket: DialedStream, chain: readonly Uint8Array[]): void
  /** Takes a channel of an endpoint in this process, whose first message is its hello. */
  greet(channel: Channel, stranger: EdgeStranger): void
  /** Endpoints reach it at another `host:port` from now on, and its controller tells them so. */
  moveTo(advertise: string): Promise<void>
  close(): void
}

const DEFAULT_NAME = 'portcullis'
const VERSION = softwareText(ROUTER_VERSION)
/** Milliseconds until the router tries again to connect: it was disabled, or has a new certificate. */
const AGAIN_MS = 1000
/** Milliseconds between looks whether the certificates are to be renewed, and until a renewal that failed is tried again. */
const RENEWAL_LOOK_MS = HOUR_MS
const RENEWED_AGAIN_MS = 60_000

/**
 * Runs the edge router of a controller's own process. Its record, key and certificates are made where there are none; it is
 * connected when this resolves, and connects again whenever it was let go of.
 */
export async function openOwnRouter(options: OwnRouterOptions, ports: OwnRouterPorts): Promise<RunningRouter> {
  const router = new OwnRouterConnection(options, ports)
  await router.open()
  return router
}

class OwnRouterConnection implements RunningRouter {
  readonly #options: OwnRouterOptions
  readonly #ports: OwnRouterPorts
  readonly #timer: Timer
  #advertise: string
  #own: OwnRouter | undefined
  #router: FabricRouter | undefined
  #edge: EdgeRouter | undefined
  #session: RouterSession | undefined
  #cancel: () => void = () => undefined
  #unlisten: () => void = () => undefined
  #isClosed = false
  /** The failure that the log was told last: the same one again and again is told once. */
  #told: string | undefined

  constructor(options: OwnRouterOptions, ports: OwnRouterPorts) {
    this.#options = options
    this.#ports = ports
    this.#advertise = ports.advertise
    this.#timer = ports.timer ?? processTimer
  }

  get id(): string {
    return this.#own?.id ?? ''
  }

  get name(): string {
    return this.#own?.name ?? ''
  }

  async open(): Promise<void> {
    this.#own = await this.#provide()
    const { id } = this.#own
    const bundle = () => this.#own?.caPem ?? ''
    const { now, openStream } = this.#ports
    const advertise = this.#advertise
    const clock = { now: this.#ports.monotonic ?? runtime.monotonic, timer: this.#timer }
    const facts = {
      id,
      get caPem() {
        return bundle()
      },
      advertise,
      version: VERSION,
      monotonic: clock.now,
      timer: this.#timer,
      log: (event: string, fields: Readonly<Record<string, string>>) => this.#ports.plane.log(event, fields),
      ...(now && { now }),
    }
    this.#router = new FabricRouter({
      routerId: id,
      credentials: () => credentialsOf(this.#own),
      listeners: this.#linkListeners,
      clock,
      ...(now && { epoch: now }),
      random: runtime.fraction,
      ...(openStream && { openStream }),
      host: (router) => {
        this.#edge = new EdgeRouter(facts, router)
        return this.#edge
      },
    })
    this.#unlisten = this.#ports.plane.onKeysChanged(() => this.#renew())
    await this.#connect()
  }

  accept(socket: Duplex, stranger: EdgeStranger): void {
    if (this.#edge === undefined) socket.destroy()
    else this.#edge.accept(socket, stranger)
  }

  acceptLink(socket: DialedStream, chain: readonly Uint8Array[]): void {
    if (this.#router === undefined) socket.destroy()
    else void this.#router.links.accept({ stream: socket, chain, ...endsOf(socket) })
  }

  greet(channel: Channel, stranger: EdgeStranger): void {
    if (this.#edge === undefined) channel.destroy()
    else this.#edge.greet(channel, stranger)
  }

  async moveTo(advertise: string): Promise<void> {
    this.#advertise = advertise
    const hello = this.#edge?.moveTo(advertise)
    if (hello !== undefined) await this.#session?.receive(hello)
  }

  close(): void {
    this.#isClosed = true
    this.#cancel()
    this.#unlisten()
    this.#edge?.close()
    this.#router?.close()
    this.#session?.closed()
  }

  get #linkListeners(): readonly LinkListener[] {
    const { takesLinks = false } = this.#ports
    const listener = { address: `tls:${this.#advertise}`, protocol: 'tls', groups: ['default'], localBinding: '' }
    return takesLinks ? [listener] : []
  }

  #provide(): Promise<OwnRouter> {
    const { name = DEFAULT_NAME, roleAttributes = [] } = this.#options
    const hosts = [this.#advertise.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')]
    const newKey = (routerId: string) => createRouterRequests(routerId, hosts)
    return this.#ports.plane.ownRouter({ name, roleAttributes, newKey })
  }

  async #connect(): Promise<void> {
    if (this.#isClosed || this.#router === undefined) return
    const { plane } = this.#ports
    const own = await this.#provide()
    this.#own = own
    const admission = await plane.verify(own.id, chainOf(own.certPem), undefined)
    if (!admission.admitted) return this.#again()
    let listener: ControllerListener | undefined
    /** Messages that the controller sends before it is known as connected. */
    const early: ToRouter[] = []
    let isOver = false
    const over = () => {
      if (isOver) return
      isOver = true
      listener?.lost()
      session.closed()
      this.#session = undefined
      this.#again()
    }
    const take = (message: ToRouter) => {
      if (listener === undefined) early.push(message)
      else void this.#answer(session, listener.take(message))
    }
    const channel = { send: take, close: () => queueMicrotask(over) }
    const facts = {
      software: softwareOf(VERSION),
      capabilities: [...TOLD_TO_CONTROLLERS],
      isResumed: false,
    }
    const greeting = { routerId: own.id, ...facts, linkListeners: this.#linkListeners }
    const connected = await plane.connect(
      greeting,
      { fingerprint: admission.fingerprint, remoteAddress: undefined },
      channel,
    )
    if (typeof connected === 'string') return this.#again()
    const session = connected
    this.#session = session
    if (this.#isClosed) return session.closed()
    const ask = (message: FromRouter) => session.receive(message)
    listener = this.#router.connected({ id: plane.controllerId, judgesPosture: true, takesPosture: true, ask })
    for (const message of early.splice(0)) take(message)
    this.#told = undefined
    this.#renewWhenDue()
  }

  #renewWhenDue(afterMs = RENEWAL_LOOK_MS, isOwed = false): void {
    this.#cancel()
    this.#cancel = this.#timer(afterMs, () => {
      this.#renewWhenDue()
      if (isOwed || (this.#ports.now ?? runtime.now)() >= (this.#own?.renewAt ?? 0)) this.#renew()
    })
  }

  /** New certificates apply to new connections; open connections stay. A failed renewal is tried again, at the latest when it connects. */
  #renew(): void {
    this.#provide().then(
      (own) => {
        this.#own = own
        this.#told = undefined
      },
      (error: unknown) => {
        this.#tell('certificates.unrenewed', error)
        if (this.#session !== undefined) this.#renewWhenDue(RENEWED_AGAIN_MS, true)
      },
    )
  }

  #tell(event: string, error: unknown): void {
    const text = String(error)
    if (this.#told !== text) this.#ports.plane.log(event, { routerId: this.id, error: text })
    this.#told = text
  }

  async #answer(session: RouterSession, answer: Promise<FromRouter | undefined>): Promise<void> {
    const message = await answer
    if (message !== undefined) await session.receive(message)
  }

  #again(): void {
    if (this.#isClosed) return
    this.#cancel()
    this.#cancel = this.#timer(AGAIN_MS, () => {
      this.#connect().catch((error: unknown) => {
        this.#tell('controller.unreached', error)
        this.#again()
      })
    })
  }
}

function credentialsOf(own: OwnRouter | undefined): RouterCredentials {
  const { keyPem: key = '', certPem: clientCert = '', serverCertPem: serverCert = '', caPem: ca = '' } = own ?? {}
  return { key, clientCert, serverCert, ca }
}

function chainOf(pem: string): readonly Uint8Array[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new Uint8Array(new X509Certificate(block).raw))
}

/** The two ends of a connection, as they are reported. */
function endsOf({ localAddress, localPort, remoteAddress, remotePort }: DialedStream) {
  return {
    localAddress: `tcp:${localAddress}:${localPort}`,
    remoteAddress: `tcp:${remoteAddress}:${remotePort}`,
    remoteHost: remoteAddress ?? '',
  }
}
