import type { Route } from '../../../../src/facts/fabric/messages/index.ts'
import { CircuitEnds } from '../../channel/circuit-ends.ts'
import type { Timer } from '../../channel/conversation.ts'
import { EDGE_TYPE } from '../../channel/edge-messages.ts'
import type { Forwarder } from '../forwarder.ts'
import type { ConnectionCircuits, EdgeConnection, EdgeSide } from './edge-connection.ts'

/** The surroundings of the circuits that begin or end at a router. */
export interface EdgeCircuitsParts {
  readonly forwarder: Forwarder
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
  readonly timer: Timer
  /** Tells the controller that laid a circuit that it is over at one of its ends. */
  readonly tellEnd: (circuitId: string, side: EdgeSide, controllerId: string | undefined) => void
}

/**
 * Connects the ends of circuits at this router: two whose endpoints leave windows to routers are spliced, one of them alone
 * gets order and windows kept for it, and endpoints that keep these themselves only have their messages forwarded.
 */
export class EdgeCircuits implements ConnectionCircuits {
  readonly forwarder: Forwarder
  readonly #parts: EdgeCircuitsParts
  readonly #ends: CircuitEnds
  /** Ends of hosts whose clients are at this router and not there yet, by circuit. */
  readonly #waiting = new Map<string, EdgeConnection>()
  readonly #detach = new Map<EdgeConnection, () => void>()

  constructor(parts: EdgeCircuitsParts) {
    this.#parts = parts
    this.forwarder = parts.forwarder
    this.#ends = new CircuitEnds(parts.now, parts.timer)
  }

  /** A host is being dialed: its end is there before it answers. */
  hosting(connection: EdgeConnection, { circuitId, egress, forwards }: Route): void {
    const address = egress?.address ?? ''
    connection.enter(circuitId, address)
    const client = forwards.find(({ srcAddress }) => srcAddress === address)
    this.#attach(connection)
    if (connection.usesXgress) return
    if (client?.dstType === 'start') this.#waiting.set(circuitId, connection)
    else this.#keep(connection)
  }

  /** A client's dial succeeded, and it has the answer. */
  dialed(connection: EdgeConnection, circuitId: string, address: string): void {
    connection.enter(circuitId, address)
    const host = this.#waiting.get(circuitId)
    this.#waiting.delete(circuitId)
    this.#attach(connection)
    if (host !== undefined && !connection.usesXgress) {
      connection.splice(host)
      host.splice(connection)
      return
    }
    if (host !== undefined) this.#keep(host)
    if (!connection.usesXgress) this.#keep(connection)
  }

  over(connection: EdgeConnection): void {
    const { circuitId, side } = connection
    this.detach(connection)
    const controllerId = this.forwarder.controllerOf(circuitId)
    if (controllerId === undefined) return
    this.#parts.tellEnd(circuitId, side, controllerId)
    // The other end may still have something to say to the one that is left.
    this.forwarder.unroute(circuitId, false)
  }

  /** A circuit was laid for somebody who does not want it any more. */
  unwanted(circuitId: string, controllerId: string): void {
    this.#parts.tellEnd(circuitId, 'ingress', controllerId)
    this.forwarder.unroute(circuitId, true)
  }

  /** Takes an end away. */
  detach(connection: EdgeConnection): void {
    this.#detach.get(connection)?.()
    this.#detach.delete(connection)
    if (this.#waiting.get(connection.circuitId) === connection) this.#waiting.delete(connection.circuitId)
  }

  close(): void {
    this.#ends.close()
  }

  #attach(connection: EdgeConnection): void {
    this.#detach.set(connection, this.forwarder.attach(connection.address, connection))
  }

  #keep(connection: EdgeConnection): void {
    const { circuitId, address, side } = connection
    this.detach(connection)
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
      ...{ isFull: false, whenRoom: (work: () => void) => work() },
      take: (_circuitId, frame) => {
        if (frame.contentType === EDGE_TYPE.circuitControl) connection.take(circuitId, frame)
        else end.take(frame)
      },
      dropped: () => end.abort(),
    })
    connection.keep(end)
    if (side === 'ingress') end.start()
  }
}
