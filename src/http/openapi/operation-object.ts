import type { Permission } from '../../domain/authority.ts'
import type { Access, Credential, OperationShape } from '../operations/operation.ts'
import { type JsonObject, jsonSchema } from './json-schema.ts'
import { parametersOf } from './parameters.ts'
import { responsesOf } from './responses.ts'
import { tagOf } from './tags.ts'

/** The OpenAPI object of an operation. */
export function operationObject(shape: OperationShape): JsonObject {
  return {
    operationId: operationIdOf(shape.route),
    tags: [tagOf(shape.route)],
    summary: shape.summary,
    description: descriptionOf(shape),
    ...securityOf(shape),
    parameters: parametersOf(shape),
    ...((shape.body || shape.textBody) && { requestBody: requestBodyOf(shape) }),
    responses: responsesOf(shape),
  }
}

/** `GET /identities/{id}/posture-data` is `getIdentitiesByIdPostureData`. */
export function operationIdOf(route: string): string {
  const words = route.replace(/\{(\w+)\}/g, 'by-$1').split(/[^A-Za-z0-9]+/)
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
  return [words[0]?.toLowerCase() ?? '', ...words.slice(1).map(capital)].join('')
}

function descriptionOf({ description, symbols, access }: OperationShape): string {
  const list =
    symbols === undefined ? [] : ['A page of the list; `meta.filterableFields` says what `filter` and `sort` may name.']
  return [...(description === undefined ? [] : [description]), ...list, accessText(access)].join(' ')
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
    case 'delegate':
      return 'Needs an admin or any permission.'
    default:
      return `Needs an admin or one of the permissions ${permissionsFor(access).map(inCode).join(', ')}.`
  }
}

function permissionsFor({ entity, action }: Permission): readonly string[] {
  return [entity, `${entity}.${action}`, ...(action === 'read' ? ['admin_readonly'] : [])]
}

function inCode(word: string): string {
  return `\`${word}\``
}

const REQUIREMENT_OF: Readonly<Record<Credential, JsonObject>> = {
  certificate: { clientCertificate: [] },
  none: {},
  token: { bearerToken: [] },
}

/** Operations without an API session say by what else a caller proves itself; the others are as the document says. */
function securityOf({ access, credentials = [] }: OperationShape): JsonObject {
  if (access !== 'public') return {}
  return { security: credentials.map((one) => REQUIREMENT_OF[one]) }
}

function requestBodyOf(shape: OperationShape): JsonObject {
  const texts = (shape.textBody ?? []).map((mediaType) => [mediaType, { schema: { type: 'string' } }])
  const json = shape.body === undefined ? [] : [['application/json', { schema: jsonSchema(shape.body) }]]
  return { required: !shape.bodyOptional, content: Object.fromEntries([...json, ...texts]) }
}
