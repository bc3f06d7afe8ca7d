import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import {
  CONTROLLER_CAPABILITY,
  type FromRouter,
  type LinkListener,
  softwareText,
  TOLD_TO_CONTROLLERS,
  type ToRouter,
} from '../../../../src/control-channel.ts'
import { ROUTER_VERSION } from '../../../../src/data-plane.ts'
import { HELLO_SEQUENCE } from '../../channel/channel-numbers.ts'
import type { ChannelSocket, SocketLimits } from '../../channel/channel-socket.ts'
import { Conversation, processTimer, type Timer } from '../../channel/conversation.ts'
import type { Frame } from '../../channel/frame.ts'
import { boolHeader, readBool, readText, textBytes, uint64Header } from '../../channel/header-values.ts'
import { checkControllerCertificate } from '../../enrollment/controller-certificate.ts'
import { routerSide } from '../../fabric/index.ts'
import type { TracedChannel } from '../state/channel-traces.ts'
import type { ConnectedController, ControllerListener } from '../state/controllers.ts'
import { CLOSED_SILENTLY, dialSocket, type OpensStream, type RouterCredentials } from '../state/opened-socket.ts'
import type { RouterIdentity } from './enrolled-router.ts'

const { CONTENT_TYPE, HEADER, decodeMask, encodeMask, readToRouter, writeFromRouter } = routerSide

/** The facts by which a router introduces itself. */
export interface RouterIntroduction {
  readonly routerId: string
  /** The version of the deployed routers whose wire format it uses; peers choose by it how they open links. */
  readonly version: string
  readonly linkListeners: readonly LinkListener[]
}

/** The ALPN protocol of control channels. */
const CONTROL_PROTOCOL = 'ziti-ctrl'
const LIMITS: SocketLimits = {
  // The model of a large network is one message; the data of a host stands in headers.
  frame: { headers: 1024 * 1024, body: 268_435_456 },
  rate: { perSecond: 10_000_000, burst: 10_000_000 },
  outgoing: { bytes: 67_108_864, stallMs: 15_000 },
}
/** The header by which controllers of the line 1.6 learn that a router dials its links itself, and the message in it. */
const LEGACY_METADATA = 11
const MANAGES_LINKS = Uint8Array.of(0x0a, 0x01, 0x01)
const ANSWER_MS = 30_000
/** Milliseconds between heartbeats, and of silence after which a controller is given up. */
const BEAT_MS = 10_000
const SILENT_MS = 30_000
/** Milliseconds of silence after which a question is sent with a heartbeat, and for which its answer may be owed. */
const QUIET_MS = 1000
const OWED_MS = 2000
const NANOSECONDS = 1_000_000n
/** Messages that a controller answers; it takes all others without an answer. */
const ASKED: ReadonlySet<FromRouter['type']> = new Set([
  'verify-router',
  'interfaces',
  'posture-reported',
  'create-circuit',
  'create-tunnel-circuit',
  'create-terminator',
  'create-tunnel-terminator',
  'update-terminator',
  'remove-terminators',
  'confirm-certificate',
  'quiesce',
  'dequiesce',
  'decommission',
])

/** A dialed controller that admitted the router. Nothing arrives before {@link ControlChannel.begin}. */
export class ControlChannel implements ConnectedController {
  readonly id: string
  readonly judgesPosture: boolean
  readonly takesPosture: boolean
  readonly isOfOldLine: boolean
  readonly traced: TracedChannel
  readonly #routerId: string
  readonly #socket: ChannelSocket
  readonly #conversation: Conversation
  readonly #timer: Timer
  #listener: ControllerListener | undefined
  #onLost: () => void = () => undefined
  #onSpoken: () => void = () => undefined
  #heardAt = runtime.monotonic()
  /** Since when the controller owes an answer to a heartbeat, in milliseconds of the same clock; undefined where it owes none. */
  #owesSince: number | undefined
  #hasSpoken = false
  #cancelBeat: () => void = () => undefined

