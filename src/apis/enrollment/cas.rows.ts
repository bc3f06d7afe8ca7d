import { ControllerError } from '../../base/errors.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { DONE } from '../../http/operations/operation.ts'

/** Operations on third-party certificate authorities beside their management. */
export const caOperations = [
  defineOperation(
    {
      route: 'POST /cas/{id}/verify',
      summary: 'Proves control of a CA by a certificate that it signed, whose common name is the verification token',
      description: 'The body is the certificate in PEM. Until then the CA neither enrolls nor authenticates anybody.',
      access: { entity: 'ca', action: 'update' },
      textBody: ['text/plain'],
      errors: [
        'CA_ALREADY_VERIFIED',
        'COULD_NOT_PARSE_BODY',
        'EXPECTED_PEM_CERTIFICATE',
        'COULD_NOT_PARSE_DER_BLOCK',
        'INVALID_COMMON_NAME',
        'CERTIFICATE_FAILED_VALIDATION',
      ],
    },
    async ({ engine, call, params, text }) => {
      if (text === undefined) throw new ControllerError('COULD_NOT_PARSE_BODY')
      await engine.certificateAuthorities.verify(call, params.id, text)
      return DONE
    },
  ),
  defineOperation(
    {
      route: 'GET /cas/{id}/jwt',
      summary: 'Shows the token with which holders of certificates of a CA enroll by themselves',
      description: 'It is the same for everybody and tells no secret: a certificate of the CA is needed besides.',
      access: { entity: 'ca', action: 'read' },
      produces: 'application/jwt',
    },
    async ({ engine, params }) => ({ raw: await engine.certificateAuthorities.enrollmentJwt(params.id) }),
  ),
] as const
