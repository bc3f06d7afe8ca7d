import type { Reading } from '../../../../src/data-plane.ts'
import { isTooMuch, type WaitingBounds } from '../../channel/channel.ts'
import {
  bytesOf,
  type CircuitEnd,
  dataIn,
  dataMessage,
  dataOf,
  type EdgeData,
  writeData,
} from '../../channel/circuit-ends.ts'
import { forwardedTo } from '../../channel/circuit-frames.ts'
import { CONNECTION_KIND, EDGE_HEADER, EDGE_TYPE, edgeMessage } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { textBytes, uint32Header } from '../../channel/header-values.ts'
import type { Destination, Forwarder } from '../forwarder.ts'
import { ConnectionTraces } from './connection-traces.ts'
import { type Endpoint, OwnRoom } from './endpoint.ts'
import { SplicedData } from './spliced-data.ts'

/** The dialer is at the ingress, the host at the egress. */
export type EdgeSide = 'ingress' | 'egress'

/** The part of an endpoint that its connections need. */
type Way = Pick<
  Endpoint<EdgeConnection>,
  'send' | 'ask' | 'queuedBytes' | 'queuedBytesOf' | 'whenDrained' | 'holdFor' | 'release' | 'entered'
>

/** The circuits of a router, as its connections reach them. */
export interface ConnectionCircuits {
  readonly forwarder: Forwarder
  /** Ends a circuit from one of its ends, and reports that to its controller. */
  over(connection: EdgeConnection, isUnstarted?: boolean): void
  /** Takes an end away from its circuit, without a word to anybody: the connection gets nothing more. */
  detach(connection: EdgeConnection): void
  /** Whether the other end has all sent data, or the data can reach it; otherwise {@link EdgeConnection.leave} is called later. */
  mayLeave(connection: EdgeConnection): boolean
  /** The client, at this router or another router, has started the circuit. */
  started(connection: EdgeConnection): void
}

/**
 * The way of data to the other end. `waiting`: the other end is not attached yet. `spliced`: the other end is a connection at this router,
 * both endpoints leave windows to routers, and TCP keeps them. `kept`: this router keeps order and windows for the endpoint. `forwarded`:
 * the endpoint keeps them itself.
 */
type Onward =
  | { readonly kind: 'waiting'; readonly early: EdgeData[]; bytes: number }
  | { readonly kind: 'spliced'; readonly way: SplicedData }
  | { readonly kind: 'kept'; readonly end: CircuitEnd }
  | { readonly kind: 'forwarded' }

/** Bytes that may wait for an endpoint before its senders are slowed down. */
const FULL: WaitingBounds = { most: 2 * 1024 * 1024, ofOthers: 8 * 1024 * 1024 }
/** Bytes beyond which payloads for it are dropped; the keeper of the windows sends them again. */
const MOST_FORWARDED: WaitingBounds = { most: 8 * 1024 * 1024, ofOthers: 12 * 1024 * 1024 }
/** Bytes beyond which a host may send nothing more before the client's end is attached. */
const MOST_EARLY_BYTES = 1024 * 1024
/** Bytes that such an early message costs beyond its own bytes. */
const EARLY_COST = 128
/** Bytes that may wait for the window of a circuit before its endpoint is slowed down. */
const MOST_UNSENT_BYTES = 1024 * 1024
/** Milliseconds for which an endpoint that keeps windows is slowed down for another endpoint: its other circuits wait too. */
const HOLD_MS = 50

/** A connection of an endpoint, as one end of a circuit. */
export class EdgeConnection implements Destination {
  readonly kind = 'connection'
  readonly id: number
  readonly side: EdgeSide
  readonly usesXgress: boolean
  /** The service that it was dialed for, by the token of its end; empty where the token names none. */
  readonly serviceId: string
  readonly #endpoint: Way
  readonly #circuits: ConnectionCircuits
  readonly #idBytes: Uint8Array
  #circuitId = ''
  #address = ''
  #onward: Onward
  #isOver = false
  #hasLeft = false
  #isAnswered: boolean
  #isStarted = false
  /** The end that the router keeps gets no further data. */
  #isDeserted = false
  #traces: ConnectionTraces | undefined
  readonly #window = new OwnRoom()

