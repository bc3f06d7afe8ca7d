import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FairCapacity } from '../../../../src/concurrency/fair-capacity.ts'
import { announcesBody } from '../tracked-connections.ts'
import { bodyTooLarge, RequestAborted, tooMuchArriving } from './early-response.ts'

/** Default maximum of a request body, in bytes (1 MiB). */
export const DEFAULT_MAX_BODY_BYTES = 1_048_576

/** The maximum of a body, and the bodies that share its memory. */
export interface BodyOptions {
  readonly maxBytes: number
  /** The memory, in bytes, of all bodies that are still arriving; not counted unless given. */
  readonly arriving?: FairCapacity
  /** The network that a body counts for. */
  readonly network: string
}

/**
 * The body of a request, read to its end, or `undefined` when it has none. Bytes are counted as they arrive, so neither a false
 * Content-Length nor a chunked body gets past `maxBytes`. No body ever waits for another: when all bodies together become too large, a body
 * that has been arriving for long is given up.
 * @throws RequestRefused (413) as soon as the body is declared or found to be larger than `maxBytes`, and (429) when it is
 * given up for others.
 * @throws RequestAborted when the client leaves before the end.
 */
export async function readBody(
  incoming: IncomingMessage,
  options: BodyOptions,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (declaredLength(incoming) > options.maxBytes) throw bodyTooLarge()
  if (incoming.readableEnded || !announcesBody(incoming)) return undefined
  // The bytes in the packet of the head are there after this turn of the parser.
  await undefined
  if (incoming.destroyed) throw new RequestAborted()
  return wholeBody(incoming, options.maxBytes) ?? arrivingBody(incoming, options)
}

/** A body that has arrived whole, in one piece; `undefined` for any other. */
function wholeBody(incoming: IncomingMessage, maxBytes: number): Uint8Array<ArrayBuffer> | undefined {
  if (!incoming.complete || incoming.readableLength === 0 || incoming.readableLength > maxBytes) return undefined
  return incoming.read() ?? undefined
}

/** A body, piece by piece. */
function arrivingBody(
  incoming: IncomingMessage,
  { maxBytes, arriving, network }: BodyOptions,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return new Promise((resolve, reject) => {
    const bytes = growingBytes()
    const holder = arriving?.enter(network, () => settle(() => reject(tooMuchArriving())))
    const onData = (chunk: Uint8Array) => {
      if (bytes.length + chunk.length > maxBytes) return settle(() => reject(bodyTooLarge()))
      const before = bytes.reserved
      bytes.append(chunk)
      if (bytes.reserved > before) holder?.take(bytes.reserved - before)
    }
    const onEnd = () => settle(() => resolve(bytes.length === 0 ? undefined : bytes.toUint8Array()))
    const onGone = () => settle(() => reject(new RequestAborted()))
    const settle = (outcome: () => void) => {
      incoming.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone).pause()
      holder?.leave()
      outcome()
    }
    incoming.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  })
}

/** The number of bytes that Content-Length promises; 0 when the request does not say. */
export function declaredLength(incoming: IncomingMessage): number {
  return Number(incoming.headers['content-length'] ?? 0)
}

/** Bytes gathered piece by piece. */
export interface GrowingBytes {
  readonly length: number
  /** The memory that they take so far, in bytes: never more than twice their length and one kilobyte. */
  readonly reserved: number
  append(piece: Uint8Array): void
  toUint8Array(): Uint8Array<ArrayBuffer>
}

const SMALLEST_BLOCK = 1024
const LARGEST_BLOCK = 65_536

/**
 * An empty sequence of bytes. Memory is taken for bytes that have arrived, never for bytes that a client announces. Pieces are copied into
 * blocks rather than kept: a body sent as a million one-byte chunks would otherwise hold a million buffers.
 */
export function growingBytes(): GrowingBytes {
  const full: Uint8Array[] = []
  let block = new Uint8Array(0)
  let used = 0
  let length = 0
  let reserved = 0
  return {
    get length() {
      return length
    },
    get reserved() {
      return reserved
    },
    append(piece) {
      for (let taken = 0; taken < piece.length; ) {
        if (used === block.length) {
          if (used > 0) full.push(block)
          const wanted = Math.max(length, piece.length - taken, SMALLEST_BLOCK)
          block = new Uint8Array(Math.min(wanted, LARGEST_BLOCK))
          reserved += block.length
          used = 0
        }
        const part = piece.subarray(taken, taken + block.length - used)
        block.set(part, used)
        used += part.length
        taken += part.length
        length += part.length
      }
    },
    toUint8Array() {
      if (full.length === 0) return block.subarray(0, used)
      const bytes = new Uint8Array(length)
      let offset = 0
      for (const each of full) {
        bytes.set(each, offset)
        offset += each.length
      }
      bytes.set(block.subarray(0, used), offset)
      return bytes
    },
  }
}

/** How many requests a client may send ahead of the answer to its first; known clients send none. */
const MAX_AHEAD = 32

interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** A connection: whether a request of it is being answered, and the requests that wait for this answer. */
interface Turn {
  isTaken: boolean
  readonly waiting: Exchange[]
}

/**
 * Has the requests of each connection answered one after the other. Node hands out all requests that a client sends ahead at once: a packet
 * of small requests for a large document would fill the memory with answers that nobody reads. A client that sends too many ahead loses its
 * connection.
 */
export function oneAtATime(answer: (incoming: IncomingMessage, outgoing: ServerResponse) => void) {
  const turns = new WeakMap<Socket, Turn>()

  const begin = ({ incoming, outgoing }: Exchange, turn: Turn) => {
    turn.isTaken = true
    // Node emits this only for the answer at the head of its connection, as here.
    outgoing.once('close', () => {
      turn.isTaken = false
      const next = turn.waiting.shift()
      if (next !== undefined && !incoming.socket.destroyed) begin(next, turn)
    })
    answer(incoming, outgoing)
  }

  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { socket } = incoming
    // A request that was sent ahead in the same packet still arrives after its connection is gone.
    if (socket.destroyed) return
    const turn = turns.get(socket) ?? { isTaken: false, waiting: [] }
    turns.set(socket, turn)
    if (!turn.isTaken) begin({ incoming, outgoing }, turn)
    else if (turn.waiting.length < MAX_AHEAD) turn.waiting.push({ incoming, outgoing })
    else socket.destroy()
  }
}
