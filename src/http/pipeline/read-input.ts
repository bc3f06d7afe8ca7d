import { z } from 'zod'
import { ControllerError, invalidField } from '../../base/errors.ts'
import { type Limits, tooManyTags } from '../../base/limits.ts'
import { isStorable } from '../../base/text.ts'
import { readBody } from '../../kernel/declaration/read-body.ts'
import { MAX_BODY_BYTES, requireKeepable, tooLarge, unparsable, validate } from '../../kernel/declaration/validation.ts'
import type { SymbolTable } from '../../kernel/filter/index.ts'
import type { FindQuery } from '../../ports/record-storage.ts'
import type { PlainRequest } from '../exchange.ts'
import { readFilter, readListQuery } from '../operations/list-query.ts'
import type { OperationShape } from '../operations/operation.ts'
import { HttpRefusal } from './problem.ts'

/** The media type of forms, as browsers and every client of OAuth 2.0 send them. */
export const FORM = 'application/x-www-form-urlencoded'

/** The media type of a Content-Type header, lower case, without parameters. */
export function mediaTypeOf(contentType: string | null): string | undefined {
  return contentType?.split(';')[0]?.trim().toLowerCase() || undefined
}

const TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]+"
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}$`)

/** Reports whether a Content-Type header names a media type at all. */
function isMediaType(contentType: string): boolean {
  return MEDIA_TYPE.test(mediaTypeOf(contentType) ?? '')
}

/** Reports whether an Accept header (absent: everything) admits a media type. Quality values are not weighed. */
export function isAcceptable(accept: string | null, mediaType: string): boolean {
  if (accept === null || accept.trim() === '') return true
  const [type = ''] = mediaType.split('/')
  return accept
    .split(',')
    .map((range) => mediaTypeOf(range))
    .some((range) => range === '*/*' || range === mediaType || range === `${type}/*`)
}

/** The validated parts of a request. */
export interface Input {
  readonly query: unknown
  readonly form: ReadonlyMap<string, string>
  readonly find: FindQuery
  readonly body: unknown
  readonly text: string | undefined
}

/** The rules by which a controller reads requests. */
export interface InputRules {
  readonly limits: Limits
  /** Refuses members of bodies that the operation does not know. */
  readonly refuseUnknownMembers: boolean
}

/**
 * Checks a request against its operation's declaration: content type, accepted types, query and body. Errors: 415 and 406
 * (`COULD_NOT_VALIDATE` naming the header), `UNSUPPORTED_MEDIA`, and the validation errors of the parts.
 */
export function readInput(
  shape: OperationShape,
  request: PlainRequest,
  url: URL,
  bodyText: string,
  rules: InputRules,
): Input {
  const isText = !shape.form && takesText(shape, request, bodyText)
  if (!shape.form) requireAccepted(shape, request.headers.get('accept'), isText)
  return {
    form: shape.form ? formParameters(url, request, bodyText) : new Map(),
    query: shape.query === undefined ? {} : validate(shape.query, queryIn(url, shape.query), 'query'),
    find: shape.symbols === undefined ? {} : findQuery(shape.symbols, shape, url.searchParams),
    body: shape.body === undefined || isText ? undefined : readJsonBody(shape, bodyText, rules),
    text: isText ? bodyText : undefined,
  }
}

function formParameters(url: URL, request: PlainRequest, bodyText: string): ReadonlyMap<string, string> {
  const isForm = mediaTypeOf(request.headers.get('content-type')) === FORM
  return new Map([...(isForm ? readForm(bodyText) : []), ...storable(url.searchParams)])
}

function findQuery(symbols: SymbolTable, shape: OperationShape, parameters: URLSearchParams): FindQuery {
  return shape.pagedByFilter ? readFilter(parameters, symbols) : readListQuery(parameters, symbols, shape.byRole)
}

/** The parameters of a query. A repeatable parameter is a list; of any other, the last value counts. */
function queryIn(url: URL, schema: z.ZodObject): Readonly<Record<string, unknown>> {
  const lists = Object.entries(schema.shape).flatMap(([name, type]) =>
    url.searchParams.has(name) && isList(type) ? [[name, url.searchParams.getAll(name)]] : [],
  )
  return { ...Object.fromEntries(url.searchParams), ...Object.fromEntries(lists) }
}

