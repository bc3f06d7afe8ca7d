import { z } from 'zod'
import { ControllerError, invalidField } from '../../../domain/errors.ts'
import type { SymbolTable } from '../../../domain/filter/index.ts'
import type { Limits } from '../../../domain/limits.ts'
import type { FindQuery } from '../../../ports/storage.ts'
import { readBody } from '../../../resources/requests/read-body.ts'
import { validate } from '../../../resources/requests/validation.ts'
import type { PlainRequest } from '../../exchange/plain-exchange.ts'
import { readFilter, readListQuery } from '../../operations/list-query.ts'
import type { OperationShape } from '../../operations/operation.ts'
import { HttpRefusal } from '../answer/problem.ts'
import { parseJsonBody } from './body.ts'
import { readForm, storable } from './form.ts'
import { FORM, isAcceptable, isMediaType, mediaTypeOf } from './media-types.ts'

/** The validated parts of a request. */
export interface Input {
  readonly query: unknown
  readonly form: ReadonlyMap<string, string>
  readonly find: FindQuery
  readonly body: unknown
  readonly text: string | undefined
}

/** What a controller bears of requests. */
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

/** The parameters of a query; one that may be repeated is a list, of any other the last one counts. */
function queryIn(url: URL, schema: z.ZodObject): Readonly<Record<string, unknown>> {
  const lists = Object.entries(schema.shape).flatMap(([name, type]) =>
    url.searchParams.has(name) && isList(type) ? [[name, url.searchParams.getAll(name)]] : [],
  )
  return { ...Object.fromEntries(url.searchParams), ...Object.fromEntries(lists) }
}

function isList(type: z.core.$ZodType): boolean {
  return type instanceof z.ZodOptional ? isList(type.unwrap()) : type instanceof z.ZodArray
}

/** Who sends text is answered like everybody, but is told with a code of its own when that is not accepted. */
function requireAccepted(shape: OperationShape, accept: string | null, isText: boolean): void {
  const produced = shape.produces ?? 'application/json'
  const forms = [produced, ...(shape.orProduces ?? [])]
  if (forms.some((mediaType) => isAcceptable(accept, mediaType))) return
  // Generated clients ask every GET for JSON; what has one form is answered in it.
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

/** Refuses content that is encoded: the limit on bodies counts the bytes that are there. */
export function refuseEncodedBody(request: PlainRequest): void {
  const encoding = request.headers.get('content-encoding')
  if (encoding === null || encoding.toLowerCase() === 'identity') return
  const reason = `unsupported content encoding "${encoding}", only [identity] is allowed`
  throw new HttpRefusal('COULD_NOT_VALIDATE', 415, { field: 'Content-Encoding', reason, value: encoding })
}
