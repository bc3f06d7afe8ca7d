import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { Id, Instant } from './fields.ts'

/** A missing proof that a client must give to complete its authentication. */
const AuthQuery = z.object({
  clientId: z.string().optional(),
  format: z.enum(['numeric', 'alpha', 'alphaNumeric']).optional(),
  httpMethod: z.string().optional(),
  httpUrl: z.string().optional(),
  id: z.string().optional(),
  isTotpEnrolled: z.boolean().optional(),
  maxLength: z.int().optional(),
  minLength: z.int().optional(),
  provider: z.enum(['ziti', 'url']),
  scopes: z.array(z.string()).nullable().optional(),
  typeId: z.enum(['MFA', 'TOTP', 'EXT-JWT']),
})

/** An authenticated presence of an identity (interface: API session). Only a digest of its token is stored. */
export const apiSessions = defineResource({
  name: 'api-sessions',
  singular: 'api session',
  storeName: 'apiSessions',
  permission: 'ops',
  writable: {},
  system: {
    identityId: Id,
    authenticatorId: z.string(),
    tokenDigest: z.string(),
    ipAddress: z.string(),
    configTypes: z.array(z.string()),
    isMfaRequired: z.boolean(),
    isMfaComplete: z.boolean(),
    isCertExtendable: z.boolean(),
    improperClientCertChain: z.boolean(),
    lastActivityAt: Instant,
    method: z.enum(['password', 'cert', 'ext-jwt']),
  },
  derived: {
    authQueries: z.array(AuthQuery),
    cachedLastActivityAt: z.iso.datetime(),
    isCertExtendRequested: z.boolean().optional(),
    isCertKeyRollRequested: z.boolean().optional(),
    token: z.string(),
  },
  hidden: ['tokenDigest', 'method'],
  required: [],
  unique: ['tokenDigest'],
  indexed: ['identityId', 'authenticatorId'],
  references: {
    identityId: { to: 'identities', onDelete: 'cascade', show: 'identity' },
    authenticatorId: { to: 'authenticators', isLoose: true, onDelete: 'cascade' },
  },
  links: ['sessions'],
  symbols: {
    identity: 'identityId',
    authenticator: 'authenticatorId',
    mfaComplete: 'isMfaComplete',
    mfaRequired: 'isMfaRequired',
  },
  operations: ['list', 'get', 'delete'],
})
