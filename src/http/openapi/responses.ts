import type { ErrorCode } from '../../base/errors.ts'
import { Created, type OperationShape } from '../operations/operation.ts'
import { MESSAGES, STATUS_OF } from '../pipeline/problem.ts'
import { type JsonObject, jsonSchema } from './openapi-schema.ts'

/** Refusals that many operations answer alike, by the name under which a document keeps them. */
const COMMON_REFUSALS: readonly (readonly [name: string, status: number, codes: readonly ErrorCode[]])[] = [
  ['Invalid', 400, ['COULD_NOT_VALIDATE']],
  ['InvalidBody', 400, ['COULD_NOT_PARSE_BODY', 'COULD_NOT_VALIDATE']],
  ['InvalidList', 400, ['COULD_NOT_VALIDATE', 'INVALID_FILTER', 'INVALID_SORT_IDENTIFIER']],
  ['Unauthorized', 401, ['UNAUTHORIZED']],
  ['RefusedByHost', 403, ['UNAUTHORIZED']],
  ['NotFound', 404, ['NOT_FOUND']],
  ['NotAcceptable', 406, ['COULD_NOT_VALIDATE']],
  ['TooLarge', 413, ['REQUEST_ENTITY_TOO_LARGE']],
  ['UnsupportedMedia', 415, ['COULD_NOT_VALIDATE']],
  ['TooManyRequests', 429, ['SERVER_TOO_MANY_REQUESTS']],
  ['NotImplemented', 501, ['UNHANDLED']],
  ['Unavailable', 503, ['TIMEOUT']],
]

/** The refusals that operations of a document refer to. */
export function commonRefusals(): JsonObject {
  return Object.fromEntries(COMMON_REFUSALS.map(([name, status, codes]) => [name, refusal(status, codes)]))
}

/** The answers of an operation: success, and each status of refusal with its codes. */
export function responsesOf(shape: OperationShape): JsonObject {
  const refusals = [...codesByStatus(shape)]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => [status, referred(status, [...codes].sort())])
  return { [shape.status ?? 200]: successResponse(shape), ...Object.fromEntries(refusals) }
}

function codesByStatus(shape: OperationShape): ReadonlyMap<number, ReadonlySet<ErrorCode>> {
  const found = new Map<number, Set<ErrorCode>>()
  const add = (status: number, code: ErrorCode) => found.set(status, (found.get(status) ?? new Set()).add(code))
  const takesBody = shape.body !== undefined || shape.textBody !== undefined
  for (const code of shape.errors ?? []) add(STATUS_OF[code], code)
  if (shape.symbols || shape.query || takesBody) add(400, 'COULD_NOT_VALIDATE')
  if (shape.symbols) add(400, 'INVALID_FILTER')
  if (shape.symbols && !shape.pagedByFilter) add(400, 'INVALID_SORT_IDENTIFIER')
  if (takesBody) add(400, 'COULD_NOT_PARSE_BODY').set(413, new Set(['REQUEST_ENTITY_TOO_LARGE']))
  if (takesBody) add(415, 'COULD_NOT_VALIDATE')
  if (shape.textBody !== undefined) add(STATUS_OF.UNSUPPORTED_MEDIA, 'UNSUPPORTED_MEDIA')
  if (shape.access !== 'public') add(401, 'UNAUTHORIZED')
  // The host's own authorization may refuse any request with a caller.
  if (shape.access !== 'public') add(403, 'UNAUTHORIZED')
  if (shape.route.includes('{')) add(404, 'NOT_FOUND')
  add(406, 'COULD_NOT_VALIDATE')
  add(429, 'SERVER_TOO_MANY_REQUESTS')
  if (shape.mayBeMissing) add(501, 'UNHANDLED')
  add(503, 'TIMEOUT')
  return found
}

function referred(status: number, codes: readonly ErrorCode[]): JsonObject {
  const common = COMMON_REFUSALS.find((one) => one[1] === status && one[2].join() === codes.join())
  return common === undefined ? refusal(status, codes) : { $ref: `#/components/responses/${common[0]}` }
}

function refusal(status: number, codes: readonly ErrorCode[]): JsonObject {
  const description = codes.map((code) => `\`${code}\`: ${MESSAGES[code]}.`.replace(/\.\.$/, '.')).join(' ')
  const name = status === STATUS_OF.REQUEST_ENTITY_TOO_LARGE ? 'BareError' : 'Error'
  return { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } }
}

function successResponse(shape: OperationShape): JsonObject {
  if (shape.produces !== undefined) {
    const mediaTypes = [shape.produces, ...(shape.orProduces ?? [])]
    const json = shape.data === undefined ? { type: 'object' } : jsonSchema(shape.data)
    const content = mediaTypes.map((mediaType) => [
      mediaType,
      { schema: mediaType === 'application/json' ? json : { type: 'string' } },
    ])
    return { description: 'The document, without an envelope.', content: Object.fromEntries(content) }
  }
  const item = shape.data === undefined ? { type: 'object' } : jsonSchema(shape.data)
  const data = shape.symbols ? { type: 'array', items: item } : item
  const description = dataText(shape)
  const meta = { $ref: `#/components/schemas/${shape.symbols || shape.hasListMeta ? 'ListMeta' : 'Meta'}` }
  const schema = { type: 'object', required: ['data', 'meta'], properties: { data: { ...data, description }, meta } }
  return { description, content: { 'application/json': { schema } } }
}

function dataText({ symbols, data }: OperationShape): string {
  if (symbols !== undefined) return 'The items of the page.'
  if (data === undefined) return 'Empty: the operation is done.'
  return data === Created ? 'Which entity it is about, and where it is found.' : 'The answer.'
}
