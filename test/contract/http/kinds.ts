/** The management API of one kind of entity. Names are left to the tests. */
export interface Kind {
  readonly path: string
  /** The word in messages: `service policy with id x not found`. */
  readonly singular: string
  /** Members that a create request must have beside the name. */
  readonly minimal: Readonly<Record<string, unknown>>
  /** Members that every PATCH request has beside those that it changes. */
  readonly discriminator?: Readonly<Record<string, unknown>>
  /** Members without which a create request is refused. */
  readonly required: readonly string[]
  /** How an entity is shown of which nothing more was said. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** Another value for every member that may be written. */
  readonly changed: Readonly<Record<string, unknown>>
  /** How those are shown, where that differs. */
  readonly shown?: Readonly<Record<string, unknown>>
  /** Members that are never written by a request, with a value that would be noticed. */
  readonly readOnly: Readonly<Record<string, unknown>>
}

const BASE = {
  _links: { self: { href: './forged' } },
  id: 'forged',
  createdAt: '2001-01-01T00:00:00.000Z',
  updatedAt: '2001-01-01T00:00:00.000Z',
  entity: 'forged',
}
const TAGS = { tags: { owner: 'ops', critical: true, note: null } }
const NO_ROLES = { identityRoles: [], serviceRoles: [], edgeRouterRoles: [], postureCheckRoles: [] }

const identities: Kind = {
  path: '/identities',
  singular: 'identity',
  minimal: { type: 'Device', isAdmin: false },
  required: ['name', 'type', 'isAdmin'],
  defaults: {
    appData: {},
    authPolicy: expectedRef('auth-policies', 'default', 'Default'),
    authPolicyId: 'default',
    authenticators: {},
    defaultHostingCost: 0,
    defaultHostingPrecedence: 'default',
    disabled: false,
    edgeRouterConnectionStatus: 'offline',
    enrollment: {},
    envInfo: {},
    externalId: null,
    hasApiSession: false,
    hasEdgeRouterConnection: false,
    interfaces: null,
    isAdmin: false,
    isDefaultAdmin: false,
    isMfaEnabled: false,
    roleAttributes: [],
    sdkInfo: {},
    serviceHostingCosts: {},
    serviceHostingPrecedences: {},
    type: expectedRef('identity-types', 'Device', 'Device'),
    typeId: 'Device',
  },
  changed: {
    ...TAGS,
    appData: { nested: { list: [1, 'two', null] } },
    defaultHostingCost: 65_535,
    defaultHostingPrecedence: 'required',
    externalId: 'external',
    isAdmin: true,
    permissions: ['admin_readonly', 'service.read'],
    roleAttributes: ['b', 'a', 'b'],
  },
  shown: { roleAttributes: ['a', 'b'] },
  readOnly: {
    ...BASE,
    authenticators: { updb: { id: 'x', username: 'forged' } },
    disabled: true,
    disabledAt: '2001-01-01T00:00:00.000Z',
    disabledUntil: '2001-01-01T00:00:00.000Z',
    envInfo: { os: 'forged' },
    hasApiSession: true,
    isDefaultAdmin: true,
    isMfaEnabled: true,
    isSystem: true,
    sdkInfo: { type: 'forged' },
  },
}

const services: Kind = {
  path: '/services',
  singular: 'service',
  minimal: { encryptionRequired: true },
  required: ['name'],
  defaults: {
    config: {},
    configs: [],
    encryptionRequired: true,
    maxIdleTimeMillis: 0,
    permissions: ['Invalid'],
    roleAttributes: [],
    terminatorStrategy: 'smartrouting',
  },
  changed: { ...TAGS, maxIdleTimeMillis: 60_000, roleAttributes: ['z', 'A'], terminatorStrategy: 'weighted' },
  shown: { roleAttributes: ['A', 'z'] },
  readOnly: { ...BASE, permissions: ['Bind', 'Dial'], config: { x: {} }, postureQueries: [], isSystem: true },
}

