import { encodeFrame, type Frame, FrameReader } from '../../adapters/network/channel/frame.ts'
import type { Choices } from './choices.ts'

/** The share of writes that arrive in several pieces, and the most pieces. */
const SHARE_CUT = 0.7
const MOST_PIECES = 4
const ANY_SIZE = { headers: Number.MAX_SAFE_INTEGER, body: Number.MAX_SAFE_INTEGER }

/** Bytes of the data model that are longer than any piece, and than the room that small pieces share. */
const LONG_BYTES = 20_000
/** The effect of cuts that a run counts. */
export const IN_PIECES = 'message in several pieces'

/** Cuts sent bytes anywhere, as sockets do: an end reads a message of several pieces. */
export class ByteCuts {
  readonly #choices: Choices
  readonly #did: (effect: string) => void

  constructor(choices: Choices, did: (effect: string) => void) {
    this.#choices = choices
    this.#did = did
  }

  /** The pieces in which bytes arrive. None is empty. */
  piecesOf(bytes: Uint8Array): readonly Uint8Array[] {
    if (!this.#choices.happens(SHARE_CUT)) return [bytes]
    const cuts = Array.from({ length: 1 + this.#choices.below(MOST_PIECES - 1) }, () =>
      this.#choices.below(bytes.length),
    )
    const ends = [...new Set([...cuts, bytes.length])].sort((one, other) => one - other)
    return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end)).filter(({ length }) => length > 0)
  }

  /** A message as an end reads it from such pieces. */
  reread(frame: Frame): Frame {
    const reader = new FrameReader(ANY_SIZE)
    const [read] = this.piecesOf(Buffer.concat(encodeFrame(frame))).flatMap((piece) => reader.push(piece))
    if (read === undefined) throw new Error('a whole message was sent')
    this.arrived(read)
    return read
  }

  /** Counts a message whose body arrived in several pieces. */
  arrived({ body }: Frame): void {
    if (body.length > 1) this.#did(IN_PIECES)
  }
}

/** Makes the data model of a network so long that its pieces are long as well. */
export async function lengthenModel(call: (method: string, path: string, body: object) => Promise<unknown>) {
  const { id } = Object(await call('POST', '/config-types', { name: 'long' }))
  await call('POST', '/configs', { name: 'long', configTypeId: String(id), data: { text: 'x'.repeat(LONG_BYTES) } })
}
