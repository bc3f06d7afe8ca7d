import type { Route } from '../../../../src/control-channel.ts'
import { CircuitEnds } from '../../channel/circuit-ends.ts'
import { circuitOf, sideOf } from '../../channel/circuit-frames.ts'
import type { Timer } from '../../channel/conversation.ts'
import { EDGE_HEADER, EDGE_TYPE } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { readUint32 } from '../../channel/header-values.ts'
import type { Forwarder } from '../forwarder.ts'
import type { BoundService } from './bound-service.ts'
import type { ConnectionCircuits, EdgeConnection, EdgeSide } from './edge-connection.ts'

/** Milliseconds within which a client starts its circuit once it has the answer to its dial. */
const START_MS = 5000
/** Milliseconds after which a client that did not start its circuit is asked whether it still waits: its host is held up meanwhile. */
const ASK_MS = 100
/** Milliseconds of a dial after which its client is asked at once: many dialers have given up by then. */
const LATE_DIAL_MS = 1000
/** The same for a client at another router, ms: the host's router learns of the client before the circuit is laid. */
const FAR_START_MS = 30_000
/** Milliseconds within which a circuit is laid whose host has answered. */
const LAID_MS = 30_000
const NOT_STARTED = 'the client did not start the circuit'

/** The end at which a circuit is over. */
export interface CircuitOver {
  readonly side: EdgeSide
  /** The client did not start it. */
  readonly isUnstarted: boolean
}

/** The surroundings of the circuits that begin or end at a router. */
export interface EdgeCircuitsParts {
  readonly forwarder: Forwarder
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
  readonly timer: Timer
  /** Tells the controller that laid a circuit that it is over at one of its ends. */
  readonly tellEnd: (circuitId: string, end: CircuitOver, controllerId: string | undefined) => void
}

/**
 * Connects the ends of circuits at this router. Two ends whose endpoints leave windows to routers are spliced. For a single such end the
 * router keeps order and windows. For endpoints that keep these themselves it only forwards messages.
 */
export class EdgeCircuits implements ConnectionCircuits {
  readonly forwarder: Forwarder
  readonly #parts: EdgeCircuitsParts
  readonly #ends: CircuitEnds
  /** Ends of hosts whose clients are at this router and not there yet, by circuit. */
  readonly #waiting = new Map<string, EdgeConnection>()
  /** Ends whose circuits must still be started, each with a function that stops the watch over it. */
  readonly #unstarted = new Map<EdgeConnection, () => void>()
  readonly #detach = new Map<EdgeConnection, () => void>()

  constructor(parts: EdgeCircuitsParts) {
    this.#parts = parts
    this.forwarder = parts.forwarder
    this.#ends = new CircuitEnds(parts.now, parts.timer)
  }

  /** A host is being dialed: its end is attached before it answers. */
  hosting(connection: EdgeConnection, { circuitId, egress, forwards }: Route): void {
    const address = egress?.address ?? ''
    connection.enter(circuitId, address)
    const client = forwards.find(({ srcAddress }) => srcAddress === address)
    const isClientHere = client?.dstType === 'start'
    if (connection.usesXgress) this.forwarder.expect(circuitId)
    if (isClientHere) this.#waiting.set(circuitId, connection)
    if (isClientHere || connection.usesXgress) this.#attach(connection)
    else this.#keep(connection)
    if (!isClientHere && connection.usesXgress) this.#watchStart(connection, FAR_START_MS)
  }

  /** Milliseconds of a clock that only goes forward. */
  get now(): number {
    return this.#parts.now()
  }

  /** A client's dial succeeded `tookMs` milliseconds after it began, and the client has the answer. */
  dialed(connection: EdgeConnection, circuitId: string, address: string, tookMs: number): void {
    connection.enter(circuitId, address)
    const host = this.#waiting.get(circuitId)
    this.#waiting.delete(circuitId)
    const isSpliced = host !== undefined && !host.usesXgress && !connection.usesXgress
    if (isSpliced) {
      this.#attach(connection)
      connection.splice(host)
      host.splice(connection)
    } else {
      if (host !== undefined && !host.usesXgress) this.#keep(host)
      if (connection.usesXgress) this.#attach(connection)
      else this.#keep(connection)
    }
    if (connection.usesXgress) this.#awaitStart(connection, tookMs > LATE_DIAL_MS ? 0 : ASK_MS)
    if (host?.hasLeft === true) host.leave()
  }