  constructor(
    { id, capabilities }: { readonly id: string; readonly capabilities: readonly number[] },
    routerId: string,
    socket: ChannelSocket,
    timer: Timer = processTimer,
  ) {
    this.id = id
    const { multiChannel, judgesForRouters, takesPosture } = CONTROLLER_CAPABILITY
    this.judgesPosture = capabilities.includes(judgesForRouters)
    this.isOfOldLine = ![multiChannel, judgesForRouters].some((one) => capabilities.includes(one))
    this.takesPosture = capabilities.includes(takesPosture)
    this.#routerId = routerId
    this.#socket = socket
    this.#timer = timer
    this.#conversation = new Conversation(
      socket,
      { onMessage: (frame) => this.#receive(frame), onClose: () => this.#closed(), onTrouble: () => socket.destroy() },
      timer,
    )
    const conversation = this.#conversation
    this.traced = {
      owner: routerId,
      name: 'ctrl',
      get watch() {
        return conversation.watch
      },
      set watch(watch) {
        conversation.watch = watch
      },
    }
  }

  /**
   * From now on messages go to a listener, and `onLost` is called at the end. `onSpoken` is called at the first message of the controller,
   * even if that only answers a heartbeat.
   */
  begin(listener: ControllerListener, onLost: () => void, onSpoken: () => void = () => undefined): void {
    this.#listener = listener
    this.#onSpoken = onSpoken
    this.#onLost = onLost
    this.#beat()
    this.#socket.resume()
  }

  async ask(message: FromRouter): Promise<ToRouter | undefined> {
    const written = writeFromRouter(message, this.#routerId)
    if (written === undefined) return undefined
    if (!ASKED.has(message.type)) {
      this.#conversation.send(written)
      return undefined
    }
    // A question may take its time, a heartbeat is answered at once.
    if (this.#owesSince === undefined && runtime.monotonic() - this.#heardAt > QUIET_MS) this.#sendOwnBeat()
    const answer = await this.#conversation.ask(written, ANSWER_MS)
    this.#heard()
    try {
      return readToRouter(answer, written.contentType)
    } catch (error) {
      // Its asker takes it for no answer.
      this.#listener?.unread?.(answer.contentType, error)
      throw error
    }
  }

  get isSilent(): boolean {
    return this.#owesSince !== undefined && runtime.monotonic() - this.#owesSince > OWED_MS
  }

  close(): void {
    this.#socket.close()
  }

  /** Whether the controller has sent anything since it admitted the router. */
  get hasSpoken(): boolean {
    return this.#hasSpoken
  }

  #heard(): void {
    this.#heardAt = runtime.monotonic()
    this.#owesSince = undefined
  }

  #receive(frame: Frame): void {
    this.#heard()
    if (!this.#hasSpoken) {
      this.#hasSpoken = true
      this.#onSpoken()
    }
    const beat = frame.headers.get(HEADER.heartbeat)
    if (beat !== undefined) this.#sendBeat(HEADER.heartbeatResponse, beat)
    switch (frame.contentType) {
      case CONTENT_TYPE.heartbeat:
        return
      case CONTENT_TYPE.ping:
      case CONTENT_TYPE.latency:
        this.#conversation.reply(frame, {
          contentType: CONTENT_TYPE.result,
          headers: new Map([[HEADER.success, boolHeader(true)]]),
          body: [textBytes('ok')],
        })
        return
      default:
        void this.#hand(frame)
    }
  }

  async #hand(frame: Frame): Promise<void> {
    try {
      const message = readToRouter(frame)
      if (message === undefined) return
      const answer = await this.#listener?.take(message)
      const written = answer === undefined ? undefined : writeFromRouter(answer, this.#routerId)
      if (written !== undefined) this.#conversation.reply(frame, written)
    } catch (error) {
      // It counts as lost: a controller asks again, and after missing changes the router asks for the model.
      this.#listener?.unread?.(frame.contentType, error)
    }
  }

  #beat(): void {
    // A model of many megabytes takes its time on a slow way.
    if (runtime.monotonic() - this.#socket.heardAt > SILENT_MS) {
      this.#socket.destroy()
      return
    }
    this.#sendOwnBeat()
    this.#cancelBeat = this.#timer(BEAT_MS, () => this.#beat())
  }

  #sendOwnBeat(): void {
    this.#owesSince ??= runtime.monotonic()
    this.#sendBeat(HEADER.heartbeat, uint64Header(BigInt(runtime.now()) * NANOSECONDS))
  }

  #sendBeat(key: number, value: Uint8Array): void {
    this.#conversation.send({ contentType: CONTENT_TYPE.heartbeat, headers: new Map([[key, value]]), body: [] })
  }

  #closed(): void {
    this.#cancelBeat()
    this.#listener?.lost()
    this.#onLost()
  }
}

