import { z } from 'zod'
import { ControllerError, type ErrorCode, invalidField } from '../../domain/errors.ts'
import type { Call } from '../../engine/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import { Pem } from '../../resources/fields.ts'
import { DONE } from '../answers.ts'
import { Password } from '../management/authenticators.ts'
import { type Answer, defineOperation } from '../operation.ts'

const Enrolled = z.object({ ca: z.string().optional(), cert: z.string(), serverCert: z.string().optional() })
const EnrolledRouter = z.object({ ca: z.string(), cert: z.string(), serverCert: z.string() })

const EnrollBody = z.object({
  name: z.string().optional(),
  username: z.string().optional(),
  password: Password.optional(),
  clientCsr: Pem.optional(),
  certCsr: Pem.optional(),
  serverCertCsr: Pem.optional(),
})

const ERRORS: readonly ErrorCode[] = [
  'INVALID_ENROLLMENT_TOKEN',
  'INVALID_ENROLL_METHOD',
  'ENROLLMENT_EXPIRED',
  'COULD_NOT_PROCESS_CSR',
  'NOT_FOUND',
]

const METHODS = ['ott', 'ottca', 'updb', 'erott', 'trott', 'ca'] as const

/** Turning a token, a certificate or both into credentials. */
export const enrollOperations = [
  defineOperation(
    {
      route: 'POST /enroll',
      summary: 'Enrolls by any method; the body is a PEM signing request or a JSON object that holds what is needed',
      access: 'public',
      query: z.object({ method: z.string().optional(), token: z.string().max(256).optional() }),
      textBody: ['application/x-pem-file', 'application/pkcs7', 'text/plain'],
      body: EnrollBody,
      bodyOptional: true,
      data: Enrolled,
      errors: [...ERRORS, 'CERT_IN_USE', 'INVALID_ENROLLMENT_ALREADY_ENROLLED'],
    },
    async ({ engine, call, query, body, text }) => {
      const { token = '' } = query
      // Only the JSON form promises that a token is a UUID; any other text is an unknown token.
      if (text === undefined && token !== '' && !z.uuid().safeParse(token).success) {
        throw invalidField('token', 'token in query must be of type uuid', '')
      }
      const method =
        query.method ?? (text === undefined && token !== '' ? await engine.enrollment.methodOf(token) : 'ott')
      if (text === undefined && body === undefined && method !== 'ca') {
        throw invalidField('body', 'body is required', undefined)
      }
      return enroll(engine, call, { method, token, ...body, ...(text !== undefined && { clientCsr: text }) })
    },
  ),
  defineOperation(
    {
      route: 'POST /enroll/ott',
      summary: 'Enrolls an identity with a one-time token and a certificate signing request',
      access: 'public',
      body: z.object({ token: z.string(), clientCsr: Pem }),
      data: Enrolled,
      errors: ERRORS,
    },
    ({ engine, call, body }) => enroll(engine, call, { method: 'ott', ...body }),
  ),
  defineOperation(
    {
      route: 'POST /enroll/ottca',
      summary: 'Enrolls an identity with a one-time token and its third-party client certificate',
      access: 'public',
      body: z.object({ token: z.string(), clientCsr: Pem.optional() }),
      errors: [...ERRORS, 'ENROLLMENT_CA_NOT_VALID', 'CERTIFICATE_FAILED_VALIDATION', 'CERT_IN_USE'],
    },
    ({ engine, call, body }) => enroll(engine, call, { method: 'ottca', token: body.token }),
  ),
  defineOperation(
    {
      route: 'POST /enroll/ca',
      summary: 'Makes an identity for the holder of a certificate of a third party that is trusted with it',
      access: 'public',
      errors: ['ENROLLMENT_NO_VALID_CAS', 'CERT_FAILED_VALIDATION', 'MISSING_CERT_CLAIM', 'CERT_IN_USE', 'NOT_FOUND'],
    },
    ({ engine, call }) => enroll(engine, call, { method: 'ca', token: '' }),
  ),
  defineOperation(
    {
      route: 'POST /enroll/updb',
      summary: 'Enrolls an identity with a one-time token and a password of its choice',
      access: 'public',
      query: z.object({ token: z.string() }),
      body: z.object({ username: z.string().optional(), password: Password }),
      data: z.object({ username: z.string() }),
      errors: ERRORS,
    },
    ({ engine, call, query, body }) => enroll(engine, call, { method: 'updb', token: query.token, ...body }),
  ),
  defineOperation(
    {
      route: 'POST /enroll/erott',
      summary: 'Enrolls an edge router with a one-time token and two signing requests',
      access: 'public',
      body: z.object({ token: z.string(), clientCsr: Pem, serverCsr: Pem }),
      data: EnrolledRouter,
      errors: [...ERRORS, 'MISSING_OR_INVALID_CSR'],
    },
    ({ engine, call, body: { token, clientCsr, serverCsr } }) =>
      enroll(engine, call, { method: 'erott', token, certCsr: clientCsr, serverCertCsr: serverCsr }),
  ),
  defineOperation(
    {
      route: 'POST /enroll/extend/router',
      summary: 'Replaces the certificates of the router that calls with its current one, which is void at once',
      access: 'public',
      body: z.object({ certCsr: Pem, serverCertCsr: Pem }),
      data: EnrolledRouter,
      errors: ['UNAUTHORIZED', 'COULD_NOT_PROCESS_CSR'],
    },
    async ({ engine, call, body }) => {
      const requests = { clientCsr: body.certCsr, serverCsr: body.serverCertCsr }
      const { cert, serverCert } = await engine.routerEnrollment.extend(call, requests)
      return { data: { ca: engine.context.pki.caBundlePem, cert, serverCert } }
    },
  ),
  defineOperation(
    {
      route: 'POST /enroll/token',
      summary: 'Makes an identity for the holder of a token of an external signer',
      access: 'public',
      headers: ['Authorization', 'ziti-token-issuer-id'],
      body: z.object({ clientCsr: Pem.optional() }),
      bodyOptional: true,
      data: Enrolled,
      errors: [
        ...ERRORS,
        'ENROLLMENT_IDENTITY_ALREADY_ENROLLED',
        'INVALID_ENROLLMENT_NOT_ALLOWED',
        'INVALID_ENROLLMENT_ALREADY_ENROLLED',
      ],
    },
    async ({ engine, call, headers, body }) => {
      const cert = await engine.tokenEnrollment.enroll(call, headers.get('ziti-token-issuer-id'), body?.clientCsr)
      return cert === undefined ? DONE : { data: { ca: engine.context.pki.caBundlePem, cert } }
    },
  ),
] as const