  mayLeave(connection: EdgeConnection): boolean {
    const { circuitId, side } = connection
    if (side === 'ingress') return true
    const isAwaited = this.#waiting.get(circuitId) === connection
    if (!isAwaited && this.forwarder.controllerOf(circuitId) !== undefined) return true
    this.#parts.timer(LAID_MS, () => {
      if (this.#detach.has(connection)) connection.leave()
    })
    return false
  }

  started(connection: EdgeConnection): void {
    this.#unstarted.get(connection)?.()
    this.#unstarted.delete(connection)
  }

  over(connection: EdgeConnection, isUnstarted = false): void {
    const { circuitId, side, address } = connection
    this.detach(connection)
    const controllerId = this.forwarder.controllerOf(circuitId)
    if (controllerId === undefined) return
    const isKnown = this.forwarder.isEnding(circuitId)
    // Earlier messages may still be on their way to another router.
    this.forwarder.unroute(circuitId, false)
    // A controller may be slow, or away: the end at this router does not wait for it.
    this.forwarder.leave(circuitId, address)
    if (!isKnown) this.#parts.tellEnd(circuitId, { side, isUnstarted }, controllerId)
  }

  /** A circuit was laid for a dialer that no longer wants it. */
  unwanted(circuitId: string, controllerId: string): void {
    this.#parts.tellEnd(circuitId, { side: 'ingress', isUnstarted: true }, controllerId)
    this.forwarder.unroute(circuitId, true)
  }

  /** Takes an end away. */
  detach(connection: EdgeConnection): void {
    this.#detach.get(connection)?.()
    this.#detach.delete(connection)
    this.started(connection)
    if (this.#waiting.get(connection.circuitId) === connection) this.#waiting.delete(connection.circuitId)
    if (connection.side === 'egress') this.forwarder.unexpect(connection.circuitId)
  }

  close(): void {
    for (const stop of this.#unstarted.values()) stop()
    this.#ends.close()
  }

  /** Watches the start of a circuit by a client of this router. A client that says that it knows no such connection gave its dial up. */
  #awaitStart(connection: EdgeConnection, askAfterMs: number): void {
    this.#watchStart(connection, START_MS)
    const stopWatch = this.#unstarted.get(connection)
    const stopAsking = this.#parts.timer(askAfterMs, () => void this.#askForStart(connection))
    this.#unstarted.set(connection, () => {
      stopWatch?.()
      stopAsking()
    })
  }

  async #askForStart(connection: EdgeConnection): Promise<void> {
    const isUnknown = await connection.isUnknownToEndpoint(START_MS)
    if (isUnknown && this.#unstarted.has(connection)) connection.cut(NOT_STARTED, true)
  }

  /** Ends a circuit that its client does not start: a dialer that gave up is silent, and a waiting host serves no other dialer. */
  #watchStart(connection: EdgeConnection, withinMs: number): void {
    const stop = this.#parts.timer(withinMs, () => {
      this.#unstarted.delete(connection)
      // The answer to its dial may still wait for a slow client.
      if (connection.isSlow) this.#watchStart(connection, withinMs)
      else connection.cut(NOT_STARTED, true)
    })
    this.#unstarted.set(connection, stop)
  }

  #attach(connection: EdgeConnection): void {
    this.#detach.set(connection, this.forwarder.attach(connection.address, connection))
  }

  #keep(connection: EdgeConnection): void {
    const { circuitId, address, side } = connection
    this.#detach.get(connection)?.()
    this.#detach.delete(connection)
    const end = this.#ends.open(
      { circuitId, side: side === 'ingress' ? 'initiator' : 'terminator' },
      {
        send: (message) => this.forwarder.forward(address, { ...message, sequence: 0 }),
        readable: () => connection.readable(),
        writable: () => connection.writable(),
        over: (reason) => {
          detach()
          connection.writable()
          this.over(connection)
          connection.ended(reason === 'closed' ? '' : `the circuit ended: ${reason}`)
        },
      },
    )
    const detach = this.forwarder.attach(address, {
      // Unread bytes are bounded by the window that their sender gets.
      ...{ isFullFor: () => false, whenRoom: (work: () => void) => work() },
      take: (_circuitId, frame) => {
        if (frame.contentType === EDGE_TYPE.circuitControl) connection.take(circuitId, frame)
        else end.take(frame)
      },
      dropped: (_circuitId, reason) => {
        if (reason !== undefined) connection.ended(reason)
        end.abort()
      },
      deserted: () => connection.deserted(),
    })
    connection.keep(end)
    if (side === 'ingress') end.start()
  }
}

/**
 * The connections of one endpoint whose windows it keeps itself, by their circuits: its messages of circuits name the circuit, and not
 * always the connection. An endpoint that dials its own service has both ends of a circuit.
 */
export class CircuitConnections {
  readonly #ends = { ingress: new Map<string, EdgeConnection>(), egress: new Map<string, EdgeConnection>() }

  /** Adds a connection that has its circuit. */
  add(connection: EdgeConnection): void {
    this.#ends[connection.side].set(connection.circuitId, connection)
  }

  /** Later messages of the circuit lead to no connection. A connection of a further dial for the circuit stays. */
  remove(connection: EdgeConnection): void {
    const { side, circuitId } = connection
    if (this.#ends[side].get(circuitId) === connection) this.#ends[side].delete(circuitId)
  }

  /** The connection of a payload or an acknowledgement; undefined for a message of an earlier connection of the circuit. */
  ofPayload(message: Frame): EdgeConnection | undefined {
    const connection = this.#endOf(circuitOf(message), sideOf(message))
    const named = readUint32(message.headers, EDGE_HEADER.connection)
    return named === undefined || named === connection?.id ? connection : undefined
  }

  /** The connection of a message that names a circuit and no side; `named` has the connection id of the message, if any. */
  ofNamed(named: EdgeConnection | BoundService | undefined, circuitId: string | undefined): EdgeConnection | undefined {
    const isOfCircuit = named?.kind === 'connection' && named.usesXgress && named.circuitId === circuitId
    return isOfCircuit ? named : this.#endOf(circuitId, 'ingress')
  }

  /** The connection that is an end of a circuit; where the endpoint has both ends, the end of a side. */
  #endOf(circuitId: string | undefined, side: EdgeSide): EdgeConnection | undefined {
    if (circuitId === undefined) return undefined
    const other = side === 'ingress' ? 'egress' : 'ingress'
    return this.#ends[side].get(circuitId) ?? this.#ends[other].get(circuitId)
  }
}
