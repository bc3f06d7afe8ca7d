import { z } from 'zod'
import { equals } from '../../../domain/filter/index.ts'
import { Id, Instant, Pem, Tags } from '../../../resources/declaration/fields.ts'
import { narrowed } from '../../../resources/declaration/narrowed.ts'
import { described } from '../../../resources/declaration/words.ts'
import { enrollments } from '../../../resources/enrollment/enrollments.ts'
import { authenticators } from '../../../resources/login/authenticators.ts'
import { Created, created, DONE } from '../../operations/answers.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { wireSchema } from '../../operations/wire-schema.ts'
import { GivenUsername, Password, Username } from '../../shared/passwords.ts'

const WORDS = {
  password: 'The password, 5 to 100 characters that fulfil the auth policy.',
  username: 'The username, 4 to 100 characters, unique in the network.',
} as const

interface AuthenticatorOfIdentity {
  readonly identityId: string
  readonly tags?: Readonly<Record<string, unknown>>
}
/** What a client sends to give an identity an authenticator, by method. */
export type AuthenticatorCreate = AuthenticatorOfIdentity &
  (
    | { readonly method: 'updb'; readonly username: string; readonly password: string }
    | { readonly method: 'cert'; readonly certPem: string }
  )

const Creation = described(
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
)
const Replacement = described(z.object({ password: Password, tags: Tags.default({}), username: Username }), WORDS)
const Change = described(
  z.object({ password: Password.optional(), tags: Tags.optional(), username: Username.optional() }),
  WORDS,
)

const UPDATE = { entity: 'authenticator', action: 'update' } as const

/** Credentials of identities, as admins manage them: what is beyond listing, showing and deleting. */
export const authenticatorOperations = [
  defineOperation(
    {
      route: 'POST /authenticators',
      summary: 'Gives an identity a username and password, or a client certificate',
      description: 'An identity that has an authenticator of the method already is answered 409.',
      access: { entity: 'authenticator', action: 'create' },
      body: narrowed<AuthenticatorCreate>()(Creation),
      data: Created,
      status: 201,
      errors: ['MAX_AUTHENTICATOR_METHODS_REACHED', 'COULD_NOT_PARSE_PEM_BLOCK', 'CERT_FAILED_VALIDATION', 'NOT_FOUND'],
    },
    async ({ engine, call, body }) => created(authenticators, (await engine.authenticators.create(call, body)).id),
  ),
  defineOperation(
    {
      route: 'PUT /authenticators/{id}',
      summary: 'Replaces a username and password',
      description: 'For a username and password alone.',
      access: UPDATE,
      body: Replacement,
      errors: ['CAN_NOT_UPDATE_AUTHENTICATOR'],
    },
    async ({ engine, call, params, body }) => {
      await engine.authenticators.change(call, params.id, body)
      return DONE
    },
  ),
  defineOperation(
    {
      route: 'PATCH /authenticators/{id}',
      summary: 'Changes a username or password',
      description: 'For a username and password alone.',
      access: UPDATE,
      body: Change,
      errors: ['CAN_NOT_UPDATE_AUTHENTICATOR'],
    },
    async ({ engine, call, params, body }) => {
      await engine.authenticators.change(call, params.id, body)
      return DONE
    },
  ),
  defineOperation(
    {
      route: 'POST /authenticators/{id}/re-enroll',
      summary: 'Turns an authenticator back into an enrollment',
      description:
        'The authenticator and the API sessions that it started are gone at once; the answer names the enrollment.',
      access: UPDATE,
      body: described(z.object({ expiresAt: Instant }), {
        expiresAt: 'When the enrollment is void, RFC 3339; in the future.',
      }),
      data: Created,
      status: 201,
      errors: ['ENROLLMENT_EXISTS'],
    },
    async ({ engine, call, params, body }) =>
      created(enrollments, await engine.authenticators.revertToEnrollment(call, params.id, body.expiresAt)),
  ),
  defineOperation(
    {
      route: 'POST /authenticators/{id}/request-extend',
      summary: 'Asks the holder of a certificate to extend it',
      description: 'Its holder reads of it in its API session. A username and password is answered 401.',
      access: UPDATE,
      body: described(z.object({ rollKeys: z.boolean().default(false) }), {
        rollKeys: 'Whether the holder should use a new key; false by default.',
      }),
      bodyOptional: true,
    },
    async ({ engine, call, params, body }) => {
      await engine.authenticators.requestExtension(call, params.id, body?.rollKeys ?? false)
      return DONE
    },
  ),
  defineOperation(
    {
      route: 'GET /identities/{id}/authenticators',
      summary: 'Lists the authenticators of one identity',
      access: { entity: 'authenticator', action: 'read' },
      data: wireSchema(authenticators),
      symbols: authenticators.symbols,
    },
    // Deployed clients see an empty list below an unknown identity.
    async ({ engine, call, params, find }) => {
      const own = equals('identityId', params.id)
      return { page: await engine.reader.list(call, authenticators, find, async () => own) }
    },
  ),
] as const
