import type { IncomingMessage } from 'node:http'
import { growingBytes } from './growing-bytes.ts'
import { bodyTooLarge, RequestAborted } from './refusal.ts'
import { createTurnstile } from './turnstile.ts'

/** The largest request body accepted unless told otherwise, in bytes (1 MiB). */
export const defaultMaxBodyBytes = 1_048_576

/** A body up to this size, in bytes, is read at once; nearly every request of a real client is smaller. */
const smallBodyBytes = 65_536

/**
 * Larger bodies are read so many at a time in this process. Bodies are read before anybody is authenticated, so without
 * this limit a thousand connections could have a thousand bodies of the largest size held in memory.
 */
const largeBodies = createTurnstile(16)

/**
 * The body of a request, read to its end, or `undefined` when it has none.
 * Bytes are counted as they arrive, so neither a false Content-Length nor a chunked body gets past `maxBytes`.
 * @throws RequestRefused (413) as soon as the body is declared or found to be larger than `maxBytes`.
 * @throws RequestAborted when the client leaves before the end.
 */
export function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const declared = declaredLength(incoming)
  if (declared > maxBytes) return Promise.reject(bodyTooLarge())
  if (incoming.readableEnded) return Promise.resolve(undefined)
  if (incoming.destroyed) return Promise.reject(new RequestAborted())

  return new Promise((resolve, reject) => {
    const bytes = growingBytes(declared)
    let leave: (() => void) | undefined
    const onData = (chunk: Uint8Array) => {
      if (bytes.length + chunk.length > maxBytes) return settle(() => reject(bodyTooLarge()))
      bytes.append(chunk)
      if (bytes.length <= smallBodyBytes || leave !== undefined) return
      incoming.pause()
      leave = largeBodies.enter(() => incoming.resume())
    }
    const onEnd = () => settle(() => resolve(bytes.length === 0 ? undefined : bytes.toUint8Array()))
    const onGone = () => settle(() => reject(new RequestAborted()))
    const settle = (outcome: () => void) => {
      incoming.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone).pause()
      leave?.()
      outcome()
    }
    incoming.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  })
}

/** The number of bytes that Content-Length promises; 0 when the request does not say. */
export function declaredLength(incoming: IncomingMessage): number {
  return Number(incoming.headers['content-length'] ?? 0)
}