const edgeRouters: Kind = {
  path: '/edge-routers',
  singular: 'edge router',
  minimal: {},
  required: ['name'],
  defaults: {
    appData: {},
    certPem: null,
    configs: [],
    cost: 0,
    disabled: false,
    hostname: '',
    interfaces: null,
    isOnline: false,
    isTunnelerEnabled: false,
    isVerified: false,
    noTraversal: false,
    roleAttributes: [],
    supportedProtocols: {},
    syncStatus: 'SYNC_UNKNOWN',
    unverifiedCertPem: null,
    unverifiedFingerprint: null,
  },
  changed: {
    ...TAGS,
    appData: { rack: 7 },
    cost: 65_535,
    ctrlChanListeners: { 'tls:ctrl:6262': ['a', 'b'] },
    disabled: true,
    noTraversal: true,
    roleAttributes: ['public'],
  },
  readOnly: {
    ...BASE,
    certPem: 'forged',
    fingerprint: 'forged',
    hostname: 'forged',
    isOnline: true,
    isVerified: true,
    syncStatus: 'SYNC_DONE',
    unverifiedCertPem: 'forged',
    unverifiedFingerprint: 'forged',
    enrollmentToken: 'forged',
  },
}

function policy(path: string, singular: string, roles: readonly (keyof typeof NO_ROLES)[], more: object = {}): Kind {
  const lists = Object.fromEntries(roles.map((role) => [role, [] as readonly string[]]))
  const displays = Object.fromEntries(roles.map((role) => [`${role}Display`, [] as readonly unknown[]]))
  const filled = Object.fromEntries(roles.map((role) => [role, ['#b', '#a', '#b']]))
  const sorted = Object.fromEntries(roles.map((role) => [role, ['#a', '#b']]))
  const named = Object.fromEntries(
    roles.map((role) => [
      `${role}Display`,
      [
        { role: '#a', name: '#a' },
        { role: '#b', name: '#b' },
      ],
    ]),
  )
  return {
    path,
    singular,
    minimal: { semantic: 'AllOf', ...more },
    required: ['name', 'semantic', ...Object.keys(more)],
    defaults: { semantic: 'AllOf', ...more, ...lists, ...displays },
    changed: { ...TAGS, semantic: 'AnyOf', ...(Object.hasOwn(more, 'type') ? { type: 'Bind' } : {}), ...filled },
    shown: { ...sorted, ...named },
    readOnly: { ...BASE, isSystem: true, ...displays },
  }
}

const postureChecks: Kind = {
  path: '/posture-checks',
  singular: 'posture check',
  minimal: { typeId: 'DOMAIN', domains: ['corp'] },
  discriminator: { typeId: 'DOMAIN' },
  required: ['name', 'typeId', 'domains'],
  defaults: { roleAttributes: [], typeId: 'DOMAIN', version: 1, domains: ['corp'] },
  changed: { ...TAGS, roleAttributes: ['#b', 'a'], domains: ['b.example', 'a.example'] },
  shown: { roleAttributes: ['#b', 'a'], domains: ['a.example', 'b.example'] },
  readOnly: { ...BASE, version: 9, isSystem: true },
}

/** Every kind of entity that the management API creates, reads, changes and deletes. */
export const KINDS: readonly Kind[] = [
  identities,
  services,
  edgeRouters,
  policy('/service-policies', 'service policy', ['identityRoles', 'postureCheckRoles', 'serviceRoles'], {
    type: 'Dial',
  }),
  policy('/edge-router-policies', 'edge router policy', ['edgeRouterRoles', 'identityRoles']),
  policy('/service-edge-router-policies', 'service edge router policy', ['edgeRouterRoles', 'serviceRoles']),
  postureChecks,
]

/** How a reference to an entity is shown. */
function expectedRef(entity: string, id: string, name: string) {
  return { _links: { self: { href: `./${entity}/${id}` } }, entity, id, name }
}
