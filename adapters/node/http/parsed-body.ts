import type { IncomingMessage } from 'node:http'
import { declaredLength } from './body.ts'

/**
 * The bytes of a body that a framework has already read and parsed into `incoming.body` (Express after
 * `express.json()`, `express.urlencoded()`, `express.text()` or `express.raw()`), or `undefined` when it was empty.
 * @throws Error when the body was read by someone who left nothing in its place.
 */
export function serializeParsedBody(incoming: IncomingMessage): Uint8Array<ArrayBuffer> | undefined {
  const declaresBody = declaredLength(incoming) > 0 || incoming.headers['transfer-encoding'] !== undefined
  if (!declaresBody) return undefined
  const body = 'body' in incoming ? incoming.body : undefined
  if (body === undefined) {
    throw new Error('The request body was read before portcullis could, and no parsed `body` was left on the request')
  }
  if (body instanceof Uint8Array) return new Uint8Array(body)
  return new TextEncoder().encode(textOf(body, incoming.headers['content-type'] ?? ''))
}

/** Whether a framework has started reading the stream, so that only its parsed body is left. */
export function isBodyConsumed(incoming: IncomingMessage): boolean {
  return incoming.readableDidRead
}

function textOf(body: unknown, contentType: string): string {
  if (typeof body === 'string') return body
  const isForm = contentType.trim().toLowerCase().startsWith('application/x-www-form-urlencoded')
  return isForm && typeof body === 'object' && body !== null ? formText(body) : JSON.stringify(body)
}

function formText(fields: object): string {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    for (const each of Array.isArray(value) ? value : [value]) form.append(name, String(each))
  }
  return form.toString()
}
