import { z } from 'zod'
import { defineResource } from '../declaration/define-resource.ts'
import { Id, Instant, Pem } from '../declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../declaration/resource.ts'

const DEFINITION = {
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
  mayBeAbsent: [
    'username',
    'certPem',
    'fingerprint',
    'isIssuedByNetwork',
    'lastAuthResolvedToRoot',
    'isExtendRequested',
    'isKeyRollRequested',
    'extendRequestedAt',
    'lastExtendRolledKeys',
  ],
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
  mostPerOwner: { owner: 'identityId', limit: 'authenticatorsPerIdentity' },
  unique: ['username', 'fingerprint'],
  indexed: ['identityId', 'caId'],
  references: {
    identityId: { to: 'identities', onDelete: 'cascade', show: 'identity' },
    caId: { to: 'cas', onDelete: 'cascade' },
  },
  symbols: { identity: 'identityId', updbUsername: 'username', certFingerprint: 'fingerprint' },
  operations: ['list', 'get', 'delete'],
} as const satisfies ResourceDefinition

/** Proof that somebody is an identity: a username with a password, or a client certificate. */
export interface Authenticators extends Resource<typeof DEFINITION> {}
export const authenticators: Authenticators = defineResource(DEFINITION, {
  identityId: 'The id of the identity that authenticates by it.',
  method: '`updb` for a username and password, `cert` for a client certificate.',
  username: 'The username, unique in the network; for `updb` alone.',
  certPem: 'The client certificate, PEM; for `cert` alone.',
  fingerprint: 'SHA-1 of the certificate in DER form, 40 lower-case hex digits; for `cert` alone.',
  isIssuedByNetwork: 'True when this network issued the certificate, so that it can be extended; for `cert` alone.',
  lastAuthResolvedToRoot: 'True when the last login sent a chain that leads to a root by itself; for `cert` alone.',
  isExtendRequested: 'True while the holder is asked to extend the certificate; for `cert` alone.',
  isKeyRollRequested: 'True while the holder is asked to use a new key for it; for `cert` alone.',
  extendRequestedAt: 'When the extension was asked for, RFC 3339; absent when it was not. For `cert` alone.',
  lastExtendRolledKeys: 'True when the last extension came with a new key; for `cert` alone.',
})