  constructor(
    endpoint: Way,
    circuits: ConnectionCircuits,
    facts: Pick<EdgeConnection, 'id' | 'side' | 'usesXgress' | 'serviceId'>,
  ) {
    this.#endpoint = endpoint
    this.#circuits = circuits
    this.id = facts.id
    this.side = facts.side
    this.usesXgress = facts.usesXgress
    this.serviceId = facts.serviceId
    this.#isAnswered = facts.side === 'ingress'
    this.#idBytes = uint32Header(facts.id)
    this.#onward = facts.usesXgress ? { kind: 'forwarded' } : { kind: 'waiting', early: [], bytes: 0 }
  }

  /** Empty until the circuit is laid. */
  get circuitId(): string {
    return this.#circuitId
  }

  get address(): string {
    return this.#address
  }

  /** Whether the endpoint knows the connection: a host does once it has answered the dial. */
  get isAnswered(): boolean {
    return this.#isAnswered
  }

  answered(): void {
    this.#isAnswered = true
  }

  /** The circuit is laid. */
  enter(circuitId: string, address: string): void {
    this.#circuitId = circuitId
    this.#address = address
    this.#endpoint.entered(this.id)
  }

  /** Asks the endpoint whether it knows the connection. False also where it does not say within `withinMs` milliseconds. */
  async isUnknownToEndpoint(withinMs: number): Promise<boolean> {
    const answer = await this.#endpoint.ask(edgeMessage(EDGE_TYPE.inspect, this.id), withinMs).catch(() => undefined)
    return answer?.headers.get(EDGE_HEADER.connectionKind)?.[0] === CONNECTION_KIND.unknown
  }

  /** All data goes straight to a connection at this router. */
  splice(peer: EdgeConnection): void {
    this.#goOn({ kind: 'spliced', way: new SplicedData(this.#endpoint, peer) })
  }

  /** The router keeps order and windows for the endpoint. */
  keep(end: CircuitEnd): void {
    this.#goOn({ kind: 'kept', end })
    this.#read(end)
  }

  /** Whether the endpoint has unread data. */
  get isSlow(): boolean {
    return this.#endpoint.queuedBytes > 0
  }

  isFullFor(): boolean {
    return this.#hasTooMuch(FULL)
  }

  whenRoom(work: () => void): void {
    this.#endpoint.whenDrained(work)
  }

