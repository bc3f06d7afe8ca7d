import { type EndReason, PAYLOAD_ITEM } from '../../../../src/data-plane.ts'
import type { CircuitEnd, CircuitEnds, EndFacts } from '../../channel/circuit-ends.ts'
import type { Message } from '../../channel/conversation.ts'
import { DATA_FLAG, EDGE_HEADER, EDGE_TYPE } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { readUint32, textBytes, uint32Header } from '../../channel/header-values.ts'
import { ConnectionFailure } from '../connection-failure.ts'
import type { Line, ServiceConnection } from '../service-connection.ts'

/** The way to the router that lines share. */
export interface SharedWay {
  readonly ends: CircuitEnds
  readonly isOpen: boolean
  /** Whether no more waits for the router than should. */
  readonly hasRoom: boolean
  send(message: Message): void
  whenRoom(work: () => void): void
}

/** The facts of a connection whose windows this end keeps. */
export interface WindowedFacts extends EndFacts {
  readonly connectionId: number
}

const NOTHING = new Uint8Array(0)

/**
 * The line of a connection whose windows this end keeps, and not its router: a slow reader slows down only its own sender. It lasts a while
 * longer than its connection, until the other end has all data.
 */
export class WindowedLine implements Line {
  readonly #way: SharedWay
  readonly #facts: WindowedFacts
  readonly #connection: ServiceConnection
  readonly #onOver: () => void
  readonly #end: CircuitEnd
  readonly #id: Uint8Array
  #waitingWriters: (() => void)[] = []
  #isHeld = false
  #isReading = false
  /** The router has ended the circuit: arrived data can still be read, and no more data comes. */
  #isCut = false

  /** `onOver` is called when nothing more is sent or taken. */
  constructor(way: SharedWay, facts: WindowedFacts, connection: ServiceConnection, onOver: () => void) {
    this.#way = way
    this.#facts = facts
    this.#connection = connection
    this.#onOver = onOver
    this.#id = uint32Header(facts.connectionId)
    this.#end = way.ends.open(facts, {
      send: ({ contentType, headers, body }) => {
        way.send({ contentType, headers: new Map(headers).set(EDGE_HEADER.connection, this.#id), body })
      },
      readable: () => this.#read(),
      writable: () => this.#writable(),
      over: (reason) => this.#over(reason),
    })
  }

  /** The circuit is laid: the dialer begins it. */
  start(): void {
    this.#end.start()
  }

  /** A message of the circuit arrived. */
  take(frame: Frame): void {
    this.#end.take(frame)
  }

  /** The router says that the circuit is over, behind all earlier data. */
  cut(): void {
    this.#isCut = true
    this.#read()
  }

  send(body: Uint8Array, flags: number): boolean {
    if (body.length > 0) this.#end.write({ items: itemsOf(flags & ~DATA_FLAG.end), body })
    if ((flags & DATA_FLAG.end) !== 0) this.#end.finish()
    return this.#end.isOver || (this.#end.waitingBytes === 0 && this.#way.hasRoom)
  }

  whenWritable(work: () => void): void {
    if (!this.#end.isOver && this.#end.waitingBytes > 0) this.#waitingWriters.push(work)
    else if (this.#way.hasRoom) queueMicrotask(work)
    else this.#way.whenRoom(work)
  }

  hold(): void {
    this.#isHeld = true
  }

  release(): void {
    this.#isHeld = false
    this.#read()
  }

  close(): void {
    this.#end.close()
  }

  #read(): void {
    if (this.#isReading) return
    this.#isReading = true
    try {
      while (!this.#isHeld) {
        const reading = this.#end.read()
        if (reading === undefined) break
        if (reading.type === 'closed') this.#connection.over()
        else if (reading.type === 'end') this.#connection.arrived(NOTHING, DATA_FLAG.end)
        else this.#connection.arrived(reading.chunk.body, flagsIn(reading.chunk.items))
      }
    } finally {
      this.#isReading = false
    }
    if (this.#isCut && !this.#isHeld) this.#end.abort()
  }

  #writable(): void {
    for (const work of this.#waitingWriters.splice(0)) this.whenWritable(work)
  }

  #over(reason: EndReason): void {
    if (this.#way.isOpen && !this.#isCut) {
      const body = [textBytes(this.#facts.circuitId)]
      this.#way.send({ contentType: EDGE_TYPE.circuitClose, headers: new Map(), body })
    }
    this.#onOver()
    const isAgreed = reason === 'closed' || this.#isCut
    const { service } = this.#connection
    const why = `${service}: the circuit ended: ${reason}`
    this.#connection.over(isAgreed ? undefined : new ConnectionFailure('CONNECTION_LOST', why))
    this.#writable()
  }
}

function itemsOf(flags: number): ReadonlyMap<number, Uint8Array> {
  return flags === 0 ? new Map() : new Map([[PAYLOAD_ITEM.edgeFlags, uint32Header(flags)]])
}

function flagsIn(items: ReadonlyMap<number, Uint8Array>): number {
  return readUint32(items, PAYLOAD_ITEM.edgeFlags) ?? 0
}
