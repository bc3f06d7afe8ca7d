import { APIS } from '../api.ts'
import { API_DESCRIPTIONS, type ApiName } from '../documents.ts'
import { operationIdOf } from '../openapi/operation-object.ts'
import { tagOf } from '../openapi/tags.ts'
import type { OperationShape } from '../operations/operation.ts'

/** An operation, and where it stands in the reference. */
export interface ReferenceEntry {
  readonly api: ApiName
  /** Names it within its API, and its page. */
  readonly id: string
  readonly method: string
  /** Whole, with the base of its API. */
  readonly path: string
  readonly topic: string
  readonly shape: OperationShape
}

/** The APIs, in the order of the documents. */
// Object.keys forgets which keys there are.
export const API_NAMES = Object.keys(API_DESCRIPTIONS) as readonly ApiName[]

/** The operations of every API, in the order of the documents. */
export function referenceEntries(): readonly ReferenceEntry[] {
  return API_NAMES.flatMap((api) =>
    APIS[api].map(({ shape }) => {
      const [method = '', path = ''] = shape.route.split(' ')
      const whole = `${API_DESCRIPTIONS[api].basePath}${path}`
      return { api, id: operationIdOf(shape.route), method, path: whole, topic: tagOf(shape.route), shape }
    }),
  )
}

/** The operations whose path, topic or summary have every word of the query, as parts of theirs. */
export function found(entries: readonly ReferenceEntry[], query: string): readonly ReferenceEntry[] {
  const words = query.toLowerCase().split(/\s+/)
  return entries.filter(({ method, path, topic, shape }) => {
    const text = `${method} ${path} ${topic} ${shape.summary}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
