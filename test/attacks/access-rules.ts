/**
 * The demands of the wire reference (8.2 to 8.4) on a caller: nothing, an API session whose second factor may be missing, an
 * API session, to be an admin (or, to read, `admin_readonly`), or a permission. Our own operations may ask for any permission.
 */
export type AccessRule = 'open' | 'partial' | 'auth' | 'admin' | 'delegate' | 'reader' | { readonly permission: string }

const OPEN: ReadonlySet<string> = new Set([
  'GET /',
  'GET /version',
  'GET /.well-known/est/cacerts',
  'GET /enumerated-capabilities',
  'GET /network-jwts',
  'GET /specs',
  'GET /specs/{id}',
  'GET /specs/{id}/spec',
  'GET /swagger.json',
  'POST /authenticate',
])
const OPEN_TO_CLIENTS: ReadonlySet<string> = new Set([
  'GET /protocols',
  'GET /external-jwt-signers',
  'GET /health-checks',
  'GET /health-checks/controller/raft',
])

const PARTIAL: ReadonlySet<string> = new Set([
  'GET /current-api-session',
  'DELETE /current-api-session',
  'GET /current-identity/mfa',
  'POST /current-identity/mfa',
  'GET /current-identity/mfa/qr-code',
  'POST /current-identity/mfa/verify',
  'GET /enumerated-router-capabilities',
  'POST /authenticate/mfa',
])

/** The word of a collection's permissions. */
const WORDS: Readonly<Record<string, string>> = {
  'api-sessions': 'ops',
  'auth-policies': 'auth-policy',
  cas: 'ca',
  'config-types': 'config-type',
  configs: 'config',
  controllers: 'controllers',
  'edge-router-policies': 'edge-router-policy',
  'edge-router-role-attributes': 'router',
  'edge-routers': 'router',
  enrollments: 'enrollment',
  'external-jwt-signers': 'external-jwt-signer',
  identities: 'identity',
  'identity-role-attributes': 'identity',
  'policy-advice': 'service',
  'posture-check-role-attributes': 'posture-check',
  'posture-checks': 'posture-check',
  routers: 'router',
  'service-edge-router-policies': 'service-edge-router-policy',
  'service-policies': 'service-policy',
  'service-role-attributes': 'service',
  services: 'service',
  sessions: 'ops',
  terminators: 'terminator',
  'transit-routers': 'router',
}

/** Things below an entity that belong to it, so that acting on them is to read or to update the entity. */
const PARTS: ReadonlySet<string> = new Set([
  'disable',
  'enable',
  'failed-service-requests',
  'jwt',
  'mfa',
  'posture-data',
  're-enroll',
  'refresh',
  'route-path',
  'service-configs',
  'trace',
  'verify',
])

/** Our own operations ask for the permission to read what they speak of. */
const OWN: Readonly<Record<string, AccessRule>> = {
  'POST /access-requests': 'auth',
  'GET /access-requests': 'auth',
  'GET /access-requests/{id}': 'auth',
  'POST /access-requests/{id}/approve': { permission: 'service-policy.create' },
  'POST /access-requests/{id}/refuse': { permission: 'service-policy.create' },
  'POST /access-requests/{id}/withdraw': 'auth',
  'POST /identities/{id}/attribute-grants': { permission: 'identity.update' },
  'DELETE /identities/{id}/attribute-grants/{grantId}': { permission: 'identity.update' },
  'POST /explain': 'reader',
  'POST /trace-dial': 'reader',
  'POST /simulate': 'reader',
  'GET /trust-anchors': 'delegate',
  'GET /search': 'delegate',
  'GET /audit': 'delegate',
  'GET /audit/{id}/undo': 'delegate',
  'POST /audit/{id}/undo': 'delegate',
  'GET /audit/head': { permission: 'ops.read' },
  'GET /pki': { permission: 'ops.read' },
  'GET /pki/outstanding': { permission: 'ops.read' },
  'GET /events': 'delegate',
  'GET /reach': 'reader',
  'GET /access-map': 'reader',
  'GET /access-map/members': 'delegate',
  'GET /findings': 'delegate',
  'GET /traffic': 'reader',
}

const ACTIONS: Readonly<Record<string, string>> = {
  GET: 'read',
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
}

/** Parts of the data plane that are shown to, or changed by, a caller who is no admin. */
const OF_FABRIC: Readonly<Record<string, AccessRule>> = {
  'DELETE /circuits/{id}': { permission: 'ops.delete' },
  'DELETE /links/{id}': { permission: 'ops.delete' },
  'GET /circuits': { permission: 'ops.read' },
  'GET /circuits/{id}': { permission: 'ops.read' },
  'GET /links': { permission: 'ops.read' },
  'GET /links/{id}': { permission: 'ops.read' },
  'GET /routers': { permission: 'router.read' },
  'GET /routers/{id}': { permission: 'router.read' },
  'GET /routers/{id}/terminators': { permission: 'terminator.read' },
  'GET /services': { permission: 'service.read' },
  'GET /services/{id}': { permission: 'service.read' },
  'GET /services/{id}/terminators': { permission: 'terminator.read' },
  'GET /terminators': { permission: 'terminator.read' },
  'GET /terminators/{id}': { permission: 'terminator.read' },
  'GET /ws-api': { permission: 'ops' },
  'PATCH /links/{id}': { permission: 'ops.update' },
  'POST /inspections': { permission: 'ops.read' },
}

/** The rule of an operation of one of the APIs. */
export function accessRule(api: 'client' | 'fabric' | 'management' | 'portcullis', route: string): AccessRule {
  if (api === 'portcullis') return OWN[route] ?? 'admin'
  if (api === 'fabric') return OF_FABRIC[route] ?? 'admin'
  const [method = '', template = ''] = route.split(' ')
  if (OPEN.has(route) || (api === 'client' && (OPEN_TO_CLIENTS.has(route) || template.startsWith('/enroll'))))
    return 'open'
  if (PARTIAL.has(route)) return 'partial'
  const [collection = '', , nested = ''] = template.slice(1).split('/')
  if (api === 'client') return collection === 'services' && method !== 'GET' ? 'admin' : 'auth'
  if (['current-api-session', 'current-identity', 'identity-types', 'posture-check-types'].includes(collection))
    return 'auth'
  if (route === 'PUT /identities/{id}') return 'admin'
  const isPart = PARTS.has(nested)
  const word = WORDS[isPart || nested === '' ? collection.replace(/-usage$/, 's') : nested]
  if (word === undefined) return 'admin'
  return { permission: `${word}.${isPart && method !== 'GET' ? 'update' : ACTIONS[method]}` }
}
