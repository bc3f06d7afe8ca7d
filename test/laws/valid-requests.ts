import { randomUUID } from 'node:crypto'
import { create, type ForeignClient, read } from '../contract/http/foreign-client.ts'
import { newKey, selfSigned, signingRequest } from '../contract/http/signing-request.ts'

/** The parts of a request: the values of its path, its query and its body. */
export interface ValidRequest {
  readonly path: string
  readonly body: unknown
  /** Headers that say what the body is, where it is not JSON. */
  readonly headers?: Readonly<Record<string, string>>
}

type MakeBody = (admin: ForeignClient, name: string) => Promise<unknown> | unknown

/** After the clock of a test controller. */
const TOMORROW = '2026-01-02T00:00:00.000Z'

const CSR = signingRequest(newKey())

/** Bodies that the create operation of each collection takes; a replacement or a change takes them as well. */
const COLLECTION_BODIES: Readonly<Record<string, MakeBody>> = {
  authenticators: async (admin, name) => ({
    identityId: await made(admin, 'identities', `identity of ${name}`),
    method: 'updb',
    username: name,
    password: 'some-password',
  }),
  'auth-policies': (_admin, name) => ({ name, ...AUTH_POLICY }),
  cas: (_admin, name) => ({
    name,
    certPem: selfSigned(newKey()),
    identityNameFormat: '[caName]-[commonName]',
    identityRoles: [],
    isAuthEnabled: true,
    isAutoCaEnrollmentEnabled: true,
    isOttCaEnrollmentEnabled: true,
  }),
  'config-types': (_admin, name) => ({ name, schema: {} }),
  configs: async (admin, name) => ({
    name,
    data: {},
    configTypeId: await create(admin, '/config-types', { name: `type of ${name}`, schema: {} }),
  }),
  'edge-router-policies': (_admin, name) => ({ name, semantic: 'AnyOf' }),
  'edge-routers': (_admin, name) => ({ name }),
  enrollments: async (admin, name) => ({
    identityId: await made(admin, 'identities', `identity of ${name}`),
    method: 'ott',
    expiresAt: TOMORROW,
  }),
  'external-jwt-signers': (_admin, name) => ({
    name,
    issuer: `https://idp.example/${name}`,
    audience: 'network',
    enabled: true,
    jwksEndpoint: 'https://idp.example/jwks',
  }),
  identities: (_admin, name) => ({ name, type: 'User', isAdmin: false }),
  'posture-checks': (_admin, name) => ({ name, typeId: 'MFA' }),
  revocations: () => ({ id: randomUUID(), type: 'JTI' }),
  routers: (_admin, name) => ({ name }),
  'service-edge-router-policies': (_admin, name) => ({ name, semantic: 'AnyOf' }),
  'service-policies': (_admin, name) => ({ name, semantic: 'AnyOf', type: 'Dial' }),
  services: (_admin, name) => ({ name, encryptionRequired: true, roleAttributes: ['apps'] }),
  terminators: async (admin, name) => ({
    service: await made(admin, 'services', `service of ${name}`),
    router: await made(admin, 'edge-routers', `router of ${name}`),
    binding: 'transport',
    address: 'tcp:localhost:1',
  }),
  'transit-routers': (_admin, name) => ({ name }),
}

const AUTH_POLICY = {
  primary: {
    cert: { allowed: true, allowExpiredCerts: true },
    extJwt: { allowed: true, allowedSigners: [] },
    updb: {
      allowed: true,
      lockoutDurationMinutes: 0,
      maxAttempts: 0,
      minPasswordLength: 5,
      requireMixedCase: false,
      requireNumberChar: false,
      requireSpecialChar: false,
    },
  },
  secondary: { requireTotp: false },
}

/** Bodies and queries of operations that are no collection's own. */
const SPECIAL: Readonly<
  Record<string, (admin: ForeignClient, name: string, serviceId: string) => Promise<ValidRequest> | ValidRequest>
