import { z } from 'zod'
import type { Permission } from '../../../domain/authority.ts'
import { equals } from '../../../domain/filter/index.ts'
import { Id, Instant } from '../../../resources/declaration/fields.ts'
import { narrowed } from '../../../resources/declaration/narrowed.ts'
import { described } from '../../../resources/declaration/words.ts'
import { enrollments } from '../../../resources/enrollment/enrollments.ts'
import { Created, created, DONE } from '../../operations/answers.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { wireSchema } from '../../operations/wire-schema.ts'
import { GivenUsername } from '../../shared/passwords.ts'

function may(action: Permission['action']): Permission {
  return { entity: 'enrollment', action }
}

const EXPIRES_AT = 'When the enrollment is void, RFC 3339; in the future.'

interface OneTimeTokenCreate {
  readonly method: 'ott'
  readonly identityId: string
  /** RFC 3339. */
  readonly expiresAt: string
}
/** What a client sends to invite an identity to enroll, by method. */
export type EnrollmentCreate =
  | OneTimeTokenCreate
  | (Omit<OneTimeTokenCreate, 'method'> & { readonly method: 'ottca'; readonly caId: string })
  | (Omit<OneTimeTokenCreate, 'method'> & { readonly method: 'updb'; readonly username: string })

const Creation = described(
  z.object({
    caId: Id.optional(),
    expiresAt: Instant,
    identityId: Id,
    method: z.enum(['ott', 'ottca', 'updb']),
    username: GivenUsername.optional(),
  }),
  {
    caId: 'For `ottca`: the id of the CA whose certificate is needed.',
    expiresAt: EXPIRES_AT,
    identityId: 'The id of the identity; it has no enrollment of the method yet.',
    method: 'How to enroll: `ott` by signing request, `ottca` by certificate of a CA, `updb` by password.',
    username:
      'For `updb`: the username, 1 to 100 characters, unique in the network. With fewer than 4 one logs in by OpenID Connect alone.',
  },
)

/** Invitations to enroll. Who is no admin sees and changes none that leads to an admin. */
export const enrollmentOperations = [
  defineOperation(
    {
      route: 'GET /enrollments',
      summary: 'Lists enrollments',
      access: may('read'),
      data: wireSchema(enrollments),
      symbols: enrollments.symbols,
    },
    async ({ engine, call, find }) => ({ page: await engine.enrollments.list(call, find) }),
  ),
  defineOperation(
    {
      route: 'GET /enrollments/{id}',
      summary: 'Shows one enrollment',
      access: may('read'),
      data: wireSchema(enrollments),
    },
    async ({ engine, call, params }) => ({
      data: await engine.enrollments.get(call, params.id),
    }),
  ),
  defineOperation(
    {
      route: 'POST /enrollments',
      summary: 'Invites an identity to enroll',
      description: 'The answer names the enrollment; its token is shown by GET /enrollments/{id}.',
      access: may('create'),
      body: narrowed<EnrollmentCreate>()(Creation),
      data: Created,
      status: 201,
      errors: ['INVALID_FIELD', 'ENROLLMENT_EXISTS'],
    },
    async ({ engine, call, body }) => created(enrollments, (await engine.enrollments.create(call, body)).id),
  ),
  defineOperation(
    {
      route: 'POST /enrollments/{id}/refresh',
      summary: 'Gives an enrollment a new token and time; the old token is void',
      access: may('update'),
      body: described(z.object({ expiresAt: Instant }), { expiresAt: EXPIRES_AT }),
      data: Created,
    },
    async ({ engine, call, params, body }) => {
      await engine.enrollments.refresh(call, params.id, body.expiresAt)
      return created(enrollments, params.id)
    },
  ),
  defineOperation(
    {
      route: 'DELETE /enrollments/{id}',
      summary: 'Deletes one enrollment',
      access: may('delete'),
      errors: ['COULD_NOT_VALIDATE'],
    },
    async ({ engine, call, params }) => {
      await engine.enrollments.delete(call, params.id)
      return DONE
    },
  ),
  defineOperation(
    {
      route: 'GET /identities/{id}/enrollments',
      summary: 'Lists the enrollments of one identity',
      access: may('read'),
      data: wireSchema(enrollments),
      symbols: enrollments.symbols,
    },
    // Deployed clients see an empty list below an unknown identity.
    async ({ engine, call, params, find }) => ({
      page: await engine.enrollments.list(call, find, equals('identityId', params.id)),
    }),
  ),
] as const
