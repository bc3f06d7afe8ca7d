import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { ChannelTrace, FromRouter, TraceChannels } from '../../../../src/control-channel.ts'
import { PAYLOAD_FLAG } from '../../../../src/data-plane.ts'
import { CHANNEL_HEADER, CHANNEL_TYPE } from '../../channel/channel-numbers.ts'
import { FrameAllowance } from '../../channel/channel-socket.ts'
import { readAcknowledgement, readPayload } from '../../channel/circuit-frames.ts'
import type { Watch } from '../../channel/conversation.ts'
import { EDGE_TYPE } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { readBool, readUint32 } from '../../channel/header-values.ts'
import { readControl } from '../../channel/trace-routes.ts'
import { routerSide } from '../../fabric/index.ts'

/** A channel whose messages may be traced. */
export interface TracedChannel {
  /** The router, or the link, whose channel it is. */
  readonly owner: string
  readonly name: string
  /** Gets every message; undefined while no controller traces the channel. */
  watch: Watch | undefined
}

/** Messages that are traced in a second, on all channels together: a link carries more than an operator reads. */
const RATE = { perSecond: 1000, burst: 2000 }
/** Characters of a pattern. */
const LONGEST_PATTERN = 1000
const NANOSECONDS = 1_000_000n

/** Reports the messages of channels to controllers whose operators trace them. */
export class ChannelTraces {
  readonly #routerId: string
  readonly #tell: (controllerId: string, message: FromRouter) => void
  /** The ids of the controllers that trace each channel. */
  readonly #channels = new Map<TracedChannel, Set<string>>()
  readonly #allowance = new FrameAllowance(RATE, runtime.monotonic())

  constructor(routerId: string, tell: (controllerId: string, message: FromRouter) => void) {
    this.#routerId = routerId
    this.#tell = tell
  }

  /** Makes a channel traceable; answers a function that undoes it. */
  add(channel: TracedChannel): () => void {
    this.#channels.set(channel, new Set())
    return () => void this.#channels.delete(channel)
  }

  /** Changes the traces of a controller; answers the state of the channels that the request selects. */
  async set(controllerId: string, request: TraceChannels): Promise<FromRouter> {
    const { id, isOn, named, routerPattern, channelPattern } = request
    try {
      const [fitsRouter, fitsChannel] = await Promise.all([routerPattern, channelPattern].map(matcherOf))
      const lines = [...this.#channels.keys()].flatMap((channel) => {
        const isMeant = fitsRouter?.(this.#routerId) === true && fitsChannel?.(channel.name) === true
        if (isMeant) this.#switch(channel, controllerId, isOn)
        const isNamed = named === 'all' || named === (isMeant ? 'matching' : 'other')
        return isNamed ? [`${channel.owner} ${channel.name}: ${channel.watch ? 'traced' : 'not traced'}\n`] : []
      })
      return { type: 'traces-set', id, success: true, message: lines.join('') }
    } catch (error) {
      return { type: 'traces-set', id, success: false, message: error instanceof Error ? error.message : String(error) }
    }
  }

  /** A controller is away: its traces end. */
  forget(controllerId: string): void {
    for (const channel of this.#channels.keys()) this.#switch(channel, controllerId, false)
  }

  #switch(channel: TracedChannel, controllerId: string, isOn: boolean): void {
    const watchers = this.#channels.get(channel)
    if (watchers === undefined) return
    if (isOn) watchers.add(controllerId)
    else watchers.delete(controllerId)
    channel.watch = watchers.size === 0 ? undefined : (frame, isReceived) => this.#saw(channel, frame, isReceived)
  }

  #saw(channel: TracedChannel, frame: Frame, isReceived: boolean): void {
    // The report of a message is itself not traced.
    if (frame.contentType === routerSide.CONTENT_TYPE.channelTrace || this.#allowance.take(1, runtime.monotonic()) > 0)
      return
    const trace: ChannelTrace = {
      type: 'channel-trace',
      atNs: BigInt(runtime.now()) * NANOSECONDS,
      owner: channel.owner,
      channel: channel.name,
      isReceived,
      contentType: frame.contentType,
      sequence: frame.sequence,
      replyFor: (readUint32(frame.headers, CHANNEL_HEADER.replyFor) ?? -1) | 0,
      length: frame.body.reduce((sum, { length }) => sum + length, 0),
      meaning: meaningOf(frame),
    }
    // The report may go over the channel whose message is being traced.
    queueMicrotask(() => {
      for (const controllerId of this.#channels.get(channel) ?? []) this.#tell(controllerId, trace)
    })
  }
}

/** Patterns match in linear time, hostile ones too; the library is loaded for the first of them. */
async function matcherOf(pattern: string): Promise<(text: string) => boolean> {
  if (pattern.length > LONGEST_PATTERN) throw new Error(`a pattern has ${LONGEST_PATTERN} characters at the most`)
  const { RE2JS } = await import('re2js')
  const compiled = RE2JS.compile(pattern)
  return (text) => compiled.test(text)
}

/** The names of the members for the decoder of a message, and for its kind. */
const KNOWN_BY = '__decoder__'
const KIND = '__message__'

/** Describes a message of a link in the words that operator programs print, as JSON; empty for any other message. */
function meaningOf(frame: Frame): string {
  const members = membersOf(frame)
  return members === undefined ? '' : JSON.stringify(members)
}

function membersOf(frame: Frame): Readonly<Record<string, unknown>> | undefined {
  switch (frame.contentType) {
    case EDGE_TYPE.payload: {
      const payload = readPayload(frame)
      if (payload === undefined) return undefined
      const { circuitId, sequence, flags, body } = payload
      const facts = { circuitId, sequence, flags, originator: sideOf(flags), length: body.length }
      return { ...ofCircuit('Payload'), ...facts }
    }
    case EDGE_TYPE.acknowledgement: {
      const acknowledgement = readAcknowledgement(frame)
      if (acknowledgement === undefined) return undefined
      const { circuitId, sequences, fromOriginator } = acknowledgement
      const originator = sideOf(fromOriginator ? PAYLOAD_FLAG.originator : 0)
      return { ...ofCircuit('Acknowledgement'), circuitId, sequence: sequences.join(' '), originator }
    }
    case EDGE_TYPE.circuitControl: {
      const trace = readControl(frame)
      if (trace === undefined) return undefined
      const { isAnswer, circuitId, hops, hopType, hopId } = trace
      const type = isAnswer ? 'traceroute_response' : 'traceroute'
      return { ...ofCircuit('Control'), circuitId, type, hopCount: hops, hopType, hopId }
    }
    case CHANNEL_TYPE.result:
      return { ...ofChannel('Result'), success: readBool(frame.headers, CHANNEL_HEADER.success) ?? false }
    case CHANNEL_TYPE.latency:
      return ofChannel('Latency')
    case CHANNEL_TYPE.heartbeat:
      return ofChannel('Heartbeat')
    default:
      return undefined
  }
}

function ofCircuit(kind: string) {
  return { [KNOWN_BY]: 'data', [KIND]: kind }
}

function ofChannel(kind: string) {
  return { [KNOWN_BY]: 'channel', [KIND]: kind }
}

/** The side of the sender: `i` for the dialer, `e` for the host. */
function sideOf(flags: number): 'i' | 'e' {
  return (flags & PAYLOAD_FLAG.originator) === 0 ? 'i' : 'e'
}
