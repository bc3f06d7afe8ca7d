import { operationIdOf, tagOf } from '../../http/openapi/operation-object.ts'
import type { OperationShape } from '../../http/operations/operation.ts'
import { APIS } from '../apis.ts'
import { API_DESCRIPTIONS, type ApiName } from '../documents.ts'
import { resolved, type ShownSchema } from './schema-view.ts'

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

/** The operations whose path, topic and summary together contain every word of the query. */
export function found(entries: readonly ReferenceEntry[], query: string): readonly ReferenceEntry[] {
  const words = query.toLowerCase().split(/\s+/)
  return entries.filter(({ method, path, topic, shape }) => {
    const text = `${method} ${path} ${topic} ${shape.summary}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** The parts that an example is made of. */
export interface ExampleOf {
  readonly method: string
  readonly path: string
  readonly needsSession: boolean
  /** The media type of the body and its schema, where there is one. */
  readonly body: { readonly mediaType: string; readonly schema: ShownSchema } | undefined
}

/** A request on the command line, with the required parts alone. */
export function requestExample({ method, path, needsSession, body }: ExampleOf): string {
  const address = `"https://$CONTROLLER${path.replace(/\{(\w+)\}/g, (_all, name: string) => `$${name.toUpperCase()}`)}"`
  const isJson = body?.mediaType === 'application/json'
  const data = isJson ? `'${JSON.stringify(exampleOf(body.schema)).replaceAll("'", "'\\''")}'` : '@body'
  return [
    `curl --cacert ca.pem${method === 'GET' ? '' : ` -X ${method}`} ${address}`,
    ...(needsSession ? ['-H "zt-session: $TOKEN"'] : []),
    ...(body === undefined ? [] : [`-H 'content-type: ${body.mediaType}' --data-binary ${data}`]),
  ].join(' \\\n  ')
}

/** A value in the form of the schema; an object has its required members. */
function exampleOf(reference: ShownSchema): unknown {
  const schema = resolved(reference)
  const { type, enum: values, properties = {}, required = [], items, oneOf, allOf } = schema
  if (values !== undefined) return values[0]
  if (oneOf !== undefined) return exampleOf(oneOf[0] ?? {})
  if (allOf !== undefined) return Object.assign({}, ...allOf.map(exampleOf))
  switch (type) {
    case 'object':
      return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name] ?? {})]))
    case 'array':
      return items === undefined ? [] : [exampleOf(items)]
    case 'integer':
    case 'number':
      return schema.minimum !== undefined && schema.minimum > 0 ? schema.minimum : 0
    case 'boolean':
      return true
    case 'string':
      return schema.format === 'date-time' ? '2026-01-01T00:00:00Z' : '…'
    default:
      return {}
  }
}