/**
 * Dials a controller and introduces the router, in the form for controllers of the line 1.6 or in the newer form. Rejects with the reason
 * if the router is not admitted, or no answer comes in time.
 */
export async function dialController(
  address: string,
  router: RouterIntroduction,
  credentials: RouterCredentials,
  {
    isOfOldLine = false,
    openStream,
  }: {
    readonly isOfOldLine?: boolean
    /** Default: TLS. */
    readonly openStream?: OpensStream | undefined
  } = {},
): Promise<ControlChannel> {
  const { routerId, version, linkListeners } = router
  const listeners = routerSide.Listeners.encode({ listeners: linkListeners })
  const software = softwareText(version, process.platform, process.arch)
  const greet = async (facts: readonly (readonly [number, Uint8Array])[]) => {
    const headers = new Map([[HEADER.version, textBytes(software)] as const, ...facts])
    const hello = { contentType: CONTENT_TYPE.hello, sequence: HELLO_SEQUENCE, headers, body: [textBytes(routerId)] }
    const dial = {
      ...{ address, alpn: CONTROL_PROTOCOL, limits: LIMITS, hello },
      ...{ credentials, checkServerIdentity: checkControllerCertificate },
    }
    const { socket, frame } = await dialSocket(dial, openStream)
    const id = readText(frame.headers, HEADER.id) ?? ''
    const capabilities = decodeMask(frame.headers.get(HEADER.helloCapabilities) ?? new Uint8Array(0))
    if (readBool(frame.headers, HEADER.success) === true && id !== '')
      return { socket, controller: { id, capabilities } }
    socket.destroy()
    throw new Error(`refused: ${Buffer.concat(frame.body).toString().slice(0, 256)}`)
  }
  const { socket, controller } = await greet(
    isOfOldLine
      ? [
          [HEADER.legacyHelloListeners, listeners],
          [LEGACY_METADATA, MANAGES_LINKS],
        ]
      : [
          [HEADER.helloCapabilities, encodeMask(TOLD_TO_CONTROLLERS)],
          [HEADER.helloListeners, listeners],
          [HEADER.underlayType, textBytes('ctrl.default')],
          [HEADER.isGrouped, boolHeader(true)],
          [HEADER.isFirstOfGroup, boolHeader(true)],
        ],
  )
  return new ControlChannel(controller, routerId, socket)
}

/**
 * Introduces a router to a controller, waits for its first message, and disconnects; answers the controller's id. Rejects with the reason
 * if the router is not admitted.
 */
export async function probeController(address: string, identity: RouterIdentity): Promise<string> {
  try {
    return await probe(address, identity.id, identity)
  } catch (error) {
    // The controller may take a renewed certificate whose confirmation was lost.
    for (const pair of identity.pending ?? []) {
      const id = await probe(address, identity.id, { ...pair, ca: identity.ca }).catch(() => undefined)
      if (id !== undefined) return id
    }
    throw error
  }
}

async function probe(address: string, routerId: string, credentials: RouterCredentials): Promise<string> {
  const router = { routerId, version: ROUTER_VERSION, linkListeners: [] }
  // Controllers of the line 1.6 answer the hello of every router, and then close the connection of a refused router.
  for (const isOfOldLine of [false, true]) {
    const channel = await dialController(address, router, credentials, { isOfOldLine }).catch((error: unknown) => {
      throw error instanceof Error && error.message === CLOSED_SILENTLY ? new Error(NOT_LET_IN) : error
    })
    if (await speaks(channel)) return channel.id
  }
  throw new Error(NOT_LET_IN)
}

/** How a controller of a deployed line refuses a router, for any reason. */
const NOT_LET_IN = 'it closes the connection without a word: the router is deleted, disabled, or connected already'

/** Whether the other end sends anything before it closes; the channel is closed afterwards. */
async function speaks(channel: ControlChannel): Promise<boolean> {
  await new Promise<void>((resolve) => {
    const cancel = processTimer(ANSWER_MS, resolve)
    const heard = () => {
      cancel()
      resolve()
    }
    channel.begin({ take: async () => undefined, lost: () => undefined }, heard, heard)
  })
  channel.close()
  return channel.hasSpoken
}
