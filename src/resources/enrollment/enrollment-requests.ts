import { z } from 'zod'
import { Id, Instant } from '../declaration/fields.ts'
import { narrowed } from '../declaration/narrowed.ts'
import { described } from '../declaration/words.ts'
import { GivenUsername } from '../login/passwords.ts'

interface OneTimeTokenCreate {
  readonly method: 'ott'
  readonly identityId: string
  /** RFC 3339. */
  readonly expiresAt: string
}
/** What is sent to invite an identity to enroll, by method. */
export type EnrollmentCreate =
  | OneTimeTokenCreate
  | (Omit<OneTimeTokenCreate, 'method'> & { readonly method: 'ottca'; readonly caId: string })
  | (Omit<OneTimeTokenCreate, 'method'> & { readonly method: 'updb'; readonly username: string })

/** POST /enrollments. */
export const EnrollmentCreation = narrowed<EnrollmentCreate>()(
  described(
    z.object({
      caId: Id.optional(),
      expiresAt: Instant,
      identityId: Id,
      method: z.enum(['ott', 'ottca', 'updb']),
      username: GivenUsername.optional(),
    }),
    {
      caId: 'For `ottca`: the id of the CA whose certificate is needed.',
      expiresAt: 'When the enrollment is void, RFC 3339; in the future.',
      identityId: 'The id of the identity; it has no enrollment of the method yet.',
      method: 'How to enroll: `ott` by signing request, `ottca` by certificate of a CA, `updb` by password.',
      username:
        'For `updb`: the username, 1 to 100 characters, unique in the network. With fewer than 4 one logs in by OpenID Connect alone.',
    },
  ),
)
