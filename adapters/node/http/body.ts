import type { IncomingMessage } from 'node:http'
import type { FairCapacity } from '../../../src/concurrency/fair-capacity.ts'
import { announcesBody } from '../sockets/announced-body.ts'
import { growingBytes } from './growing-bytes.ts'
import { bodyTooLarge, RequestAborted, tooMuchArriving } from './refusal.ts'

/** The largest request body accepted unless told otherwise, in bytes (1 MiB). */
export const DEFAULT_MAX_BODY_BYTES = 1_048_576

/** How much of a body is read, and what it shares its memory with. */
export interface BodyOptions {
  readonly maxBytes: number
  /** The memory, in bytes, of all bodies that are still arriving; without it nobody counts it. */
  readonly arriving?: FairCapacity
  /** The network that a body counts for. */
  readonly network: string
}

/**
 * The body of a request, read to its end, or `undefined` when it has none.
 * Bytes are counted as they arrive, so neither a false Content-Length nor a chunked body gets past `maxBytes`. No body ever
 * waits for another one: where all of them become too much, one that has been arriving for long is given up.
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
  // Whatever came in one packet with the head is there after this turn of the parser.
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
