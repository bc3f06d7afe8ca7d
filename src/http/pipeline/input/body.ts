import { type Limits, tooManyTags } from '../../../domain/limits.ts'
import { MAX_BODY_BYTES, requireKeepable, tooLarge, unparsable } from '../../../resources/requests/json-limits.ts'
import type { PlainRequest } from '../../exchange/plain-exchange.ts'

/** Decodes a body. Error: `REQUEST_ENTITY_TOO_LARGE`. */
export async function readBodyText(request: PlainRequest): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge()
  const bytes = await request.readBody()
  if (bytes === undefined) return ''
  if (bytes.byteLength > MAX_BODY_BYTES) throw tooLarge()
  return new TextDecoder().decode(bytes)
}

/** The body of a web request, its bytes counted on the stream. Error: `REQUEST_ENTITY_TOO_LARGE`. */
export async function readWebBody(request: Request): Promise<Uint8Array | undefined> {
  if (request.body === null) return undefined
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
  return body
}

/**
 * Parses a JSON body. Errors: `COULD_NOT_PARSE_BODY` for what is not JSON, `COULD_NOT_VALIDATE` for more than so many tags,
 * and those of what cannot be kept.
 */
export function parseJsonBody(text: string, { tags }: Pick<Limits, 'tags'>): unknown {
  const body = parsed(text)
  requireFewTags(body, tags)
  requireKeepable(body, 'body')
  return body
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw unparsable(`parsing body failed, because ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Tags are counted before anything else looks at them; what is stored is judged once more, by whoever stores it. */
function requireFewTags(body: unknown, most: number): void {
  const tags: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'tags') : undefined
  const count = typeof tags === 'object' && tags !== null ? Object.keys(tags).length : 0
  if (count > most) throw tooManyTags(count, most)
}
