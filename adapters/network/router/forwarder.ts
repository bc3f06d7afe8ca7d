import type { CircuitUsage, FromRouter, PeerData, Route } from '../../../src/control-channel.ts'
import {
  EarlyMessages,
  EXPECTED_LIMITS,
  ForwardFaults,
  ForwardingTable,
  type ToldCircuit,
  UNLAID_LIMITS,
} from '../../../src/data-plane.ts'
import { circuitOf, isFarewell, isOfCircuit, isRetransmission } from '../channel/circuit-frames.ts'
import { processTimer, type Timer } from '../channel/conversation.ts'
import { EDGE_TYPE } from '../channel/edge-messages.ts'
import type { Frame } from '../channel/frame.ts'
import { answered, readControl, writeControl } from '../channel/trace-routes.ts'

/** The destination of messages of circuits: a link to another router, or an end of a circuit at this one. */
export interface Destination {
  /** Takes a message of a circuit as it arrived: it must not be changed. */
  take(circuitId: string, frame: Frame): void
  /** Whether too many bytes wait for it, many of them of the circuit of the message: the sender must pause. */
  isFullFor(message: Frame): boolean
  /** Runs once, when there is room again. */
  whenRoom(work: () => void): void
  /** The circuit is dropped here, by its controller unless there is another reason. */
  dropped?(circuitId: string, reason?: string): void
  /** The other end of the circuit, which is also at this router, is gone: it sends and takes nothing more. */
  deserted?(circuitId: string): void
  /** The circuit is laid over this router. */
  laid?(circuitId: string): void
}

/** The answer of a host to a dial, as it is reported to its controller. */
export type EgressOutcome =
  | { readonly success: true; readonly peerData: PeerData }
  | {
      readonly success: false
      readonly cause: Extract<FromRouter, { type: 'route-result' }>['cause']
      readonly message: string
    }

/** The reason for which a route cannot be laid: a link or an end is absent, or there is no room. */
export type RouteProblem =
  | { readonly cause: 'invalid-link'; readonly linkId: string }
  | { readonly cause: 'no-end' }
  | { readonly cause: 'no-room' }

/** The clock and the callbacks of a forwarder. */
export interface ForwarderSettings {
  /** The id of the router in answers to traces. */
  readonly routerId: string
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Epoch ms, by which reports of bytes are dated. */
  readonly epoch: () => number
  /** Sends a message to a controller, or to all if `controllerId` is undefined. */
  readonly tell: (controllerId: string | undefined, message: FromRouter) => void
  readonly timer?: Timer
}

/** Milliseconds between checks of ending circuits, and between checks of idle circuits and faults. */
const ENDING_EVERY_MS = 1000
const IDLE_EVERY_MS = 60_000
/** Milliseconds between two reports of the bytes that circuits carried. */
const USAGE_EVERY_MS = 15_000
/** Circuits of one report: a message may not have members without bound. */
const REPORTED_AT_ONCE = 10_000
const NANOSECONDS = 1_000_000

/** Passes messages of circuits from links and ends to links and ends, as controllers laid them. */
export class Forwarder {
  readonly #settings: ForwarderSettings
  readonly #table = new ForwardingTable()
  readonly #faults: ForwardFaults
  readonly #destinations = new Map<string, Destination>()
  readonly #early = new EarlyMessages<Frame>(EXPECTED_LIMITS)
  /** Payloads that came over links before the circuit, or its new path, was laid. */
  readonly #unlaid = new EarlyMessages<Frame>(UNLAID_LIMITS)
  /** The circuits of clients that are not attached yet, by the future addresses of the clients. */
  readonly #awaited = new Map<string, string>()
  readonly #timer: Timer
  #cancel: () => void
  #askedAt: number
  #countedAt: number

  constructor(settings: ForwarderSettings) {
    this.#settings = settings
    this.#faults = new ForwardFaults(settings.now())
    this.#askedAt = settings.now()
    this.#countedAt = settings.now()
    this.#timer = settings.timer ?? processTimer
    this.#cancel = this.#timer(ENDING_EVERY_MS, () => this.#look())
  }

  /** The number of circuits that are laid over this router. */
  get circuits(): number {
    return this.#table.size
  }

  /** The circuits that are laid over this router, `most` of them at the most. */
  laidCircuits(most: number): readonly ToldCircuit[] {
    return this.#table.circuits(this.#settings.now(), most)
  }

