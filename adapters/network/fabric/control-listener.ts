import type { Duplex } from 'node:stream'
import { networkOf } from '../../../src/base/addresses.ts'
import { checkArgument, checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import { createFairCapacity } from '../../../src/concurrency/fair-capacity.ts'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import type { VerifiedSocket } from '../../../src/control-channel.ts'
import type { ControlPlane, ControlPlaneOptions } from '../../../src/index.ts'
import type { ChannelListener } from '../channel/channel.ts'
import { ChannelSocket, type SocketLimits } from '../channel/channel-socket.ts'
import { encodeFrame, type Frame, type FrameLimits } from '../channel/frame.ts'
import { acceptance, HELLO_LIMITS, type Hello, isSameSecret, newGroupSecret, readHello, rejection } from './hello.ts'
import { modelCodec } from './messages/model-codec.ts'
import { acceptProcess, processDialer } from './processes/process-channels.ts'
import type { ProcessSocket } from './processes/process-connection.ts'
import { type HeartbeatTimes, RouterGroup } from './router-group.ts'

/** The ALPN protocol of control channels. */
export const CONTROL_PROTOCOL = 'ziti-ctrl'

/** The part of a controller that control channels need. */
export interface FabricController {
  openFabric(options: ControlPlaneOptions): Promise<ControlPlane>
}

/** The addresses of the controller for routers, and the limits of a channel. */
export interface ControlListenerOptions {
  /** At least one address that routers dial, for example `tls:controller.example.org:6262`. */
  readonly addresses: readonly string[]
  /** The addresses at which routers dial the other processes over the same storage, one for each process. */
  readonly others?: readonly string[] | undefined
  /**
   * Opens TLS connections to the control addresses of other processes over the same storage, which share their routers then. Each address
   * is an address that such a process was opened with.
   */
  readonly dialProcess?: ((address: string) => Promise<ProcessSocket>) | undefined
  /** Milliseconds for the first frame of a socket; 5 s unless given. */
  readonly helloTimeoutMs?: number
  /** Heartbeats every 10 s, and 30 s of silence, unless given. */
  readonly heartbeat?: HeartbeatTimes
  /** Milliseconds for which a router may leave waiting messages unread; 15 s unless given. */
  readonly stallMs?: number
  /** Bytes that may wait for a router beside the message at hand; 64 MiB unless given. */
  readonly maxQueuedBytes?: number
}

const OPTIONS: OptionRules<ControlListenerOptions> = {
  addresses: { shape: 'array', isNeeded: true, hint: "a list such as ['tls:controller.example.org:6262']" },
  others: 'array',
  dialProcess: 'function',
  helloTimeoutMs: 'number',
  heartbeat: { members: ['everyMs', 'silenceMs'] },
  stallMs: 'number',
  maxQueuedBytes: 'number',
}

/** Takes sockets of routers from a TLS server. */
export interface ControlListener {
  /**
   * Takes a socket on which routers are expected, with the certificates of its handshake (DER, leaf first). A socket without certificates
   * is closed at once.
   */
  accept(socket: Duplex, chain: readonly Uint8Array[], remoteAddress: string | undefined): void
  /** Takes a socket on which another process over the same storage is expected. */
  acceptProcess(socket: ProcessSocket, remoteAddress: string | undefined): void
  /** Closes every channel. */
  close(): Promise<void>
}

/**
 * An inspection may be answered by the whole data model of a network; a larger frame ends the channel of its router. Requests for circuits
 * have the tokens and the data of an endpoint in their headers, which deployed routers do not bound.
 */
const FRAME_LIMITS: FrameLimits = { headers: 1024 * 1024, body: 32 * 1024 * 1024 }
/** Milliseconds for a refusal to go out. */
const REFUSAL_MS = 1000
const RATE = { perSecond: 2000, burst: 10_000 }
/** Sockets of unknown peers, from all IP networks and from one. A further socket closes the oldest of the network that has the most. */
const PLACES = { total: 512, perNetwork: 256 }

/**
 * Opens the data plane of a controller for routers.
 *
 * @example
 * const listener = await openControlListener(controller, { addresses: ['tls:controller.example.org:6262'] })
 */
export async function openControlListener(
  controller: FabricController,
  options: ControlListenerOptions,
): Promise<OpenControlListener> {
  checkArgument('openControlListener', 'controller', controller, { functions: ['openFabric'], isNeeded: true })
  checkOptions('openControlListener', options, OPTIONS)
  const { addresses, others, dialProcess: open } = options
  const dialProcess = open && processDialer(open)
  const plane = await controller.openFabric({ addresses, others, modelCodec, dialProcess, processReport })
  return new Listener(plane, options)
}

/** A listener with the data plane that it opened, for a router in this process. */
export interface OpenControlListener extends ControlListener {
  readonly plane: ControlPlane
}

/** A socket that has not been let in. */
interface Stranger {
  readonly chain: readonly Uint8Array[]
  readonly remoteAddress: string | undefined
  /** Frees its place: the peer is known or gone. */
  readonly settle: () => void
}

class Listener implements OpenControlListener {
  readonly plane: ControlPlane
  readonly #options: ControlListenerOptions
  readonly #limits: SocketLimits
  readonly #groups = new Map<string, RouterGroup>()
  readonly #places = createFairCapacity(PLACES)
  readonly #pending = new Set<ChannelSocket>()

  constructor(plane: ControlPlane, options: ControlListenerOptions) {
    this.plane = plane
    this.#options = options
    const outgoing = { bytes: options.maxQueuedBytes ?? 64 * 1024 * 1024, stallMs: options.stallMs ?? 15_000 }
    this.#limits = { frame: FRAME_LIMITS, rate: RATE, outgoing }
  }

  accept(stream: Duplex, chain: readonly Uint8Array[], remoteAddress: string | undefined): void {
    if (chain.length === 0) {
      refuseStranger(stream)
      return
    }
    const place = this.#places.enter(networkOf(remoteAddress ?? ''), () => socket.destroy())
    const giveUp = runtime.timer(this.#options.helloTimeoutMs ?? 5000, () => socket.destroy())
    const settle = () => {
      giveUp()
      place.leave()
      this.#pending.delete(socket)
    }
    const socket: ChannelSocket = new ChannelSocket(stream, this.#limits, HELLO_LIMITS, {
      onMessage: (frame) => {
        socket.pause()
        giveUp()
        this.#greet(socket, frame, { chain, remoteAddress, settle }).catch(() => socket.destroy())
      },
      onTrouble: () => socket.destroy(),
      onClose: settle,
    })
    this.#pending.add(socket)
    place.take(1)
  }

  acceptProcess(socket: ProcessSocket, remoteAddress: string | undefined): void {
    const place = this.#places.enter(networkOf(remoteAddress ?? ''), () => socket.stream.destroy())
    place.take(1)
    acceptProcess(this.plane, socket)
      .catch(() => socket.stream.destroy())
      .finally(() => place.leave())
  }

  async close(): Promise<void> {
    await this.plane.close()
    for (const group of this.#groups.values()) group.close()
    for (const socket of this.#pending) socket.destroy()
  }

  async #greet(socket: ChannelSocket, frame: Frame, { chain, remoteAddress, settle }: Stranger): Promise<void> {
    const hello = readHello(frame)
    if (typeof hello === 'string') return refuseSocket(socket, hello)
    let isGone = false
    // A peer that sends before it is admitted is no router.
    const waiting: ChannelListener = {
      onMessage: () => socket.destroy(),
      onTrouble: () => socket.destroy(),
      onClose: () => {
        isGone = true
        settle()
      },
    }
    socket.admit(FRAME_LIMITS, waiting)
    try {
      const group = await this.#groupFor(hello, chain, remoteAddress)
      if (typeof group === 'string') refuseSocket(socket, group)
      else if (!isGone) this.#attach(group, socket, hello)
      else if (group.sockets.size === 0) group.close()
    } finally {
      settle()
    }
  }

  /** The group of a socket, or the reason for its refusal. */
  async #groupFor(
    hello: Hello,
    chain: readonly Uint8Array[],
    remoteAddress: string | undefined,
  ): Promise<RouterGroup | string> {
    const { routerId } = hello.greeting
    const admission = await this.plane.verify(routerId, chain, remoteAddress)
    if (!admission.admitted) return admission.reason
    const verified = { fingerprint: admission.fingerprint, remoteAddress }
    const known = hello.isGrouped ? this.#groups.get(hello.connectionId) : undefined
    const isOpen = known !== undefined && !known.isClosed
    const isFurther = hello.isGrouped && !hello.isFirst
    if (!isOpen && !isFurther) return this.#newGroup(hello, verified)
    const refusal = await this.plane.admit(routerId, verified)
    if (refusal !== undefined) return refusal
    // The group of an additional socket is gone: the router begins anew when all its sockets are closed.
    if (!isOpen) return 'no such group'
    // A router could name the group of another router.
    const isMember = known.routerId === routerId && isSameSecret(known.secret, hello.secret)
    return isMember ? known : 'incorrect group secret'
  }

  async #newGroup(hello: Hello, verified: VerifiedSocket): Promise<RouterGroup | string> {
    const { greeting } = hello
    const id = hello.connectionId || runtime.uuid()
    const secret = hello.secret ?? newGroupSecret()
    const facts = { id, secret, routerId: greeting.routerId, isResumed: greeting.isResumed }
    const times = this.#options.heartbeat ?? { everyMs: 10_000, silenceMs: 30_000 }
    const group = new RouterGroup(facts, times, () => {
      if (this.#groups.get(id) === group) this.#groups.delete(id)
    })
    const session = await this.plane.connect(greeting, verified, group).catch((error: unknown) => {
      // A storage that is away fails here: the group would beat for ever.
      group.close()
      throw error
    })
    if (typeof session === 'string') {
      group.close()
      return session
    }
    // The group is stored before the router is admitted: its next socket comes at once.
    if (!group.isClosed) this.#groups.set(id, group)
    group.begin(session)
    return group
  }

  #attach(group: RouterGroup, socket: ChannelSocket, hello: Hello): void {
    const type = hello.socketType || 'ctrl.default'
    socket.send(acceptance(hello, { id: group.id, secret: group.secret, controllerId: this.plane.controllerId }))
    socket.admit(FRAME_LIMITS, group.listenerOf(type, socket))
    group.attach(type, socket)
    socket.resume()
  }
}

