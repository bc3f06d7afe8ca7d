import { z } from 'zod'
import type { Caller } from '../../engine/context/call.ts'
import { described } from '../../resources/declaration/words.ts'
import { LoginRequest } from '../../resources/login/login-requests.ts'
import { defineOperation, type OperationInput } from '../operations/define-operation.ts'
import { secondaryChallenge } from '../pipeline/authorize.ts'
import { CurrentApiSession, currentApiSession } from './shown-api-session.ts'

const SHAPE = {
  route: 'POST /authenticate',
  summary: 'Authenticates by password, client certificate or external JWT and starts an API session',
  description:
    'The token of the session is in the answer and in the header `zt-session`, and good for all APIs. The session may be incomplete: `authQueries` says what is still to be proved. All failures look alike; too many wrong passwords lock the password as the auth policy says.',
  access: 'public',
  credentials: ['none', 'certificate', 'token'],
  query: described(z.object({ method: z.enum(['password', 'cert', 'ext-jwt']) }), {
    method: 'By what to authenticate: username and password, client certificate, or token of an external JWT signer.',
  }),
  headers: ['authorization'],
  body: LoginRequest,
  bodyOptional: true,
  data: CurrentApiSession,
  errors: ['INVALID_AUTH', 'INVALID_AUTH_METHOD', 'UNAUTHORIZED'],
} as const

/** Starts an API session, valid for both APIs; its token is in the answer and in the header `zt-session`. */
export const authenticate = defineOperation(SHAPE, async (input) => {
  const { engine } = input
  const caller = await callerBy(input)
  const data = await currentApiSession(engine, caller)
  const { timeoutMs } = engine.apiSessions
  const challenge = secondaryChallenge(caller)
  return {
    data,
    headers: {
      'zt-session': caller.token,
      ...(challenge !== undefined && { 'www-authenticate': challenge }),
      'expiration-seconds': String(Math.floor(timeoutMs / 1000)),
      ...(challenge !== undefined && { 'www-authenticate': challenge }),
      ...(data.isCertExtendRequested === true && { 'ziti-authenticator-extend-requested': 'true' }),
      'expires-at': new Date(caller.apiSession.lastActivityAt + timeoutMs).toISOString(),
    },
  }
})

function callerBy({ engine, call, query, request = {} }: OperationInput<typeof SHAPE>): Promise<Caller> {
  switch (query.method) {
    case 'password':
      return engine.authentication.byPassword(call, request.username ?? '', request.password ?? '', request)
    case 'cert':
      return engine.authentication.byCertificate(call, request)
    case 'ext-jwt':
      return engine.authentication.byExternalJwt(call, request)
  }
}
