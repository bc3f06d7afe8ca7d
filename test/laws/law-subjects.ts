import { create, type ForeignClient } from '../contract/http/foreign-client.ts'
import { KINDS, type Kind } from '../contract/http/kinds.ts'
import { newKey, selfSigned } from '../contract/http/signing-request.ts'
import { authPolicy } from '../support/people.ts'

type Body = Readonly<Record<string, unknown>>

/** One kind of entity, and what may be written to it. */
export interface Subject {
  readonly path: string
  readonly singular: string
  /** The body that creates one. */
  create(admin: ForeignClient): Promise<Body>
  /** A replacement that differs from it in every member that may be written. */
  replacement(admin: ForeignClient): Promise<Body>
  /** How members of the replacement are shown, where that differs. */
  readonly shown?: Body
  /** Members that are never shown. */
  readonly secret?: readonly string[]
  /** Members that are shown under other names, by the name in requests. */
  readonly follows?: Readonly<Record<string, readonly string[]>>
  /** Members that are settled at creation, each with another value that would do there. */
  readonly settled?: Body
  /** Members without which no PATCH is understood. */
  readonly discriminator?: Body
}

const TAGS = { owner: 'ops', critical: true }

function subjectOf(kind: Kind): Subject {
  const displays = Object.keys(kind.changed).map((member) => [member, [`${member}Display`]] as const)
  return {
    path: kind.path,
    singular: kind.singular,
    create: async () => ({ name: 'one', ...kind.minimal }),
    replacement: async () => ({ name: 'two', ...kind.minimal, ...kind.changed }),
    shown: { ...(kind.path === '/identities' && { type: kind.defaults.type }), ...kind.shown },
    follows: { ...Object.fromEntries(displays), ...(kind.path === '/identities' && { type: ['typeId'] }) },
    ...(kind.discriminator && { discriminator: kind.discriminator }),
  }
}

const ROUTER = { cost: 7, disabled: true, noTraversal: true, tags: TAGS, ctrlChanListeners: { 'tls:a:1': ['x'] } }

function transitRouter(path: string): Subject {
  return {
    path,
    singular: 'router',
    create: async () => ({ name: 'one' }),
    replacement: async () => ({ name: 'two', ...ROUTER }),
  }
}

/** Every kind of entity that is created, replaced, patched and deleted. */
export const SUBJECTS: readonly Subject[] = [
  ...KINDS.map(subjectOf),
  transitRouter('/routers'),
  transitRouter('/transit-routers'),
  {
    path: '/authenticators',
    singular: 'authenticator',
    create: async (admin) => ({
      identityId: await create(admin, '/identities', { name: 'one', type: 'User', isAdmin: false }),
      method: 'updb',
      username: 'user-one',
      password: 'password-one',
    }),
    replacement: async () => ({ username: 'user-two', password: 'password-two', tags: TAGS }),
    secret: ['password'],
  },
  {
    path: '/auth-policies',
    singular: 'auth policy',
    create: async () => authPolicy('one'),
    replacement: async () => ({
      ...authPolicy('two', { maxAttempts: 3, requireMixedCase: true }, { requireTotp: true }),
      tags: TAGS,
    }),
  },
  {
    path: '/cas',
    singular: 'ca',
    create: async () => ({ name: 'one', certPem: selfSigned(newKey(), '/CN=one'), ...CA }),
    replacement: async () => ({
      name: 'two',
      externalIdClaim: {
        index: 1,
        location: 'SAN_URI',
        matcher: 'SCHEME',
        matcherCriteria: 'spiffe',
        parser: 'SPLIT',
        parserCriteria: ',',
      },
      identityNameFormat: '[caName]',
      identityRoles: ['made'],
      isAuthEnabled: false,
      isAutoCaEnrollmentEnabled: false,
      isOttCaEnrollmentEnabled: false,
      tags: TAGS,
    }),
  },
  {
    path: '/config-types',
    singular: 'config type',
    create: async () => ({ name: 'one' }),
    replacement: async () => ({ name: 'two', schema: { type: 'object' }, tags: TAGS }),
    settled: { target: 'router' },
  },
  {
    path: '/configs',
    singular: 'config',
    create: async (admin) => ({
      name: 'one',
      data: { a: 1 },
      configTypeId: await create(admin, '/config-types', { name: 'type', schema: {} }),
    }),
    replacement: async () => ({ name: 'two', data: { b: [2] }, tags: TAGS }),
  },
  {
    path: '/external-jwt-signers',
    singular: 'external jwt signer',
    create: async () => ({
      name: 'one',
      issuer: 'https://one.example',
      audience: 'one',
      enabled: true,
      jwksEndpoint: 'https://one.example/jwks',
    }),
    replacement: async (admin) => ({
      name: 'two',
      audience: 'two',
      claimsProperty: '/email',
      clientId: 'client',
      enabled: false,
      attributeClaimsSelector: '/groups',
      enrollAttributeClaimsSelector: '/roles',
      enrollAuthPolicyId: await create(admin, '/auth-policies', authPolicy('enrolled')),
      enrollNameClaimsSelector: '/name',
      enrollToCertEnabled: true,
      enrollToTokenEnabled: true,
      externalAuthUrl: 'https://two.example/auth',
      issuer: 'https://two.example',
      jwksEndpoint: 'https://two.example/jwks',
      scopes: ['openid'],
      tags: TAGS,
      targetToken: 'ID',
      useExternalId: true,
    }),
  },
  {
    path: '/terminators',
    singular: 'terminator',
    create: async (admin) => ({
      service: await create(admin, '/services', { name: 'one', encryptionRequired: true }),
      router: await create(admin, '/edge-routers', { name: 'one' }),
      address: 'tcp:one:1',
      binding: 'transport',
    }),
    replacement: async (admin) => ({
      // The service of a terminator stays what it was.
      service: (await admin.get('/services?filter=name="one"')).body.data[0]?.id ?? 'unknown',
      router: await create(admin, '/edge-routers', { name: 'two' }),
      address: 'tcp:two:2',
      binding: 'udp',
      cost: 9,
      precedence: 'required',
      tags: TAGS,
    }),
    follows: { router: ['routerId'], service: ['serviceId'], cost: ['dynamicCost'], precedence: ['dynamicCost'] },
  },
]

const CA = {
  identityRoles: [],
  isAuthEnabled: true,
  isAutoCaEnrollmentEnabled: true,
  isOttCaEnrollmentEnabled: true,
}
