import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Instant, Name, Roles, Semantic, Text } from '../../kernel/declaration/fields.ts'
import { type Resource, type ResourceDefinition, selectedBy } from '../../kernel/declaration/resource.ts'
import { PHASES } from './policy-term.rules.ts'

const SEMANTIC_WORDS = 'Whether an entity needs all role attributes of a list (`AllOf`) or any one of them (`AnyOf`).'

function rolesWords(selected: string): string {
  return `Which ${selected} the policy selects: \`#attribute\`, \`#all\`, or \`@\` and an id. A set, sorted; empty by default.`
}

const SERVICE_POLICIES_DEFINITION = {
  name: 'service-policies',
  singular: 'service policy',
  storeName: 'servicePolicies',
  permission: 'service-policy',
  writable: {
    name: Name,
    semantic: Semantic,
    type: z.enum(['Dial', 'Bind', 'Invalid']),
    identityRoles: Roles.default([]),
    postureCheckRoles: Roles.default([]),
    serviceRoles: Roles.default([]),
    startsAt: Instant.nullable().default(null),
    until: Instant.nullable().default(null),
    reason: Text.nullable().default(null),
  },
  system: { phase: z.enum(PHASES).nullable(), givenBy: z.string().nullable() },
  undo: { phase: 'computed', givenBy: 'computed' },
  quirks: {
    nullWhenEmpty: ['identityRoles', 'postureCheckRoles', 'serviceRoles'],
    mayBeAbsent: ['startsAt', 'until', 'reason', 'phase', 'givenBy'],
  },
  required: ['name', 'semantic', 'type'],
  unique: ['name'],
  indexed: ['phase'],
  selects: { identityRoles: 'identities', postureCheckRoles: 'posture-checks', serviceRoles: 'services' },
  links: ['identities', 'posture-checks', 'services'],
  computed: { identities: selectedBy('identities'), services: selectedBy('services') },
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** Grants Dial or Bind on services to identities, provided the selected posture checks pass. */
export interface ServicePolicies extends Resource<typeof SERVICE_POLICIES_DEFINITION> {}
export const servicePolicies: ServicePolicies = defineResource(SERVICE_POLICIES_DEFINITION, {
  semantic: SEMANTIC_WORDS,
  type: 'The right that the policy grants: `Dial` to connect to services, `Bind` to host them.',
  identityRoles: rolesWords('identities'),
  postureCheckRoles:
    'Which posture checks must pass for the policy to grant anything: `#attribute`, `#all`, or `@` and an id. A set, sorted; without any it always grants.',
  serviceRoles: rolesWords('services'),
  startsAt: 'When the policy begins to grant, RFC 3339; absent where it grants at once.',
  until: 'When the policy ends to grant, RFC 3339; absent where it does not end by itself.',
  reason: 'Why the access is given, for people; absent without a reason.',
  phase:
    'Whether a policy with `startsAt` or `until` grants: `coming`, `in-force` or `over`; absent for a policy without either.',
  givenBy:
    'The name of the identity that gave the policy its present `startsAt`, `until` and `reason`; absent without.',
})

const EDGE_ROUTER_POLICIES_DEFINITION = {
  name: 'edge-router-policies',
  singular: 'edge router policy',
  storeName: 'edgeRouterPolicies',
  permission: 'edge-router-policy',
  writable: {
    name: Name,
    semantic: Semantic,
    edgeRouterRoles: Roles.default([]),
    identityRoles: Roles.default([]),
  },
  system: { isSystem: z.boolean() },
  quirks: { nullWhenEmpty: ['edgeRouterRoles', 'identityRoles'] },
  required: ['name', 'semantic'],
  unique: ['name'],
  selects: { edgeRouterRoles: 'edge-routers', identityRoles: 'identities' },
  links: ['edge-routers', 'identities'],
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** Lets identities use edge routers. */
export interface EdgeRouterPolicies extends Resource<typeof EDGE_ROUTER_POLICIES_DEFINITION> {}
export const edgeRouterPolicies: EdgeRouterPolicies = defineResource(EDGE_ROUTER_POLICIES_DEFINITION, {
  semantic: SEMANTIC_WORDS,
  edgeRouterRoles: rolesWords('edge routers'),
  identityRoles: rolesWords('identities'),
  isSystem: 'True for a policy that the controller made and keeps itself.',
})

const SERVICE_EDGE_ROUTER_POLICIES_DEFINITION = {
  name: 'service-edge-router-policies',
  singular: 'service edge router policy',
  storeName: 'serviceEdgeRouterPolicies',
  permission: 'service-edge-router-policy',
  writable: {
    name: Name,
    semantic: Semantic,
    edgeRouterRoles: Roles.default([]),
    serviceRoles: Roles.default([]),
  },
  quirks: { nullWhenEmpty: ['edgeRouterRoles', 'serviceRoles'] },
  required: ['name', 'semantic'],
  unique: ['name'],
  selects: { edgeRouterRoles: 'edge-routers', serviceRoles: 'services' },
  links: ['edge-routers', 'services'],
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** Lets services be reached through edge routers. */
export interface ServiceEdgeRouterPolicies extends Resource<typeof SERVICE_EDGE_ROUTER_POLICIES_DEFINITION> {}
export const serviceEdgeRouterPolicies: ServiceEdgeRouterPolicies = defineResource(
  SERVICE_EDGE_ROUTER_POLICIES_DEFINITION,
  {
    semantic: SEMANTIC_WORDS,
    edgeRouterRoles: rolesWords('edge routers'),
    serviceRoles: rolesWords('services'),
  },
)
