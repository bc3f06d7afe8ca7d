/** Bits that payloads carry. */
export const PAYLOAD_FLAG = {
  /** The last payload: the whole circuit ends. */
  circuitEnd: 1,
  /** Sent by the hosting side. */
  originator: 2,
  /** The first payload of the dialing side. */
  circuitStart: 4,
  /** A part of a larger payload. */
  chunk: 8,
  retransmit: 16,
  /** This direction has ended; the other direction may go on. */
  endOfInput: 32,
  /** Its sender reads no more. */
  writeFailed: 64,
} as const

/** Numbers of the items that travel with the bytes of a payload. */
export const PAYLOAD_ITEM = {
  trace: 0,
  capabilities: 1,
  /** Flags of the edge message that carried the bytes. */
  edgeFlags: 16,
} as const

/** The edge flag of a direction that ended. */
export const EDGE_FIN = 1

/** Bytes between the two ends of a circuit, with their items. */
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
  /** The sender's clock, ms modulo 65,536; undefined if not sent. */
  readonly sentAt: number | undefined
}

/** Bytes beside its content that a payload costs where it is kept: a flood of small ones is no way around the windows. */
const KEPT_BYTES = 256

/** Bytes that a payload costs where it is kept. */
export function costOf({ items, body }: Chunk): number {
  let bytes = KEPT_BYTES + body.length
  for (const value of items.values()) bytes += KEPT_BYTES + value.length
  return bytes
}

/** The payloads that a receiver has, and the fill of its buffer. */
export interface Acknowledgement {
  readonly circuitId: string
  readonly sequences: readonly number[]
  /** True when the hosting side acknowledges. */
  readonly fromOriginator: boolean
  readonly bufferedBytes: number
  /** {@link Payload.sentAt} of the acknowledged payload, unchanged. */
  readonly sentAt: number | undefined
}

/** The side of a circuit at an end: the dialer or the host. */
export type CircuitSide = 'initiator' | 'terminator'

/** The flags of a side's own payloads. */
export function sideFlag(side: CircuitSide): number {
  return side === 'terminator' ? PAYLOAD_FLAG.originator : 0
}

/** Reports whether a payload came from a side. */
export function isFrom(side: CircuitSide, { flags }: Pick<Payload, 'flags'>): boolean {
  return (flags & PAYLOAD_FLAG.originator) === sideFlag(side)
}

/** The clock of payloads: ms modulo 65,536. */
export function shortClock(now: number): number {
  return Math.floor(now) % 65_536
}