function isList(type: z.core.$ZodType): boolean {
  return type instanceof z.ZodOptional ? isList(type.unwrap()) : type instanceof z.ZodArray
}

/** A request with text is answered like any other, but gets a code of its own when text is not accepted. */
function requireAccepted(shape: OperationShape, accept: string | null, isText: boolean): void {
  const produced = shape.produces ?? 'application/json'
  const forms = [produced, ...(shape.orProduces ?? [])]
  if (forms.some((mediaType) => isAcceptable(accept, mediaType))) return
  // Generated clients ask for JSON with every GET; an operation with a single form answers in it.
  if (shape.route.startsWith('GET ') && forms.length === 1 && isAcceptable(accept, 'application/json')) return
  if (isText) throw new ControllerError('UNSUPPORTED_MEDIA')
  const reason = `unsupported media type requested, only [${produced}] are available`
  throw new HttpRefusal('COULD_NOT_VALIDATE', 406, { field: 'Accept', reason, value: accept ?? '' })
}

function takesText(shape: OperationShape, request: PlainRequest, bodyText: string): boolean {
  const contentType = request.headers.get('content-type')
  const mediaType = mediaTypeOf(contentType)
  if (mediaType !== undefined && shape.textBody?.includes(mediaType)) return true
  const allowed = [...(shape.body === undefined ? [] : ['application/json']), ...(shape.textBody ?? [])]
  if (allowed.length === 0 || bodyText === '') return false
  if (mediaType !== undefined && allowed.includes(mediaType)) return false
  if (contentType !== null && !isMediaType(contentType)) {
    const message = `malformed content type header "${contentType}"`
    throw new ControllerError('COULD_NOT_PARSE_BODY', { code: 'UNHANDLED', message })
  }
  const given = contentType ?? 'application/octet-stream'
  const reason = `unsupported media type "${given}", only [${allowed.join(',')}] are allowed`
  throw new HttpRefusal('COULD_NOT_VALIDATE', 415, { field: 'Content-Type', reason, value: given })
}

function readJsonBody(shape: OperationShape, bodyText: string, { limits, refuseUnknownMembers }: InputRules): unknown {
  if (shape.body === undefined) return undefined
  if (bodyText.trim() === '') {
    if (shape.bodyOptional) return undefined
    throw invalidField('body', 'body is required', undefined)
  }
  const body = parseJsonBody(bodyText, limits)
  if (body === null && shape.bodyOptional) return undefined
  return readBody({ body: shape.body, spellings: shape.spellings, refusesUnknown: refuseUnknownMembers }, body)
}

/** Refuses an encoded body: the limit on bodies counts the bytes that arrive. */
export function refuseEncodedBody(request: PlainRequest): void {
  const encoding = request.headers.get('content-encoding')
  if (encoding === null || encoding.toLowerCase() === 'identity') return
  const reason = `unsupported content encoding "${encoding}", only [identity] is allowed`
  throw new HttpRefusal('COULD_NOT_VALIDATE', 415, { field: 'Content-Encoding', reason, value: encoding })
}

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
 * Parses a JSON body. Errors: `COULD_NOT_PARSE_BODY` for invalid JSON, `COULD_NOT_VALIDATE` for more tags than `tags`,
 * and for text that cannot be kept.
 */
function parseJsonBody(text: string, { tags }: Pick<Limits, 'tags'>): unknown {
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

/** Tags are counted before anything else looks at them. The code that stores them judges them once more. */
function requireFewTags(body: unknown, most: number): void {
  const tags: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'tags') : undefined
  const count = typeof tags === 'object' && tags !== null ? Object.keys(tags).length : 0
  if (count > most) throw tooManyTags(count, most)
}

/** The parameters of a form's body. Error: `COULD_NOT_VALIDATE` as for {@link storable}. */
export function readForm(bodyText: string): URLSearchParams {
  return storable(new URLSearchParams(bodyText))
}

/** The parameters. Error: `COULD_NOT_VALIDATE` naming a parameter that no database can keep as it is. */
function storable(parameters: URLSearchParams): URLSearchParams {
  for (const [name, value] of parameters) {
    if (isStorable(name) && isStorable(value)) continue
    throw invalidField(isStorable(name) ? name : 'form', 'holds U+0000 or half a surrogate pair', '')
  }
  return parameters
}