interface Request extends z.output<typeof EnrollBody> {
  readonly method: string
  readonly token: string
}

async function enroll(engine: ControllerEngine, call: Call, request: Request): Promise<Answer> {
  const { token, clientCsr = '', certCsr = '', serverCertCsr = '' } = request
  switch (METHODS.find((method) => method === request.method)) {
    case 'ott': {
      const { certificateChainPem } = await engine.enrollment.byOneTimeToken(call, token, clientCsr)
      return { data: { cert: certificateChainPem } }
    }
    case 'ottca':
      await engine.enrollment.byClientCertificate(call, token)
      return DONE
    case 'updb':
      return { data: await engine.enrollment.byPassword(call, token, request.password ?? '') }
    case 'ca':
      await engine.caEnrollment.enroll(call, request.name)
      return DONE
    case 'erott':
    case 'trott': {
      const method = request.method === 'trott' ? 'trott' : 'erott'
      const requests = { clientCsr: certCsr, serverCsr: serverCertCsr }
      const { cert, serverCert } = await engine.routerEnrollment.byOneTimeToken(call, method, token, requests)
      return { data: { ca: engine.context.pki.caBundlePem, cert, serverCert } }
    }
    default:
      throw new ControllerError('INVALID_ENROLL_METHOD')
  }
}
