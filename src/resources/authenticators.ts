import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { Id, Pem } from './fields.ts'

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
    certPem: Pem.nullable(),
    fingerprint: z.string().nullable(),
    isIssuedByNetwork: z.boolean(),
    lastAuthResolvedToRoot: z.boolean(),
  },
  hidden: ['passwordHash'],
  required: [],
  unique: ['username', 'fingerprint'],
  indexed: ['identityId'],
  references: { identityId: { to: 'identities', onDelete: 'cascade', show: 'identity' } },
  symbols: { identity: 'identityId', updbUsername: 'username', certFingerprint: 'fingerprint' },
  operations: [],
})
