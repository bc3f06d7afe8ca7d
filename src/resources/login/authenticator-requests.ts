import { z } from 'zod'
import { Id, Instant, Pem, Tags } from '../declaration/fields.ts'
import { narrowed } from '../declaration/narrowed.ts'
import { described } from '../declaration/words.ts'
import { GivenUsername, Password, Username } from './passwords.ts'

interface AuthenticatorOfIdentity {
  readonly identityId: string
  readonly tags?: Readonly<Record<string, unknown>>
}
/** What is sent to give an identity an authenticator, by method. */
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

/** PATCH /authenticators/{id}: what is absent stays. */
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

/** When an enrollment that is made or renewed is void. */
export const EnrollmentExpiry = described(z.object({ expiresAt: Instant }), {
  expiresAt: 'When the enrollment is void, RFC 3339; in the future.',
})

/** POST /authenticators/{id}/request-extend. */
export const ExtensionRequest = described(z.object({ rollKeys: z.boolean().default(false) }), {
  rollKeys: 'Whether the holder should use a new key; false by default.',
})