  /** A message of the circuit for an endpoint that keeps windows itself, or a control. */
  take(_circuitId: string, frame: Frame): void {
    if (this.#isOver) return
    if (frame.contentType === EDGE_TYPE.circuitControl) this.traces.take(frame)
    else if (this.usesXgress) this.#takeForwarded(frame)
  }

  #takeForwarded(frame: Frame): void {
    if (this.side === 'egress') this.#start()
    const isPayload = frame.contentType === EDGE_TYPE.payload
    if (isPayload && this.#hasTooMuch(MOST_FORWARDED)) return
    this.#endpoint.send(forwardedTo(this.#idBytes, frame), 'data')
  }

  #hasTooMuch(bounds: WaitingBounds): boolean {
    return isTooMuch(this.#endpoint.queuedBytes, () => this.#endpoint.queuedBytesOf(this.id), bounds)
  }

  /**
   * The forwarder gave the circuit up: its controller ended it, unless there is another reason. The endpoint is told, if it has not left;
   * the controller is not.
   */
  dropped(_circuitId: string, reason = 'the circuit was ended by its controller'): void {
    if (this.#hasLeft) this.#circuits.detach(this)
    else this.ended(reason)
  }

  /** The other end, at this router too, is gone. The endpoint gets all earlier data first, and then the end as by {@link ended}. */
  deserted(): void {
    this.#isDeserted = true
    if (this.#onward.kind === 'kept') this.#read(this.#onward.end)
    else this.ended('')
  }

  /** The end that the router keeps has data to read. */
  readable(): void {
    if (this.#onward.kind === 'kept') this.#read(this.#onward.end)
  }

  /** Ends the connection towards the endpoint alone, which gets the reason behind all earlier data. The controller is not told. */
  ended(reason: string): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#onward.kind === 'spliced') this.#onward.way.drop()
    if (this.#onward.kind === 'kept') this.#onward.end.close()
    else this.#circuits.detach(this)
    if (!this.#endpoint.release(this.id, this)) return
    this.#endpoint.send(edgeMessage(EDGE_TYPE.stateClosed, this.id, [], textBytes(reason)), 'data')
  }

  /** Ends it from the router's side, for a lost right or a circuit that never started: endpoint and controller are told, no data passes. */
  cut(reason: string, isUnstarted = false): void {
    if (this.#isOver) return
    const onward = this.#onward
    if (onward.kind !== 'kept') this.#circuits.over(this, isUnstarted)
    this.ended(reason)
    if (onward.kind === 'kept') onward.end.abort()
  }

  /** The host refused the dial: it needs no word, and the answer to the route tells the controller. */
  refused(): void {
    this.#isOver = true
    this.#circuits.detach(this)
    this.#endpoint.release(this.id, this)
    if (this.#onward.kind === 'kept') this.#onward.end.abort()
  }

  /** The endpoint closed the connection, or is gone: it is told nothing. Its earlier data still arrives, if need be by {@link leave}. */
  left(): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#onward.kind === 'spliced') this.#onward.way.finish()
    if (this.#onward.kind === 'kept') this.#onward.end.close()
    else if (this.#circuits.mayLeave(this)) this.leave()
    else this.#hasLeft = true
  }

  /** Whether the endpoint has left and {@link leave} is still to come: the other end was not attached yet. */
  get hasLeft(): boolean {
    return this.#hasLeft
  }

  /** Completes {@link left}, once what the endpoint sent before is on its way: the other end, or else the controller, is told. */
  leave(): void {
    this.#hasLeft = false
    if (this.#onward.kind === 'kept') this.#onward.end.close()
    else this.#circuits.over(this)
  }

  /** The circuit is laid over the router. */
  laid(): void {
    if (this.#hasLeft && this.#circuits.mayLeave(this)) this.leave()
  }

  /** The endpoint sent data. */
  sent(message: Frame): void {
    if (!this.#isOver) this.#pass(dataIn(message))
  }

  /** The endpoint sent a payload, an acknowledgement or a control of the circuit. */
  sentPayload(message: Frame): void {
    if (!this.usesXgress || this.#isOver) return
    // An acknowledgement starts nothing: endpoints acknowledge ends of connections that they do not know.
    if (this.side === 'ingress' && message.contentType === EDGE_TYPE.payload) this.#start()
    const destination = this.#circuits.forwarder.forward(this.#address, message, this.#circuitId)
    if (destination?.isFullFor(message)) this.#endpoint.holdFor(destination, HOLD_MS)
  }

  #start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#circuits.started(this)
  }

  /** Traces of the circuit and their answers; created at the first use. */
  get traces(): ConnectionTraces {
    this.#traces ??= new ConnectionTraces(this, this.#endpoint, (frame) =>
      this.#circuits.forwarder.forward(this.#address, frame),
    )
    return this.#traces
  }

  #goOn(onward: Onward): void {
    const before = this.#onward
    this.#onward = onward
    if (before.kind === 'waiting') for (const data of before.early) this.#pass(data)
  }

  #pass(data: EdgeData): void {
    const onward = this.#onward
    switch (onward.kind) {
      case 'waiting':
        if (onward.bytes <= MOST_EARLY_BYTES) {
          onward.early.push(data)
          onward.bytes += EARLY_COST + bytesOf(data)
          return
        }
        this.#circuits.over(this)
        this.ended('too much data before the other end was there')
        return
      case 'spliced':
        this.#circuits.forwarder.passed(this.#circuitId, this.#address, bytesOf(data))
        onward.way.pass(data)
        return
      case 'kept':
        writeData(onward.end, data)
        if (onward.end.waitingBytes > MOST_UNSENT_BYTES) this.#endpoint.holdFor(this.#window)
        return
      default:
      // An endpoint that keeps windows itself sends payloads.
    }
  }

  /** Gives the endpoint data of the other end. */
  deliver(data: EdgeData): void {
    if (!this.#isOver) this.#endpoint.send(dataMessage(this.#idBytes, data), 'data')
  }

  /** All data at the end that the router keeps has gone out, or never will. */
  writable(): void {
    this.#window.open()
  }

  /** Reads as long as the endpoint takes data. */
  #read(end: CircuitEnd): void {
    while (!this.#isOver) {
      if (this.isFullFor()) {
        this.whenRoom(() => this.#read(end))
        return
      }
      const reading = end.read()
      if (reading === undefined) break
      this.#deliverReading(reading)
    }
    if (!this.#isDeserted) return
    this.ended('')
    end.abort()
  }

  #deliverReading(reading: Reading): void {
    if (reading.type === 'closed') this.ended('')
    else this.deliver(dataOf(reading))
  }
}