/** A peer without a certificate is no router: it gets that reason as an answer, is read no further, and gets no place. */
function refuseStranger(stream: Duplex): void {
  stream.on('error', () => undefined)
  stream.end(Buffer.concat(encodeFrame(rejection('no-certificate'))), () => stream.destroy())
  runtime.timer(REFUSAL_MS, () => stream.destroy())
}

/** Routers of every line log the reason. */
function refuseSocket(socket: ChannelSocket, reason: string): void {
  socket.send(rejection(reason))
  socket.close()
}

const MIB = 1_048_576

/** Describes the present work of this process as text: its pending resources, memory and time. It has only one stack. */
function processReport(): string {
  const waiting = new Map<string, number>()
  for (const resource of process.getActiveResourcesInfo()) waiting.set(resource, (waiting.get(resource) ?? 0) + 1)
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return [
    `process ${process.pid}, node ${process.version}, up ${Math.round(process.uptime())} s`,
    `memory: ${mib(rss)} resident, ${mib(heapUsed)} of ${mib(heapTotal)} heap, ${mib(external)} external`,
    `processor: ${Math.round(user / 1000)} ms user, ${Math.round(system / 1000)} ms system`,
    'waiting for:',
    ...[...waiting].sort(([left], [right]) => (left < right ? -1 : 1)).map(([name, count]) => `  ${name}: ${count}`),
    '',
  ].join('\n')
}

function mib(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`
}
