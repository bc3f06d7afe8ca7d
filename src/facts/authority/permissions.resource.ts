import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Name } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'

const ACTIONS = ['read', 'create', 'update', 'delete']

const ENTITIES = [
  'auth-policy',
  'ca',
  'config',
  'config-type',
  'edge-router-policy',
  'enrollment',
  'external-jwt-signer',
  'identity',
  'ops',
  'posture-check',
  'router',
  'service',
  'service-edge-router-policy',
  'service-policy',
  'terminator',
]

/**
 * The permissions that an identity may hold: to read everything, and for each kind of entity all actions or a single action. `ops` stands
 * for API sessions, sessions, links and circuits.
 */
export const PERMISSIONS: readonly string[] = [
  'admin_readonly',
  ...ENTITIES.flatMap((entity) => [entity, ...ACTIONS.map((action) => `${entity}.${action}`)]),
  'controllers',
  'controllers.read',
]

const DEFINITION = {
  name: 'identity-types',
  singular: 'identity type',
  storeName: 'identityTypes',
  permission: 'identity',
  writable: { name: Name },
  required: ['name'],
  unique: ['name'],
  operations: [],
} as const satisfies ResourceDefinition

/** The kinds of holders that an identity may stand for: seeded, read-only. */
export interface IdentityTypes extends Resource<typeof DEFINITION> {}
export const identityTypes: IdentityTypes = defineResource(DEFINITION, {})
