import { z } from 'zod'
import { ControllerError, type ErrorCode, invalidField } from '../../base/errors.ts'
import type { Call } from '../../context/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import { Password } from '../../facts/credentials/authenticator.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { done } from '../../http/operations/operation.ts'
import { Pem } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import { controllersForClients } from '../network/controllers.rows.ts'
import {
  EnrollBody,
  Enrolled,
  EnrolledByCertificate,
  EnrolledByPassword,
  EnrolledRouter,
  EnrolledSomehow,
  REQUESTS,
} from './enrollment-forms.rows.ts'

const ERRORS: readonly ErrorCode[] = [
  'INVALID_ENROLLMENT_TOKEN',
  'INVALID_ENROLL_METHOD',
  'ENROLLMENT_EXPIRED',
  'COULD_NOT_PROCESS_CSR',
  'INVALID_ENROLLMENT_NOT_ALLOWED',
  'NOT_FOUND',
]

const CA_ERRORS: readonly ErrorCode[] = [
  'ENROLLMENT_NO_VALID_CAS',
  'CERT_FAILED_VALIDATION',
  'MISSING_CERT_CLAIM',
  'CERT_IN_USE',
]

const TokenInQuery = described(z.object({ token: z.string().max(256).optional() }), {
  token: 'The one-time token of the enrollment, where the body does not hold it.',
})

/** The token in the body, as OpenZiti's documents of its API have it, or in the query, as its SDKs send it. */
function tokenIn(
  body: { readonly token?: string | undefined } | undefined,
  query: { readonly token?: string | undefined },
) {
  const token = body?.token ?? query.token
  if (token === undefined) throw invalidField('token', 'token in body is required', undefined)
  return token
}

/** Turning a token, a certificate or both into credentials. */
export const enrollOperations = [
  defineOperation(
    {
      route: 'POST /enroll',
      summary: 'Enrolls by any method; the body is a PEM signing request or a JSON object that holds what is needed',
      description:
        'The members that are needed depend on the method. The certificate that was issued is in the answer.',
      access: 'public',
      credentials: ['none', 'certificate'],
      query: described(z.object({ method: z.string().optional(), token: z.string().max(256).optional() }), {
        method:
          'How to enroll: `ott`, `ottca`, `updb`, `erott`, `trott` or `ca`. By default what the enrollment of the token says.',
        token: 'The one-time token of the enrollment; not needed for `ca`.',
      }),
      textBody: ['application/x-pem-file', 'application/pkcs7', 'text/plain'],
      body: EnrollBody,
      bodyOptional: true,
      data: EnrolledSomehow,
      errors: [
        ...ERRORS,
        ...CA_ERRORS,
        'ENROLLMENT_CA_NOT_VALID',
        'CERTIFICATE_FAILED_VALIDATION',
        'MISSING_OR_INVALID_CSR',
        'INVALID_ENROLLMENT_ALREADY_ENROLLED',
      ],
    },
    async ({ engine, call, query, body, text }) => {
      const { token = '' } = query
      // Only the JSON form promises that a token is a UUID; any other text is an unknown token.
      if (text === undefined && token !== '' && !z.uuid().safeParse(token).success) {
        throw invalidField('token', 'token in query must be of type uuid', '')
      }
      const method =
        query.method ?? (text === undefined && token !== '' ? await engine.enrollment.methodOf(token) : 'ott')
      // A method that enrolls by a signing request alone answers that the request is missing.
      if (text === undefined && body === undefined && !['ca', 'ott', 'erott', 'trott'].includes(method)) {
        throw invalidField('body', 'body is required', undefined)
      }
      return enroll(engine, call, { method, token, ...body, ...(text !== undefined && { clientCsr: text }) })
    },
  ),
  defineOperation(
    {
      route: 'POST /enroll/ott',
      summary: 'Enrolls an identity with a one-time token and a certificate signing request',
      description: 'The enrollment is used up by it.',
      access: 'public',
      query: TokenInQuery,
      body: described(z.object({ token: z.string().optional(), clientCsr: Pem }), REQUESTS),
      // An absent request is refused like an empty one.
      spellings: (body) => ({ clientCsr: '', ...body }),
      data: Enrolled,
      errors: ERRORS,
    },
    ({ engine, call, query, body }) => byOneTimeToken(engine, call, tokenIn(body, query), body.clientCsr),
  ),
  defineOperation(
    {
      route: 'POST /enroll/ottca',
      summary: 'Enrolls an identity with a one-time token and its third-party client certificate',
      description:
        'To be called over a connection with a certificate of the CA that the enrollment names. The enrollment is used up by it.',
      access: 'public',
      credentials: ['certificate'],
      query: TokenInQuery,
      body: described(z.object({ token: z.string().optional(), clientCsr: Pem.optional() }), {
        ...REQUESTS,
        clientCsr: 'Not looked at: the certificate of the connection is enrolled.',
      }),
      bodyOptional: true,
      data: EnrolledByCertificate,
      errors: [...ERRORS, 'ENROLLMENT_CA_NOT_VALID', 'CERTIFICATE_FAILED_VALIDATION', 'CERT_IN_USE'],
    },
    ({ engine, call, query, body }) => byClientCertificate(engine, call, tokenIn(body, query)),
  ),
  defineOperation(
    {
      route: 'POST /enroll/ca',
      summary: 'Makes an identity for the holder of a certificate of a third party that is trusted with it',
      description:
        'To be called over a connection with a certificate of a verified CA that lets its holders enroll by themselves.',
      access: 'public',
      credentials: ['certificate'],
      errors: [...CA_ERRORS, 'INVALID_ENROLLMENT_NOT_ALLOWED', 'NOT_FOUND'],
    },
    async ({ engine, call }) => done(engine.caEnrollment.enroll(call, undefined)),
  ),
  defineOperation(
    {
      route: 'POST /enroll/updb',
      summary: 'Enrolls an identity with a one-time token and a password of its choice',
      description: 'The enrollment is used up by it.',
      access: 'public',
      query: z.object({ token: z.string() }),
      body: described(z.object({ username: z.string().optional(), password: Password }), REQUESTS),
      data: EnrolledByPassword,
      errors: ERRORS,
    },
    ({ engine, call, query, body }) => byPassword(engine, call, query.token, body.password),
  ),
  defineOperation(
    {
      route: 'POST /enroll/erott',
      summary: 'Enrolls an edge router with a one-time token and two signing requests',
      description: 'The enrollment is used up by it.',
      access: 'public',
      query: TokenInQuery,
      body: described(z.object({ token: z.string().optional(), clientCsr: Pem, serverCsr: Pem }), REQUESTS),
      spellings: (body) => ({ clientCsr: '', serverCsr: '', ...body }),
      data: EnrolledRouter,
      errors: [...ERRORS, 'MISSING_OR_INVALID_CSR'],
    },
    ({ engine, call, query, body }) => routerByOneTimeToken(engine, call, 'erott', tokenIn(body, query), body),
  ),
  defineOperation(
    {
      route: 'POST /enroll/extend/router',
      summary: 'Replaces the certificates of the calling router; its current certificate is void at once',
      description: 'To be called over a connection with the present certificate of the router.',
      access: 'public',
      credentials: ['certificate'],
      body: described(z.object({ certCsr: Pem, serverCertCsr: Pem }), REQUESTS),
      data: EnrolledRouter,
      errors: ['UNAUTHORIZED', 'COULD_NOT_PROCESS_CSR'],
    },
    async ({ engine, call, body }) => {
      const requests = { clientCsr: body.certCsr, serverCsr: body.serverCertCsr }
      const { cert, serverCert } = await engine.routerEnrollment.extend(call, requests)
      return { data: { ca: engine.network.caPem, cert, serverCert } }
    },
  ),
  defineOperation(
    {
      route: 'POST /enroll/token',
      summary: 'Makes an identity for the holder of a token of an external signer',
      description: 'The signer says whether the identity gets a certificate or goes on authenticating by tokens.',
      access: 'public',
      credentials: ['token'],
      headers: ['Authorization', 'ziti-token-issuer-id'],
      body: described(z.object({ clientCsr: Pem.optional() }), {
        clientCsr:
          'The signing request for a client certificate, PEM; without one the identity authenticates by tokens.',
      }),
      bodyOptional: true,
      data: EnrolledSomehow,
      errors: [...ERRORS, 'ENROLLMENT_IDENTITY_ALREADY_ENROLLED', 'INVALID_ENROLLMENT_ALREADY_ENROLLED'],
    },
    async ({ engine, call, headers, body }) => {
      const cert = await engine.tokenEnrollment.enroll(call, headers.get('ziti-token-issuer-id'), body?.clientCsr)
      const controllers = await controllersForClients(engine)
      if (cert === undefined) return { data: { controllers } }
      return { data: { ca: engine.network.caPem, cert, controllers } }
    },
  ),
] as const

