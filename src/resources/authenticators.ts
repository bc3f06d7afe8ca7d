import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { Id, Instant, Pem } from './fields.ts'

/** Proof that somebody is an identity: a username with a password, or a client certificate (interface: Authenticator). */
export const authenticators = defineResource({
  name: 'authenticators',
  singular: 'authenticator',
  storeName: 'authenticators',
  permission: 'authenticator',
  writable: {},
  system: {
    identityId: Id,
    method: z.enum(['updb', 'cert']),
    username: z.string().nullable(),
    passwordHash: z.string().nullable(),
    failedAttempts: z.int(),
    lockedAt: Instant.nullable(),
    lockedUntil: Instant.nullable(),
    certPem: Pem.nullable(),
    fingerprint: z.string().nullable(),
    /** A certificate that was issued to replace this one, as long as its holder did not confirm it. */
    unverifiedPem: Pem.nullable(),
    unverifiedFingerprint: z.string().nullable(),
    isIssuedByNetwork: z.boolean(),
    /** The third-party certificate authority that the certificate came through. */
    caId: Id.nullable(),
    lastAuthResolvedToRoot: z.boolean(),
    isExtendRequested: z.boolean(),
    isKeyRollRequested: z.boolean(),
    extendRequestedAt: Instant.nullable(),
    lastExtendRolledKeys: z.boolean(),
  },
  hidden: [
    'passwordHash',
    'failedAttempts',
    'lockedAt',
    'lockedUntil',
    'unverifiedPem',
    'unverifiedFingerprint',
    'caId',
  ],
  required: [],
  unique: ['username', 'fingerprint'],
  indexed: ['identityId', 'caId'],
  references: {
    identityId: { to: 'identities', onDelete: 'cascade', show: 'identity' },
    caId: { to: 'cas', onDelete: 'cascade' },
  },
  symbols: { identity: 'identityId', updbUsername: 'username', certFingerprint: 'fingerprint' },
  operations: ['list', 'get', 'delete'],
})
