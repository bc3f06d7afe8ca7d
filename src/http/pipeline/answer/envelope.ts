import { jsonText } from '../../../engine/records/wire-form/json-text.ts'
import type { FindQuery } from '../../../ports/storage.ts'
import type { Answer } from '../../operations/answer.ts'
import type { OperationShape } from '../../operations/operation.ts'
import { jsonTextResponse } from './json-response.ts'

/** Versions of the API and of the enrollment protocol, in the `meta` of every answer. */
export const API_VERSIONS = { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' } as const

/** Wraps what an operation answers: `data` and `meta`, with pagination and filterable fields for a list. */
export function envelope(shape: OperationShape, answer: Answer, find: FindQuery): Response {
  const status = shape.status ?? 200
  if (answer.raw !== undefined) {
    const headers = { 'content-type': shape.produces ?? 'application/octet-stream', ...answer.headers }
    return new Response(typeof answer.raw === 'string' ? answer.raw : new Uint8Array(answer.raw), { status, headers })
  }
  if (answer.page === undefined && shape.produces !== undefined) {
    return jsonTextResponse(status, jsonText(answer.data), answer.headers)
  }
  if (answer.page === undefined) {
    const text = { data: jsonText(answer.data ?? {}), meta: JSON.stringify({ ...API_VERSIONS, ...answer.meta }) }
    return jsonTextResponse(status, `{"data":${text.data},"meta":${text.meta}}\n`, answer.headers)
  }
  const { items, totalCount } = answer.page
  const pagination = { limit: find.limit ?? items.length, offset: find.offset ?? 0, totalCount }
  const filterableFields = Object.keys(shape.symbols ?? {})
  const meta = { ...API_VERSIONS, filterableFields, pagination }
  const pieces = items.flatMap((item, position) => (position === 0 ? [jsonText(item)] : [',', jsonText(item)]))
  // Joined once: every further copy of a long text costs as much as writing it.
  const text = ['{"data":[', ...pieces, '],"meta":', JSON.stringify(meta), '}\n'].join('')
  return jsonTextResponse(status, text, answer.headers)
}