interface Request extends z.output<typeof EnrollBody> {
  readonly method: string
  readonly token: string
}

/** Answers for each method, in the operation that takes all methods. */
async function enroll(engine: ControllerEngine, call: Call, request: Request) {
  const { method, token, clientCsr = '', certCsr = '', serverCertCsr = '' } = request
  switch (method) {
    case 'ott':
      return byOneTimeToken(engine, call, token, clientCsr)
    case 'ottca':
      return byClientCertificate(engine, call, token)
    case 'updb':
      return byPassword(engine, call, token, request.password ?? '')
    case 'ca':
      await engine.caEnrollment.enroll(call, request.name)
      return { data: {} }
    case 'erott':
    case 'trott':
      return routerByOneTimeToken(engine, call, method, token, { clientCsr: certCsr, serverCsr: serverCertCsr })
    default:
      throw new ControllerError('INVALID_ENROLL_METHOD')
  }
}

async function byOneTimeToken(engine: ControllerEngine, call: Call, token: string, clientCsr: string) {
  const { certificateChainPem } = await engine.enrollment.byOneTimeToken(call, token, clientCsr)
  return { data: { cert: certificateChainPem, controllers: await controllersForClients(engine) } }
}

async function byClientCertificate(engine: ControllerEngine, call: Call, token: string) {
  await engine.enrollment.byClientCertificate(call, token)
  return { data: { controllers: await controllersForClients(engine) } }
}

async function byPassword(engine: ControllerEngine, call: Call, token: string, password: string) {
  const { username } = await engine.enrollment.byPassword(call, token, password)
  return { data: { username, controllers: await controllersForClients(engine) } }
}

async function routerByOneTimeToken(
  engine: ControllerEngine,
  call: Call,
  method: 'erott' | 'trott',
  token: string,
  requests: { readonly clientCsr: string; readonly serverCsr: string },
) {
  const { cert, serverCert } = await engine.routerEnrollment.byOneTimeToken(call, method, token, requests)
  return { data: { ca: engine.network.caPem, cert, serverCert } }
}
