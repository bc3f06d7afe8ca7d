export type Kind = 'text' | 'integer' | 'boolean' | 'instant' | 'set' | 'map'

/** The symbols that filters of all lists may name. */
export const COMMON = {
  id: 'text',
  createdAt: 'instant',
  updatedAt: 'instant',
  tags: 'map',
  isSystem: 'boolean',
} as const
const POLICY = { name: 'text', semantic: 'text' } as const
const ROUTER = {
  name: 'text',
  fingerprint: 'text',
  cost: 'integer',
  noTraversal: 'boolean',
  disabled: 'boolean',
  ctrlChanListeners: 'map',
  configs: 'set',
  connected: 'boolean',
} as const

/** The symbols that filters of each list may name, besides those that all may. */
export const SYMBOLS: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  '/api-sessions': {
    token: 'text',
    identity: 'text',
    lastActivityAt: 'instant',
    authenticator: 'text',
    ipAddress: 'text',
    mfaComplete: 'boolean',
    mfaRequired: 'boolean',
    improperClientCertChain: 'boolean',
  },
  '/auth-policies': {
    name: 'text',
    'primary.cert.allowed': 'boolean',
    'primary.cert.allowExpiredCerts': 'boolean',
    'primary.updb.allowed': 'boolean',
    'primary.updb.minPasswordLength': 'integer',
    'primary.updb.requireSpecialChar': 'boolean',
    'primary.updb.requireNumberChar': 'boolean',
    'primary.updb.requireMixedCase': 'boolean',
    'primary.updb.maxAttempts': 'integer',
    'primary.extJwt.allowed': 'boolean',
    'secondary.requireTotp': 'boolean',
    'secondary.requireExtJwtSigner': 'text',
  },
  '/authenticators': {
    method: 'text',
    identity: 'text',
    updbUsername: 'text',
    certFingerprint: 'text',
    certPem: 'text',
    isIssuedByNetwork: 'boolean',
    isExtendRequested: 'boolean',
    isKeyRollRequested: 'boolean',
    extendRequestedAt: 'instant',
    lastAuthResolvedToRoot: 'boolean',
    lastExtendRolledKeys: 'boolean',
  },
  '/cas': {
    name: 'text',
    fingerprint: 'text',
    isVerified: 'boolean',
    verificationToken: 'text',
    isAutoCaEnrollmentEnabled: 'boolean',
    isOttCaEnrollmentEnabled: 'boolean',
    isAuthEnabled: 'boolean',
  },
  '/config-types': { name: 'text', schema: 'map', target: 'text' },
  '/configs': { name: 'text', type: 'text' },
  '/controllers': {
    name: 'text',
    ctrlAddress: 'text',
    certPem: 'text',
    fingerprint: 'text',
    isOnline: 'boolean',
    lastJoinedAt: 'instant',
    isPreferredLeader: 'boolean',
  },
  '/edge-router-policies': { ...POLICY, identityRoles: 'set', edgeRouterRoles: 'set' },
  '/edge-routers': {
    ...ROUTER,
    online: 'boolean',
    roleAttributes: 'set',
    isVerified: 'boolean',
    isTunnelerEnabled: 'boolean',
  },
  '/enrollments': { token: 'text', identity: 'text', edgeRouter: 'text', transitRouter: 'text', caId: 'text' },
  '/external-jwt-signers': {
    name: 'text',
    fingerprint: 'text',
    kid: 'text',
    issuer: 'text',
    certPem: 'text',
    commonName: 'text',
    notAfter: 'instant',
    notBefore: 'instant',
    enabled: 'boolean',
    claimsProperty: 'text',
    useExternalId: 'boolean',
    audience: 'text',
    clientId: 'text',
    scopes: 'set',
    targetToken: 'text',
    enrollToCertEnabled: 'boolean',
    enrollToTokenEnabled: 'boolean',
    attributeClaimsSelector: 'text',
    enrollAttributeClaimsSelector: 'text',
    enrollNameClaimsSelector: 'text',
    enrollAuthPolicyId: 'text',
  },
  '/identities': {
    name: 'text',
    externalId: 'text',
    type: 'text',
    authPolicyId: 'text',
    isAdmin: 'boolean',
    isDefaultAdmin: 'boolean',
    roleAttributes: 'set',
  },
  '/identity-types': { name: 'text' },
  '/posture-check-types': { name: 'text' },
  '/posture-checks': {
    name: 'text',
    typeId: 'text',
    promptOnUnlock: 'boolean',
    promptOnWake: 'boolean',
    roleAttributes: 'set',
  },
  '/revocations': { expiresAt: 'instant', type: 'text', issuedBefore: 'instant' },
  '/routers': ROUTER,
  '/service-edge-router-policies': { ...POLICY, serviceRoles: 'set', edgeRouterRoles: 'set' },
  '/service-policies': {
    ...POLICY,
    type: 'text',
    identityRoles: 'set',
    serviceRoles: 'set',
    postureCheckRoles: 'set',
    identities: 'set',
    services: 'set',
  },
  '/services': {
    name: 'text',
    terminatorStrategy: 'text',
    roleAttributes: 'set',
    isFabricOnly: 'boolean',
    configs: 'set',
  },
  '/sessions': { token: 'text', apiSession: 'text', service: 'text', type: 'text' },
  '/terminators': {
    binding: 'text',
    address: 'text',
    instanceId: 'text',
    hostId: 'text',
    sourceCtrl: 'text',
    service: 'text',
    router: 'text',
    'service.name': 'text',
    'router.name': 'text',
  },
  '/transit-routers': ROUTER,
}

/** Conditions on a symbol, by what it holds. */
export function conditionsOn(symbol: string, kind: Kind): readonly string[] {
  switch (kind) {
    case 'text':
      return [`${symbol} = "a"`, `${symbol} contains "a"`, `${symbol} = null`, `${symbol} > "b"`]
    case 'integer':
      return [`${symbol} >= 5`, `${symbol} between 0 and 3`]
    case 'boolean':
      return [symbol, `${symbol} = false`]
    case 'instant':
      return [`${symbol} < datetime(2999-01-01T00:00:00Z)`, `${symbol} = null`]
    case 'set':
      return [`anyOf(${symbol}) = "a"`, `allOf(${symbol}) contains "a"`, `isEmpty(${symbol})`, `count(${symbol}) > 1`]
    case 'map':
      return [`${symbol}.key = "a"`, `${symbol}.key != null`]
  }
}
