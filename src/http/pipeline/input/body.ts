import { ControllerError, invalidField } from '../../../domain/errors.ts'

/** Bytes that a request's body may have (interface: wire limits). */
const MAX_BODY_BYTES = 1_048_576
const MAX_JSON_DEPTH = 64
const MAX_JSON_MEMBERS = 50_000

/** Reads a body as text, counting its bytes on the stream. Error: `REQUEST_ENTITY_TOO_LARGE`. */
export async function readBodyText(request: Request): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge()
  if (request.body === null) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request.body) {
    bytes += chunk.byteLength
    if (bytes > MAX_BODY_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  const body = new Uint8Array(bytes)
  let offset = 0
  for (const chunk of chunks) {
    body.set(chunk, offset)
    offset += chunk.byteLength
  }
  return new TextDecoder().decode(body)
}

/**
 * Parses a JSON body. Errors: `COULD_NOT_PARSE_BODY` for what is not JSON or is nested deeper than 64 levels,
 * `COULD_NOT_VALIDATE` for a member called `__proto__`, more than 50,000 members, or text that no database can keep (the
 * character U+0000, half a surrogate pair).
 */
export function parseJsonBody(text: string): unknown {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    throw unparsable(`parsing body failed, because ${error instanceof Error ? error.message : String(error)}`)
  }
  checkShape(body)
  return body
}

function checkShape(body: unknown): void {
  const open: { value: unknown; depth: number; name: string }[] = [{ value: body, depth: 0, name: 'body' }]
  let members = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth, name } = next
    if (typeof value === 'string' && !isStorable(value)) throw unstorable(name)
    if (typeof value !== 'object' || value === null) continue
    if (depth >= MAX_JSON_DEPTH) throw unparsable(`body is nested deeper than ${MAX_JSON_DEPTH} levels`)
    for (const [key, member] of Object.entries(value)) {
      if (key === '__proto__') throw invalidField('__proto__', '__proto__ in body is not allowed as a name', '')
      members += 1
      if (members > MAX_JSON_MEMBERS) throw invalidField('body', `body has more than ${MAX_JSON_MEMBERS} members`, '')
      if (!isStorable(key)) throw unstorable(name)
      open.push({ value: member, depth: depth + 1, name: depth === 0 ? key : `${name}.${key}` })
    }
  }
}

/** Reports whether every storage can keep a text as it is. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000')
}

function unstorable(field: string): ControllerError {
  return invalidField(field, `${field} in body holds U+0000 or half a surrogate pair`, '')
}

function tooLarge(): ControllerError {
  return new ControllerError('REQUEST_ENTITY_TOO_LARGE')
}

function unparsable(message: string): ControllerError {
  return new ControllerError('COULD_NOT_PARSE_BODY', { code: 'UNHANDLED', message })
}
