import { ControllerError, invalidField } from '../../../domain/errors.ts'
import { type Limits, tooManyTags } from '../../../domain/limits.ts'
import { isStorable } from '../../../domain/storable-text.ts'

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
 * `COULD_NOT_VALIDATE` for more than so many tags, a member called `__proto__`, more than 50,000 members, or text that no database can keep (the
 * character U+0000, half a surrogate pair).
 */
export function parseJsonBody(text: string, { tags }: Pick<Limits, 'tags'>): unknown {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    throw unparsable(`parsing body failed, because ${error instanceof Error ? error.message : String(error)}`)
  }
  requireFewTags(body, tags)
  checkShape(body)
  return body
}

/** Tags are counted before anything else looks at them; what is stored is judged once more, by whoever stores it. */
function requireFewTags(body: unknown, most: number): void {
  const tags: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'tags') : undefined
  const count = typeof tags === 'object' && tags !== null ? Object.keys(tags).length : 0
  if (count > most) throw tooManyTags(count, most)
}

/** A part of a body that is to be looked at, with the parts around it: names are put together only for an error. */
interface Part {
  readonly value: object
  readonly name: string
  readonly depth: number
  readonly around: Part | undefined
}

function checkShape(body: unknown): void {
  if (typeof body === 'string' && !isStorable(body)) throw unstorable('body')
  if (typeof body !== 'object' || body === null) return
  const open: Part[] = [{ value: body, name: 'body', depth: 0, around: undefined }]
  let members = 0
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part.depth >= MAX_JSON_DEPTH) throw unparsable(`body is nested deeper than ${MAX_JSON_DEPTH} levels`)
    const isList = Array.isArray(part.value)
    const keys = Object.keys(part.value)
    members += keys.length
    if (members > MAX_JSON_MEMBERS) throw invalidField('body', `body has more than ${MAX_JSON_MEMBERS} members`, '')
    for (const key of keys) {
      if (key === '__proto__') throw invalidField('__proto__', '__proto__ in body is not allowed as a name', '')
      if (!isList && !isStorable(key)) throw unstorable(nameOf(part))
      const value: unknown = Reflect.get(part.value, key)
      if (typeof value === 'string') {
        if (!isStorable(value)) throw unstorable(nameOf(part, key))
      } else if (typeof value === 'object' && value !== null) {
        open.push({ value, name: key, depth: part.depth + 1, around: part })
      }
    }
  }
}

/** The path of a part, or of a member of it, in the words of the wire. */
function nameOf(part: Part, member?: string): string {
  const names = member === undefined ? [] : [member]
  for (let at: Part = part; at.around !== undefined; at = at.around) names.unshift(at.name)
  return names.length === 0 ? part.name : names.join('.')
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
