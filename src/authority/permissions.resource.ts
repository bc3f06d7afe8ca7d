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
 * The permissions that an identity may be given: to read everything, and for each kind of entity all actions or one.
 * `ops` stands for API sessions, sessions, links and circuits.
 */
export const PERMISSIONS: readonly string[] = [
  'admin_readonly',
  ...ENTITIES.flatMap((entity) => [entity, ...ACTIONS.map((action) => `${entity}.${action}`)]),
  'controllers',
  'controllers.read',
]
