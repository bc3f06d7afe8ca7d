import { z } from 'zod'
import { ListQuery } from './list-query.ts'
import type { Access, Operation, OperationShape } from './operation.ts'
import { parameterText } from './parameter-texts.ts'
import { STATUS_OF } from './problem.ts'
import { RoleFilterQuery } from './role-filter.ts'

type JsonObject = Record<string, unknown>

/** What a document says of the API as a whole. */
export interface ApiDescription {
  readonly title: string
  readonly description: string
  readonly version: string
  /** The path below which the operations are served. */
  readonly basePath: string
}

/** Writes the OpenAPI 3.0 document of an API from its operations. */
export function openApiDocument(operations: readonly Operation[], about: ApiDescription): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const { shape } of operations) {
    const [method = '', path = ''] = shape.route.split(' ')
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(shape) }
  }
  return {
    openapi: '3.0.3',
    info: {
      title: about.title,
      description: about.description,
      version: about.version,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: about.basePath }],
    security: [{ ztSession: [] }],
    paths,
    components: {
      securitySchemes: { ztSession: { type: 'apiKey', in: 'header', name: 'zt-session' } },
      schemas: { Error: ERROR_SCHEMA },
    },
  }
}

function operationObject(shape: OperationShape): JsonObject {
  return {
    operationId: operationIdOf(shape.route),
    summary: shape.summary,
    ...(shape.access === 'public' && { security: [] }),
    description: accessText(shape.access),
    parameters: parametersOf(shape),
    ...(shape.body && { requestBody: requestBodyOf(shape) }),
    responses: responsesOf(shape),
  }
}

/** `GET /identities/{id}/posture-data` is `getIdentitiesByIdPostureData`. */
function operationIdOf(route: string): string {
  const words = route.replace(/\{(\w+)\}/g, 'by-$1').split(/[^A-Za-z0-9]+/)
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
  return [words[0]?.toLowerCase() ?? '', ...words.slice(1).map(capital)].join('')
}

function accessText(access: Access): string {
  switch (access) {
    case 'public':
      return 'Open to everybody.'
    case 'partial':
      return 'Needs an API session, whose second factor may still be missing.'
    case 'authenticated':
      return 'Needs a fully authenticated API session.'
    case 'admin':
      return 'Needs an admin.'
    default:
      return `Needs an admin, or the permission ${access.entity} or ${access.entity}.${access.action}.`
  }
}

function parametersOf(shape: OperationShape): readonly JsonObject[] {
  const inPath = [...shape.route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const queries = [shape.query, shape.symbols && ListQuery, shape.byRole ? RoleFilterQuery : undefined].filter(
    (query) => query !== undefined,
  )
  const inQuery = queries.flatMap((query) =>
    Object.entries(query.shape).map(([name, schema]) => ({
      name,
      in: 'query',
      required: !z.safeParse(schema, undefined).success,
      schema: jsonSchema(schema),
    })),
  )
  const inHeader = (shape.headers ?? []).map((name) => ({ name, in: 'header', schema: { type: 'string' } }))
  return [...inPath, ...inQuery, ...inHeader].map((parameter) => ({
    ...parameter,
    description: parameterText(shape.route, parameter.name),
  }))
}

function requestBodyOf(shape: OperationShape): JsonObject {
  const texts = (shape.textBody ?? []).map((mediaType) => [mediaType, { schema: { type: 'string' } }])
  const json = { schema: shape.body === undefined ? {} : jsonSchema(shape.body) }
  return { required: !shape.bodyOptional, content: { 'application/json': json, ...Object.fromEntries(texts) } }
}

function responsesOf(shape: OperationShape): JsonObject {
  const failures = new Set((shape.errors ?? []).map((code) => STATUS_OF[code]))
  // The host's own authorization may answer 403 wherever there is a caller.
  if (shape.access !== 'public') failures.add(401).add(403)
  if (shape.symbols || shape.body || shape.query) failures.add(400)
  if (shape.route.includes('{')) failures.add(404)
  failures.add(429)
  const problems = [...failures].sort((a, b) => a - b).map((status) => [status, problemResponse(status)])
  return { [shape.status ?? 200]: successResponse(shape), ...Object.fromEntries(problems) }
}

function successResponse(shape: OperationShape): JsonObject {
  if (shape.produces !== undefined) {
    const mediaTypes = [shape.produces, ...(shape.orProduces ?? [])]
    const content = mediaTypes.map((mediaType) => [mediaType, { schema: { type: 'string' } }])
    return { description: 'The document', content: Object.fromEntries(content) }
  }
  const item = shape.data === undefined ? { type: 'object' } : jsonSchema(shape.data)
  const data = shape.symbols ? { type: 'array', items: item } : item
  const schema = { type: 'object', required: ['data', 'meta'], properties: { data, meta: { type: 'object' } } }
  return { description: 'Done', content: { 'application/json': { schema } } }
}

function problemResponse(status: number): JsonObject {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  return { description: `The request was refused (${status}), see error.code`, content }
}

/** The schema of what travels: instants as text, defaults optional. */
function jsonSchema(schema: z.core.$ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', unrepresentable: 'any' })
  return rest
}

const ERROR_SCHEMA: JsonObject = {
  type: 'object',
  required: ['error', 'meta'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'requestId'],
      properties: {
        cause: {
          type: 'object',
          properties: {
            code: { type: 'string' },
            data: {},
            field: { type: 'string' },
            message: { type: 'string' },
            reason: { type: 'string' },
            value: { type: 'string' },
          },
        },
        code: { type: 'string' },
        message: { type: 'string' },
        requestId: { type: 'string' },
      },
    },
    meta: {
      type: 'object',
      properties: { apiEnrollmentVersion: { type: 'string' }, apiVersion: { type: 'string' } },
    },
  },
}