> = {
  'POST /authenticate': () => ({
    path: '/authenticate?method=password',
    body: { username: 'admin', password: 'admin-password' },
  }),
  'POST /controller-settings': () => ({ path: '/controller-settings', body: { controllerId: 'controller' } }),
  // Password authenticators, which this file knows how to make, have nothing to extend.
  'POST /authenticators/{id}/request-extend': () => ({ path: '/authenticators/unknown/request-extend', body: {} }),
  'POST /enroll': async (admin, name) => ({
    path: `/enroll?token=${await oneTimeToken(admin, name)}`,
    body: { clientCsr: CSR },
  }),
  'POST /enroll/ott': async (admin, name) => ({
    path: '/enroll/ott',
    body: { token: await oneTimeToken(admin, name), clientCsr: CSR },
  }),
  'POST /cas/{id}/verify': async (admin, name) => ({
    path: `/cas/${await made(admin, 'cas', name)}/verify`,
    body: selfSigned(newKey(), '/CN=unknown'),
    headers: { 'content-type': 'text/plain' },
  }),
  // Requests are made by identities for themselves, of which this file makes none.
  'POST /access-requests': (_admin, _name, service) => ({
    path: '/access-requests',
    body: { service, durationMs: 60_000, reason: 'x' },
  }),
  'POST /explain': async (admin, name, serviceId) => ({
    path: '/explain',
    body: { identity: await made(admin, 'identities', name), service: serviceId },
  }),
  'POST /trace-dial': async (admin, name, serviceId) => ({
    path: '/trace-dial',
    body: { identity: await made(admin, 'identities', name), service: serviceId },
  }),
  'POST /simulate': (_admin, name) => ({
    path: '/simulate',
    body: { changes: [{ kind: 'services', action: 'create', body: { name } }] },
  }),
  'GET /search': (_admin, name) => ({ path: `/search?q=${encodeURIComponent(name)}`, body: undefined }),
  'GET /access-map/members': () => ({ path: '/access-map/members?kind=identities', body: undefined }),
  'PUT /trust-anchors/{id}': async (admin, name) => ({
    path: `/trust-anchors/${await made(admin, 'cas', name)}`,
    body: { mayAuthenticateAdmins: true },
  }),
  // Webhooks are of our own API, of which this file makes no entities.
  'POST /webhooks': (_admin, name) => ({ path: '/webhooks', body: { name, endpoint: 'https://hooks.example/' } }),
  'PUT /webhooks/{id}': (_admin, name) => ({
    path: '/webhooks/unknown',
    body: { name, endpoint: 'https://hooks.example/' },
  }),
  'POST /pki/rotations': () => ({ path: '/pki/rotations', body: { what: 'signing' } }),
  'PATCH /pki/authorities/{id}': () => ({ path: '/pki/authorities/unknown', body: {} }),
  'POST /posture-response': () => ({ path: '/posture-response', body: { id: 'x', typeId: 'DOMAIN', domain: 'x' } }),
  'POST /posture-response-bulk': () => ({ path: '/posture-response-bulk', body: [] }),
  'POST /sessions': (_admin, _name, serviceId) => ({ path: '/sessions', body: { serviceId, type: 'Dial' } }),
}

/** Bodies of operations below an entity or of the caller itself. */
const PART_BODIES: Readonly<Record<string, unknown>> = {
  'PATCH /current-identity/authenticators/{id}': { currentPassword: 'some-password' },
  'POST /authenticate/mfa': { code: '000000' },
  'POST /authenticators/{id}/re-enroll': { expiresAt: TOMORROW },
  'POST /current-api-session/certificates': { csr: CSR },
  'POST /current-api-session/totp-token': { code: '000000' },
  'POST /current-identity/authenticators/{id}/extend': { clientCertCsr: CSR },
  'POST /current-identity/authenticators/{id}/extend-verify': { clientCert: selfSigned(newKey()) },
  'POST /current-identity/mfa/recovery-codes': { code: '000000' },
  'POST /current-identity/mfa/verify': { code: '000000' },
  'POST /enrollments/{id}/refresh': { expiresAt: TOMORROW },
  'POST /inspections': { appRegex: '.*', requestedValues: ['links'] },
  'POST /identities/{id}/attribute-grants': { attribute: 'staff', until: '2100-01-01T00:00:00Z' },
  'POST /identities/{id}/disable': { durationMinutes: 1 },
  'POST /identities/{id}/service-configs': [],
  'PUT /current-identity/authenticators/{id}': {
    currentPassword: 'some-password',
    username: 'somebody',
    password: 'some-password',
  },
}

/**
 * A request to an operation that has nothing wrong with it, as far as this file knows one: an unknown collection is asked
 * for an entity that is not there, and an unknown body is empty. `serviceId` is a service that every caller may dial,
 * `ownSessionId` a session of the caller.
 */
export async function validRequest(
  admin: ForeignClient,
  route: string,
  name: string,
  { serviceId, ownSessionId }: { readonly serviceId: string; readonly ownSessionId: string | undefined },
): Promise<ValidRequest> {
  const special = await SPECIAL[route]?.(admin, name, serviceId)
  if (special !== undefined) return special
  const [method = '', template = ''] = route.split(' ')
  const [collection = ''] = template.slice(1).split('/')
  const needsId = template.includes('{id}')
  const own = collection === 'sessions' ? (ownSessionId ?? 'unknown') : undefined
  const id = needsId ? (own ?? (await made(admin, collection, name))) : ''
  const path = template.replace('{id}', id).replaceAll(/\{\w+\}/g, 'unknown')
  const takesBody = ['POST', 'PUT', 'PATCH'].includes(method)
  if (!takesBody) return { path, body: undefined }
  if (Object.hasOwn(PART_BODIES, route)) return { path, body: PART_BODIES[route] }
  const isEntity = !template.includes('{id}/')
  return { path, body: isEntity ? ((await COLLECTION_BODIES[collection]?.(admin, `${name} again`)) ?? {}) : {} }
}

async function made(admin: ForeignClient, collection: string, name: string): Promise<string> {
  const make = COLLECTION_BODIES[collection]
  if (make === undefined) return 'unknown'
  const body = await make(admin, name)
  return create(admin, `/${collection}`, typeof body === 'object' && body !== null ? body : {})
}

async function oneTimeToken(admin: ForeignClient, name: string): Promise<string> {
  const id = await create(admin, '/identities', { name, type: 'User', isAdmin: false, enrollment: { ott: true } })
  return (await read(admin, `/identities/${id}`)).enrollment.ott.token
}
