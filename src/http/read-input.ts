import { ControllerError, invalidField } from '../domain/errors.ts'
import type { FindQuery } from '../ports/storage.ts'
import { parseJsonBody } from './body.ts'
import { readListQuery } from './list-query.ts'
import { isAcceptable, mediaTypeOf } from './media-types.ts'
import type { OperationShape } from './operation.ts'
import { HttpRefusal } from './problem.ts'
import { validate } from './validation.ts'

/** The validated parts of a request. */
export interface Input {
  readonly query: unknown
  readonly find: FindQuery
  readonly body: unknown
  readonly text: string | undefined
}

/**
 * Checks a request against its operation's declaration: content type, accepted types, query and body. Errors: 415 and 406
 * (`COULD_NOT_VALIDATE` naming the header), and the validation errors of the parts.
 */
export function readInput(shape: OperationShape, request: Request, url: URL, bodyText: string): Input {
  const produced = shape.produces ?? 'application/json'
  const accept = request.headers.get('accept')
  if (!isAcceptable(accept, produced)) {
    const reason = `unsupported media type requested, only [${produced}] are available`
    throw new HttpRefusal('COULD_NOT_VALIDATE', 406, { field: 'Accept', reason, value: accept ?? '' })
  }
  const isText = takesText(shape, request, bodyText)
  return {
    query: shape.query === undefined ? {} : validate(shape.query, Object.fromEntries(url.searchParams), 'query'),
    find: shape.symbols === undefined ? {} : readListQuery(url.searchParams, shape.symbols, shape.byRole),
    body: shape.body === undefined || isText ? undefined : readBody(shape, bodyText),
    text: isText ? bodyText : undefined,
  }
}

function takesText(shape: OperationShape, request: Request, bodyText: string): boolean {
  const contentType = request.headers.get('content-type')
  const mediaType = mediaTypeOf(contentType)
  if (mediaType !== undefined && shape.textBody?.includes(mediaType)) return true
  if (shape.body === undefined || bodyText === '' || mediaType === 'application/json') return false
  const allowed = ['application/json', ...(shape.textBody ?? [])].join(',')
  const given = contentType ?? 'application/octet-stream'
  const reason = `unsupported media type "${given}", only [${allowed}] are allowed`
  throw new HttpRefusal('COULD_NOT_VALIDATE', 415, { field: 'Content-Type', reason, value: given })
}

function readBody(shape: OperationShape, bodyText: string): unknown {
  if (shape.body === undefined) return undefined
  if (bodyText.trim() === '') {
    if (shape.bodyOptional) return undefined
    throw invalidField('body', 'body is required', undefined)
  }
  const body = parseJsonBody(bodyText)
  if (body === null && shape.bodyOptional) return undefined
  return validate(shape.body, spelled(shape, body), 'body')
}

/** A body, or each element of a list, in the spelling of the declaration. A member that is null counts as not sent (ruling R33); members inside of maps keep their nulls. */
function spelled(shape: OperationShape, body: unknown): unknown {
  if (Array.isArray(body)) return body.map((element) => spelled(shape, element))
  if (!isObject(body)) return body
  const sent = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
  return shape.spellings?.(sent) ?? sent
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Refuses content that is encoded: the limit on bodies counts the bytes that are there. */
export function refuseEncodedBody(request: Request): void {
  const encoding = request.headers.get('content-encoding')
  if (encoding === null || encoding.toLowerCase() === 'identity') return
  const reason = `unsupported content encoding "${encoding}", only [identity] is allowed`
  throw new HttpRefusal('COULD_NOT_VALIDATE', 415, { field: 'Content-Encoding', reason, value: encoding })
}

/** Enrollment by PEM answers JSON only, with a code of its own for clients that do not take it. */
export function requireJsonAccepted(headers: Headers): void {
  if (!isAcceptable(headers.get('accept'), 'application/json')) throw new ControllerError('UNSUPPORTED_MEDIA')
}
