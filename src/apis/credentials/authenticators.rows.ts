import {
  AuthenticatorCreation,
  authenticators,
  EnrollmentExpiry,
  ExtensionRequest,
  PasswordChange,
  PasswordReplacement,
} from '../../facts/credentials/authenticator.resource.ts'
import { enrollments } from '../../facts/enrollment/enrollment.resource.ts'
import { defineOperation, wireSchema } from '../../http/operations/define-operation.ts'
import { Created, created, done } from '../../http/operations/operation.ts'
import { equals } from '../../kernel/filter/index.ts'

const UPDATE = { entity: 'authenticator', action: 'update' } as const

/** Credentials of identities, as admins manage them, beyond listing, showing and deleting. */
export const authenticatorOperations = [
  defineOperation(
    {
      route: 'POST /authenticators',
      summary: 'Gives an identity a username and password, or a client certificate',
      description: 'An identity that has an authenticator of the method already is answered 409.',
      access: { entity: 'authenticator', action: 'create' },
      body: AuthenticatorCreation,
      data: Created,
      status: 201,
      errors: ['MAX_AUTHENTICATOR_METHODS_REACHED', 'COULD_NOT_PARSE_PEM_BLOCK', 'CERT_FAILED_VALIDATION', 'NOT_FOUND'],
    },
    async ({ engine, call, request }) =>
      created(authenticators, (await engine.authenticators.create(call, request)).id),
  ),
  defineOperation(
    {
      route: 'PUT /authenticators/{id}',
      summary: 'Replaces a username and password',
      description: 'For a username and password alone.',
      access: UPDATE,
      body: PasswordReplacement,
      errors: ['CAN_NOT_UPDATE_AUTHENTICATOR'],
    },
    async ({ engine, call, params, request }) => done(engine.authenticators.replace(call, params.id, request)),
  ),
  defineOperation(
    {
      route: 'PATCH /authenticators/{id}',
      summary: 'Changes a username or password',
      description: 'For a username and password alone.',
      access: UPDATE,
      body: PasswordChange,
      errors: ['CAN_NOT_UPDATE_AUTHENTICATOR'],
    },
    async ({ engine, call, params, request }) => done(engine.authenticators.patch(call, params.id, request)),
  ),
  defineOperation(
    {
      route: 'POST /authenticators/{id}/re-enroll',
      summary: 'Turns an authenticator back into an enrollment',
      description:
        'The authenticator and the API sessions that it started are gone at once; the answer names the enrollment.',
      access: UPDATE,
      body: EnrollmentExpiry,
      data: Created,
      status: 201,
      errors: ['ENROLLMENT_EXISTS'],
    },
    async ({ engine, call, params, request }) =>
      created(enrollments, await engine.authenticators.revertToEnrollment(call, params.id, request)),
  ),
  defineOperation(
    {
      route: 'POST /authenticators/{id}/request-extend',
      summary: 'Asks the holder of a certificate to extend it',
      description: 'Its holder reads of it in its API session. A username and password is answered 401.',
      access: UPDATE,
      body: ExtensionRequest,
      bodyOptional: true,
    },
    async ({ engine, call, params, request }) => done(engine.authenticators.requestExtension(call, params.id, request)),
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