  /** Makes an address reachable; answers a function that undoes it. */
  attach(address: string, destination: Destination): () => void {
    this.#destinations.set(address, destination)
    const circuitId = this.#awaited.get(address)
    if (circuitId !== undefined) {
      this.#awaited.delete(address)
      this.#forwardEarly(circuitId)
    }
    return () => {
      if (this.#destinations.get(address) === destination) this.#destinations.delete(address)
    }
  }

  /** A host is being dialed for a circuit: messages that it sends are kept until the circuit is laid and its client is attached. */
  expect(circuitId: string): void {
    this.#early.expect(circuitId, this.#settings.now())
  }

  /** The host that was dialed for a circuit is gone. */
  unexpect(circuitId: string): void {
    if (this.#table.controllerOf(circuitId) === undefined) this.#early.take(circuitId)
  }

  has(address: string): boolean {
    return this.#destinations.has(address)
  }

  /**
   * Lays a circuit as a controller asks, or another way for it; answers the problem, if any. The end of the host must be attached before,
   * the end of the dialer may be attached later.
   */
  route(
    controllerId: string,
    { circuitId, forwards }: Pick<Route, 'circuitId' | 'forwards'>,
  ): RouteProblem | undefined {
    for (const { dstAddress, dstType } of forwards) {
      if (dstType === 'start' || this.#destinations.has(dstAddress)) continue
      return dstType === 'link' ? { cause: 'invalid-link', linkId: dstAddress } : { cause: 'no-end' }
    }
    if (!this.#table.lay(circuitId, controllerId, forwards, this.#settings.now())) return { cause: 'no-room' }
    this.#faults.forget(circuitId)
    const awaited = forwards.filter(({ dstAddress, dstType }) => dstType === 'start' && !this.has(dstAddress))
    for (const { dstAddress } of awaited) this.#awaited.set(dstAddress, circuitId)
    if (awaited.length > 0) this.expect(circuitId)
    else this.#forwardEarly(circuitId)
    for (const { source, message } of this.#unlaid.take(circuitId)) this.forward(source, message)
    for (const { dstAddress } of forwards) this.#destinations.get(dstAddress)?.laid?.(circuitId)
    return undefined
  }

  /** Drops a circuit: at once, or when it has been quiet for 5 s. Early messages of a circuit that is not laid are dropped. */
  unroute(circuitId: string, now: boolean, reason?: string): void {
    this.#unlaid.take(circuitId)
    if (now) this.#drop(circuitId, reason)
    else this.#table.dropWhenQuiet(circuitId)
  }

  /** Whether the circuit is to be dropped once it is quiet. */
  isEnding(circuitId: string): boolean {
    return this.#table.isEnding(circuitId)
  }

  /** An end is gone: the end at the other side of this router gets the notice now, behind all earlier messages. */
  leave(circuitId: string, source: string): void {
    const address = this.#table.forwardsOf(circuitId)?.get(source)
    if (address !== undefined) this.#destinations.get(address)?.deserted?.(circuitId)
  }

  /** The controller that laid a circuit. */
  controllerOf(circuitId: string): string | undefined {
    return this.#table.controllerOf(circuitId)
  }

  /** Passes on a message that came over a link: a payload that arrives before its circuit is laid is kept. */
  arrived(linkId: string, frame: Frame): Destination | undefined {
    const circuitId = frame.contentType === EDGE_TYPE.payload ? circuitOf(frame) : undefined
    if (circuitId === undefined || this.#table.forwardsOf(circuitId)?.has(linkId) === true) {
      return this.forward(linkId, frame, circuitId)
    }
    const early = { source: linkId, message: frame }
    if (!this.#unlaid.keepUnexpected(circuitId, early, lengthOf(frame), this.#settings.now())) {
      this.#nowhere(circuitId, frame)
    }
    return undefined
  }

  /**
   * Passes on a message that came from an address; answers its destination. A message without a destination is dropped; an unexpected loss
   * of a payload is reported. A sender that has read the circuit of the message passes it.
   */
  forward(source: string, frame: Frame, named?: string): Destination | undefined {
    const circuitId = isOfCircuit(frame) ? (named ?? circuitOf(frame)) : undefined
    if (circuitId === undefined) return undefined
    const bytes = frame.contentType === EDGE_TYPE.payload ? lengthOf(frame) : 0
    const isActivity = !isRetransmission(frame)
    const address = this.#table.destination(circuitId, source, this.#settings.now(), isActivity, bytes)
    const destination = address === undefined ? undefined : this.#destinations.get(address)
    if (frame.contentType === EDGE_TYPE.circuitControl) this.#passControl(circuitId, frame, source, destination)
    else if (destination !== undefined) destination.take(circuitId, frame)
    else if (frame.contentType === EDGE_TYPE.payload) {
      if (!this.#early.keep(circuitId, { source, message: frame }, lengthOf(frame))) this.#nowhere(circuitId, frame)
    }
    return destination
  }

  /** A payload is dropped because its circuit has no path here. */
  #nowhere(circuitId: string, frame: Frame): void {
    if (!isFarewell(frame)) this.#faults.note(circuitId, this.#table.controllerOf(circuitId))
  }

  #forwardEarly(circuitId: string): void {
    for (const { source, message } of this.#early.take(circuitId)) this.forward(source, message)
  }

  /** Passes on a control, or answers a trace that ends at this router. */
  #passControl(circuitId: string, frame: Frame, source: string, destination: Destination | undefined): void {
    const trace = readControl(frame)
    const hops = Math.max((trace?.hops ?? 0) - 1, 0)
    if (trace === undefined || trace.isAnswer) destination?.take(circuitId, frame)
    else if (destination !== undefined && hops > 0) {
      destination.take(circuitId, { ...frame, ...writeControl({ ...trace, hops }) })
    } else {
      const hop = { hopType: 'forwarder', hopId: this.#settings.routerId }
      const answer = destination ? { hops, ...hop } : { hops: trace.hops, ...hop, error: 'the circuit ends here' }
      this.#destinations.get(source)?.take(circuitId, { ...frame, ...writeControl(answered(trace, answer)) })
    }
  }

  /** Bytes of a circuit passed between two ends at this router without forwarding. */
  passed(circuitId: string, source: string, bytes: number): void {
    this.#table.destination(circuitId, source, this.#settings.now(), true, bytes)
  }

  close(): void {
    this.#cancel()
  }

  #look(): void {
    const now = this.#settings.now()
    this.#early.forgetOld(now)
    this.#unlaid.forgetOld(now, (circuitId, frame) => this.#nowhere(circuitId, frame))
    for (const circuitId of this.#table.dropQuiet(now, (id, forwards) => this.#tellDropped(id, forwards))) {
      this.#faults.forget(circuitId)
    }
    for (const { controllerId, circuitIds } of this.#faults.report(now)) {
      const subject = controllerId === undefined ? 'forward-of-unknown-owner' : 'forward'
      this.#settings.tell(controllerId, { type: 'fault', subject, id: circuitIds.join(' '), iteration: 0 })
    }
    if (now - this.#countedAt >= USAGE_EVERY_MS) this.#tellUsage(now)
    if (now - this.#askedAt >= IDLE_EVERY_MS) {
      this.#askedAt = now
      this.#askForIdle(now)
    }
    this.#cancel = this.#timer(ENDING_EVERY_MS, () => this.#look())
  }

  /** The bytes of circuits whose clients are at this router, for their controllers. */
  #tellUsage(now: number): void {
    const lengthMs = Math.round(now - this.#countedAt)
    this.#countedAt = now
    const from = this.#settings.epoch() - lengthMs
    const byController = new Map<string, CircuitUsage[]>()
    for (const { circuitId, controllerId, fromClient, toClient } of this.#table.carried()) {
      const bytes = new Map([
        ['ingress.rx', fromClient],
        ['ingress.tx', toClient],
      ])
      const known = byController.get(controllerId) ?? []
      known.push({ circuitId, from, lengthMs, bytes })
      byController.set(controllerId, known)
    }
    for (const [controllerId, all] of byController) {
      for (let at = 0; at < all.length; at += REPORTED_AT_ONCE) {
        const usage = all.slice(at, at + REPORTED_AT_ONCE)
        this.#settings.tell(controllerId, { type: 'metrics', nanoseconds: new Map(), usage, sentAt: from + lengthMs })
      }
    }
  }

  #askForIdle(now: number): void {
    const byController = new Map<string, Map<string, number>>()
    for (const { circuitId, controllerId, idleMs } of this.#table.idle(now)) {
      const known = byController.get(controllerId) ?? new Map<string, number>()
      byController.set(controllerId, known.set(circuitId, Math.round(idleMs) * NANOSECONDS))
    }
    for (const [controllerId, idleTimes] of byController) {
      const all = [...idleTimes]
      for (let at = 0; at < all.length; at += REPORTED_AT_ONCE) {
        const some = new Map(all.slice(at, at + REPORTED_AT_ONCE))
        const circuitIds = [...some.keys()]
        this.#settings.tell(controllerId, { type: 'circuit-confirmation', circuitIds, idleTimes: some })
      }
    }
  }

  #drop(circuitId: string, reason?: string): void {
    const forwards = this.#table.forwardsOf(circuitId)
    this.#table.drop(circuitId)
    this.#faults.forget(circuitId)
    if (forwards !== undefined) this.#tellDropped(circuitId, forwards, reason)
  }

  #tellDropped(circuitId: string, forwards: ReadonlyMap<string, string>, reason?: string): void {
    this.#early.take(circuitId)
    for (const address of forwards.values()) {
      this.#awaited.delete(address)
      this.#destinations.get(address)?.dropped?.(circuitId, reason)
    }
  }
}

function lengthOf({ body }: Frame): number {
  return body.reduce((sum, { length }) => sum + length, 0)
}
