import { z } from 'zod'
import { ControllerError } from '../../domain/errors.ts'
import type { Call } from '../../engine/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import { Pem } from '../../resources/fields.ts'
import { type Answer, defineOperation } from '../operation.ts'
import { requireJsonAccepted } from '../read-input.ts'

const Enrolled = z.object({ cert: z.string() })

const EnrollBody = z.object({
  name: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  clientCsr: Pem.optional(),
  certCsr: Pem.optional(),
  serverCertCsr: Pem.optional(),
})

/** Enrollment by one-time token with a certificate signing request, as JSON or as plain PEM. */
export const enrollOperations = [
  defineOperation(
    {
      route: 'POST /enroll',
      summary: 'Enrolls with a token; the body is a PEM signing request or a JSON object that holds one',
      access: 'public',
      query: z.object({ method: z.string().optional(), token: z.uuid().optional() }),
      textBody: ['application/x-pem-file', 'application/pkcs7', 'text/plain'],
      body: EnrollBody,
      data: Enrolled,
      errors: ['INVALID_ENROLLMENT_TOKEN', 'INVALID_ENROLL_METHOD', 'ENROLLMENT_EXPIRED', 'COULD_NOT_PROCESS_CSR'],
    },
    async ({ engine, call, query, body, text, headers }) => {
      if (text !== undefined) requireJsonAccepted(headers)
      const { method = 'ott', token = '' } = query
      if (method !== 'ott') throw new ControllerError('INVALID_ENROLL_METHOD')
      return enrollByToken(engine, call, token, text ?? body?.clientCsr ?? '')
    },
  ),
  defineOperation(
    {
      route: 'POST /enroll/ott',
      summary: 'Enrolls an identity with a one-time token and a certificate signing request',
      access: 'public',
      body: z.object({ token: z.string(), clientCsr: Pem }),
      data: Enrolled,
      errors: ['INVALID_ENROLLMENT_TOKEN', 'INVALID_ENROLL_METHOD', 'ENROLLMENT_EXPIRED', 'COULD_NOT_PROCESS_CSR'],
    },
    ({ engine, call, body }) => enrollByToken(engine, call, body.token, body.clientCsr),
  ),
] as const

async function enrollByToken(engine: ControllerEngine, call: Call, token: string, csrPem: string): Promise<Answer> {
  const { certificateChainPem } = await engine.enrollment.byOneTimeToken(call, token, csrPem)
  return { data: { cert: certificateChainPem } }
}
