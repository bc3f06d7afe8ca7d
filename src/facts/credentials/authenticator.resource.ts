import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Id, Instant, narrowed, Pem, Tags } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'
import { described } from '../../kernel/declaration/words.ts'

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
    /** A certificate that was issued to replace the current certificate, until its holder confirms it. */
    unverifiedPem: Pem.nullable(),
    unverifiedFingerprint: z.string().nullable(),
    isIssuedByNetwork: z.boolean(),
    /** The key identifier of the network's authority that signed the certificate; null for an unknown authority. */
    authorityKeyId: z.string().nullable(),
    /** The third-party certificate authority by which the certificate was enrolled. */
    caId: Id.nullable(),
    lastAuthResolvedToRoot: z.boolean(),
    isExtendRequested: z.boolean(),
    isKeyRollRequested: z.boolean(),
    extendRequestedAt: Instant.nullable(),
    lastExtendRolledKeys: z.boolean(),
  },
  quirks: {
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
  },
  hidden: [
    'passwordHash',
    'failedAttempts',
    'lockedAt',
    'lockedUntil',
    'unverifiedPem',
    'unverifiedFingerprint',
    'authorityKeyId',
    'caId',
  ],
  required: [],
  mostPerOwner: { owner: 'identityId', limit: 'authenticatorsPerIdentity' },
  unique: ['username', 'fingerprint'],
  indexed: ['identityId', 'caId', 'authorityKeyId'],
  references: {
    identityId: { to: 'identities', onDelete: 'cascade', show: 'identity' },
    caId: { to: 'cas', onDelete: 'cascade' },
  },
  symbols: { authorityKeyId: null, identity: 'identityId', updbUsername: 'username', certFingerprint: 'fingerprint' },
  operations: ['list', 'get', 'delete'],
} as const satisfies ResourceDefinition

/** A credential of an identity: a username with a password, or a client certificate. */
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

/** Usernames and passwords: 4 to 100 and 5 to 100 characters. */
export const Username = z.string().min(4).max(100)
/** A username that an administrator assigns: deployed controllers demand only one character. */
export const GivenUsername = z.string().min(1).max(100)
export const Password = z.string().min(5).max(100)

interface AuthenticatorOfIdentity {
  readonly identityId: string
  readonly tags?: Readonly<Record<string, unknown>>
}
/** A request that gives an identity an authenticator, by method. */
export type AuthenticatorCreate = AuthenticatorOfIdentity &
  (
    | { readonly method: 'updb'; readonly username: string; readonly password: string }
    | { readonly method: 'cert'; readonly certPem: string }
  )

const WORDS = {
  password: 'The password, 5 to 100 characters that fulfil the auth policy.',
  username: 'The username, 4 to 100 characters, unique in the network.',
} as const
const OWN_WORDS = {
  currentPassword: 'The password that is good at present; a wrong one is answered 401.',
  password: 'The new password, 5 to 100 characters that fulfil the auth policy.',
  username: 'The new username, 4 to 100 characters, unique in the network.',
} as const

/** POST /authenticators. */
export const AuthenticatorCreation = narrowed<AuthenticatorCreate>()(
  described(
    z.object({
      certPem: Pem.optional(),
      identityId: Id,
      method: z.string(),
      password: Password.optional(),
      tags: Tags.default({}),
      username: GivenUsername.optional(),
    }),
    {
      certPem:
        'The client certificate, one certificate in PEM, for `cert`. A CA that the network trusts must have issued it.',
      identityId: 'The id of the identity; it has no authenticator of the method yet.',
      method: '`updb` for a username and password, `cert` for a client certificate.',
      password: `For \`updb\`: ${WORDS.password}`,
      username:
        'For `updb`: the username, 1 to 100 characters, unique in the network. With fewer than 4 one logs in by OpenID Connect alone.',
    },
  ),
)

/** PUT /authenticators/{id}: both are set. */
export const PasswordReplacement = described(
  z.object({ password: Password, tags: Tags.default({}), username: Username }),
  WORDS,
)

/** PATCH /authenticators/{id}: absent members stay. */
export const PasswordChange = described(
  z.object({ password: Password.optional(), tags: Tags.optional(), username: Username.optional() }),
  WORDS,
)

/** PUT /current-identity/authenticators/{id}. */
export const OwnPasswordReplacement = described(
  z.object({ currentPassword: Password, password: Password, tags: Tags.default({}), username: Username }),
  OWN_WORDS,
)

/** PATCH /current-identity/authenticators/{id}. */
export const OwnPasswordChange = described(
  z.object({
    currentPassword: Password,
    password: Password.optional(),
    tags: Tags.optional(),
    username: Username.optional(),
  }),
  OWN_WORDS,
)

/** The expiry of a new or renewed enrollment. */
export const EnrollmentExpiry = described(z.object({ expiresAt: Instant.optional() }), {
  expiresAt:
    "When the enrollment is void, RFC 3339; in the future. By default as long from now as the controller's enrollment tokens are good.",
})

/** POST /authenticators/{id}/request-extend. */
export const ExtensionRequest = described(z.object({ rollKeys: z.boolean().default(false) }), {
  rollKeys: 'Whether the holder should use a new key; false by default.',
})
