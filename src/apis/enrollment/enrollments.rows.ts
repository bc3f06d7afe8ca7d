import type { Permission } from '../../facts/authority/authority.rules.ts'
import { EnrollmentExpiry } from '../../facts/credentials/authenticator.resource.ts'
import { EnrollmentCreation, enrollments } from '../../facts/enrollment/enrollment.resource.ts'
import { defineOperation, wireSchema } from '../../http/operations/define-operation.ts'
import { Created, created, done } from '../../http/operations/operation.ts'
import { equals } from '../../kernel/filter/index.ts'

function may(action: Permission['action']): Permission {
  return { entity: 'enrollment', action }
}

/** Invitations to enroll. Only an admin sees and changes invitations of admins. */
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
    async ({ engine, call, params }) => ({ data: await engine.enrollments.get(call, params.id) }),
  ),
  defineOperation(
    {
      route: 'POST /enrollments',
      summary: 'Invites an identity to enroll',
      description: 'The answer names the enrollment; its token is shown by GET /enrollments/{id}.',
      access: may('create'),
      body: EnrollmentCreation,
      data: Created,
      status: 201,
      errors: ['INVALID_FIELD', 'ENROLLMENT_EXISTS'],
    },
    async ({ engine, call, request }) => created(enrollments, (await engine.enrollments.create(call, request)).id),
  ),
  defineOperation(
    {
      route: 'POST /enrollments/{id}/refresh',
      summary: 'Gives an enrollment a new token and time; the old token is void',
      access: may('update'),
      body: EnrollmentExpiry,
      data: Created,
    },
    async ({ engine, call, params, request }) => {
      await engine.enrollments.refresh(call, params.id, request)
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
    async ({ engine, call, params }) => done(engine.enrollments.delete(call, params.id)),
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
