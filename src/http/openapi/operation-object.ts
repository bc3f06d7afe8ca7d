import { z } from 'zod'
import type { Permission } from '../../authority/authority.rules.ts'
import { meaningOf } from '../../kernel/declaration/words.ts'
import { ListQuery, RoleFilterQuery } from '../operations/list-query.ts'
import type { Access, Credential, OperationShape } from '../operations/operation.ts'
import { type JsonObject, jsonSchema } from './openapi-schema.ts'
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

function permissionsFor({ entity, action, asksOthers }: Permission): readonly string[] {
  if (action === 'all') return [entity]
  return [entity, `${entity}.${action}`, ...(action === 'read' && asksOthers !== true ? ['admin_readonly'] : [])]
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

/** The parameters of an operation: in its path, in the query, and the headers that it reads. */
function parametersOf(shape: OperationShape): readonly JsonObject[] {
  const inPath = [...shape.route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    description: parameterText(shape.route, name),
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
      description: meaningOf(query)?.members[name] ?? parameterText(shape.route, name),
      required: !z.safeParse(schema, undefined).success,
      schema: jsonSchema(schema),
    })),
  )
  const inHeader = (shape.headers ?? []).map((name) => ({
    name,
    in: 'header',
    description: parameterText(shape.route, name),
    schema: { type: 'string' },
  }))
  return [...inPath, ...inQuery, ...inHeader]
}

/** Descriptions of the parameters of operations, by name; a name means the same wherever it occurs. */
const TEXTS: Readonly<Record<string, string>> = {
  asidentity: 'An identity, by id or name, in whose place services are shown; for admins.',
  authorization: 'A token of an external JWT signer, as `Bearer` and the token.',
  configtypes: 'Config types, by id or name, whose configs are shown; `all` for every type.',
  filter: 'A condition on the fields of the list, such as `name contains "web" sort by name limit 5`.',
  limit: 'How many items to answer at most, up to 500; 10 by default.',
  method: 'How to prove who one is.',
  'mfa-validation-code': 'A one-time password or a recovery code.',
  'last-event-id': 'The `id` of the event that was read last; a stream goes on after it.',
  offset: 'How many items to leave out from the beginning, up to 100,000.',
  policytype: 'Considers policies of one type only, `dial` or `bind`.',
  rolefilter: 'A role, `#attribute` or `@id`, that items have; may be repeated.',
  rolesemantic: 'Whether items have all of the roles (`AllOf`, the default) or any of them (`AnyOf`).',
  serviceid: 'The id of the service.',
  'session-token': 'The token of the session that routers are asked for.',
  sort: 'Fields to sort by, such as `name desc, createdAt`.',
  token: 'The one-time token of the enrollment.',
  withids: 'Whether to name the entities that have each attribute; `false` by default.',
  'ziti-token-issuer-id': 'The id of the external JWT signer that issued the token, where several could have.',
}

/** Describes a parameter of an operation; an id belongs to what the path names before it. */
function parameterText(route: string, name: string): string | undefined {
  if (name !== 'id') return TEXTS[name.toLowerCase()]
  const [, collection] = /\/([\w-]+)\/\{id\}/.exec(route) ?? []
  return `The id of one of the ${(collection ?? 'entities').replaceAll('-', ' ')}.`
}
