import type { FindQuery } from '../ports/storage.ts'
import { jsonResponse } from './json-response.ts'
import type { Answer, OperationShape } from './operation.ts'

/** Versions of the API and of the enrollment protocol, in the `meta` of every answer. */
export const API_VERSIONS = { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' } as const

/** Wraps what an operation answers: `data` and `meta`, with pagination and filterable fields for a list. */
export function envelope(shape: OperationShape, answer: Answer, find: FindQuery): Response {
  const status = shape.status ?? 200
  if (answer.raw !== undefined) {
    const headers = { 'content-type': shape.produces ?? 'application/octet-stream', ...answer.headers }
    return new Response(typeof answer.raw === 'string' ? answer.raw : new Uint8Array(answer.raw), { status, headers })
  }
  if (answer.page === undefined) {
    return jsonResponse(status, { data: answer.data ?? {}, meta: { ...API_VERSIONS, ...answer.meta } }, answer.headers)
  }
  const { items, totalCount } = answer.page
  const pagination = { limit: find.limit ?? items.length, offset: find.offset ?? 0, totalCount }
  const filterableFields = Object.keys(shape.symbols ?? {})
  return jsonResponse(status, { data: items, meta: { ...API_VERSIONS, filterableFields, pagination } }, answer.headers)
}
