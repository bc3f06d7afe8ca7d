/** Bits that payloads carry. */
export const PAYLOAD_FLAG = {
  /** The last payload: the whole circuit ends. */
  circuitEnd: 1,
  /** Sent by the side that hosts. */
  originator: 2,
  /** The first payload of the side that dialed. */
  circuitStart: 4,
  /** A part of a larger payload. */
  chunk: 8,
  retransmit: 16,
  /** This direction ended, the other one may go on. */
  endOfInput: 32,
  /** Its sender reads no more. */
  writeFailed: 64,
} as const

/** Items that travel with the bytes of a payload, by number. */
export const PAYLOAD_ITEM = {
  trace: 0,
  capabilities: 1,
  /** Flags of the edge message that the bytes came in. */
  edgeFlags: 16,
} as const

/** The edge flag of a direction that ended. */
export const EDGE_FIN = 1

/** Bytes that the two ends of a circuit hand each other, with what belongs to them. */
export interface Chunk {
  readonly items: ReadonlyMap<number, Uint8Array>
  readonly body: Uint8Array
}

/** One numbered message of a circuit. */
export interface Payload extends Chunk {
  readonly circuitId: string
  /** From 0 in each direction. */
  readonly sequence: number
  readonly flags: number
  /** The sender's clock, ms modulo 65,536; undefined where it sent none. */
  readonly sentAt: number | undefined
}

/** The payloads that a receiver has, and the bytes of them that wait to be read. */
export interface Acknowledgement {
  readonly circuitId: string
  readonly sequences: readonly number[]
  /** Whether the side that hosts acknowledges. */
  readonly fromOriginator: boolean
  readonly bufferedBytes: number
  /** {@link Payload.sentAt} of what is acknowledged, unchanged. */
  readonly sentAt: number | undefined
}

/** Which side of a circuit an end is: the one that dialed, or the one that hosts. */
export type CircuitSide = 'initiator' | 'terminator'

/** The flags of one side's own payloads. */
export function sideFlag(side: CircuitSide): number {
  return side === 'terminator' ? PAYLOAD_FLAG.originator : 0
}

/** Whether a payload came from a side. */
export function isFrom(side: CircuitSide, { flags }: Pick<Payload, 'flags'>): boolean {
  return (flags & PAYLOAD_FLAG.originator) === sideFlag(side)
}

/** The clock of payloads: ms modulo 65,536. */
export function shortClock(now: number): number {
  return Math.floor(now) % 65_536
}
