import { z } from 'zod'
import type { Permission } from '../../facts/authority/authority.rules.ts'
import { meaningOf } from '../../kernel/declaration/words.ts'
import { ListQuery, RoleFilterQuery } from '../operations/list-query.ts'
import type { Access, Credential, OperationShape } from '../operations/operation.ts'
import { type JsonObject, jsonSchema } from './openapi-schema.ts'
import { responsesOf } from './responses.ts'

/** Topics of operations: a name, a description, and the first words of their paths. */
const TOPICS: readonly (readonly [name: string, description: string, words: string])[] = [
  [
    'Controller',
    'The controller: its version, its offers, and how many entities it keeps.',
    '/ version specs swagger.json .well-known network-jwts protocols health-checks controllers controller-settings summary enumerated-capabilities enumerated-router-capabilities',
  ],
  ['Authentication', 'Starting, completing and ending an API session.', 'authenticate current-api-session'],
  ['Current identity', 'The caller itself: its account, its factors, its certificates.', 'current-identity'],
  ['Enrollment', 'Invitations, and turning them into credentials.', 'enroll enrollments'],
  [
    'Identities',
    'The parties that may connect: people, devices, workloads and routers.',
    'identities identity-types identity-role-attributes identity-role-attribute-usage',
  ],
  ['Authenticators', 'The credentials that identities authenticate by.', 'authenticators'],
  ['Auth policies', 'How identities may authenticate.', 'auth-policies'],
  ['Certificate authorities', 'Third parties whose certificates are trusted.', 'cas'],
  ['External JWT signers', 'Third parties whose tokens are trusted.', 'external-jwt-signers'],
  [
    'Services',
    'The targets that can be reached on the network.',
    'services service-role-attributes service-role-attribute-usage',
  ],
  ['Terminators', 'Where the traffic of services leaves the network.', 'terminators'],
  ['Configs', 'Settings of services and routers, and their types.', 'configs config-types service-configs'],
  ['Service policies', 'Which identities may dial or bind which services.', 'service-policies'],
  [
    'Edge router policies',
    'Which identities and services may use which edge routers.',
    'edge-router-policies service-edge-router-policies',
  ],
  [
    'Routers',
    'The routers that carry the traffic.',
    'edge-routers routers transit-routers edge-router-role-attributes edge-router-role-attribute-usage',
  ],
  [
    'Data plane',
    'Links between routers, the circuits over them, and the state of routers.',
    'links circuits inspections ws-api cluster raft',
  ],
  [
    'Posture',
    'Rules on the state of endpoints, and what endpoints report.',
    'posture-checks posture-check-types posture-check-role-attributes posture-check-role-attribute-usage posture-response posture-response-bulk',
  ],
  ['Sessions', 'Granted access, and revocations.', 'api-sessions sessions revocations'],
  ['Database', 'Care of the store.', 'database'],
  ['Audit trail', 'Every change with its actor, address and proof.', 'audit'],
  ['Webhooks', 'Whom the controller tells of events.', 'webhooks'],
  ['Keys', "The keys of the network's own authorities and of its server, and how they change.", 'pki'],
  ['Trust', 'Which third parties may let in identities with rights.', 'trust-anchors'],
  ['Access requests', 'Access that identities ask for, and the decisions.', 'access-requests'],
  ['Explanations', 'Why access is as it is, and what changes would do to it.', 'explain simulate trace-dial'],
  [
    'Explorer',
    'The network as people look at it: drawn by groups, as a table, by name, and what happens in it.',
    'access-map findings graph matrix reach search traffic events',
  ],
]

const TOPIC_OF = new Map(TOPICS.flatMap(([name, , words]) => words.split(' ').map((word) => [word, name] as const)))

/** The topic of an operation, by the first word of its path. */
export function tagOf(route: string): string {
  const [, path = '/'] = route.split(' ')
  const name = TOPIC_OF.get(path.split('/')[1] || '/')
  if (name === undefined) throw new Error(`no topic has the path ${path}`)
  return name
}

/** The topics of some operations, in the order of the table. */
export function tagsOf(routes: readonly string[]): readonly JsonObject[] {
  const used = new Set(routes.map(tagOf))
  return TOPICS.filter(([name]) => used.has(name)).map(([name, description]) => ({ name, description }))
}

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

/** Operations without an API session name the other proofs of a caller; the rest follow the document. */
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
  grantid: 'The id of the grant.',
  limit: 'How many items to answer at most, up to 500; 10 by default.',
  method: 'How to prove who one is.',
  'mfa-validation-code': 'A one-time password or a recovery code.',
  'if-match': 'The tag of the plan, in quotes; another one is refused.',
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

/** Describes a parameter of an operation; an id belongs to the entity that the path names before it. */
function parameterText(route: string, name: string): string | undefined {
  if (name !== 'id') return TEXTS[name.toLowerCase()]
  const [, collection] = /\/([\w-]+)\/\{id\}/.exec(route) ?? []
  return `The id of one of the ${(collection ?? 'entities').replaceAll('-', ' ')}.`
}
