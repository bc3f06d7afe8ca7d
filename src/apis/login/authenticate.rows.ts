import { z } from 'zod'
import { type Caller, callerOf } from '../../context/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import { apiSessions } from '../../facts/login/api-session.resource.ts'
import { LoginRequest } from '../../facts/login/login-requests.resource.ts'
import type { CurrentApiSession as Shown } from '../../facts/resources/wire-names.ts'
import { defineOperation, type OperationInput, wireSchema } from '../../http/operations/define-operation.ts'
import { done } from '../../http/operations/operation.ts'
import { secondaryChallenge } from '../../http/pipeline/authorize.ts'
import { narrowed } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'

/** An API session as its holder sees it. */
const CurrentApiSession = narrowed<Shown>()(
  z.intersection(
    wireSchema(apiSessions),
    described(z.object({ expirationSeconds: z.int(), expiresAt: z.iso.datetime() }), {
      expirationSeconds: 'The seconds without use after which the session ends.',
      expiresAt: 'When it ends without further use, RFC 3339.',
    }),
  ),
)

/** The caller's API session in its wire form. */
async function currentApiSession(engine: ControllerEngine, caller: Caller) {
  const shown = await engine.reader.show({ by: 'caller', caller }, apiSessions, caller.apiSession)
  return { ...shown, ...engine.apiSessions.ownMembers(caller) }
}

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

/** Starts an API session, valid for all APIs; its token is in the answer and in the header `zt-session`. */
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

/** Reading the caller's own API session, and logging out. */
export const currentApiSessionOperations = [
  defineOperation(
    {
      route: 'GET /current-api-session',
      summary: 'Shows the API session of the caller and keeps it alive',
      description: '`authQueries` says what is still to be proved before other operations are open.',
      access: 'partial',
      data: CurrentApiSession,
    },
    async ({ engine, call }) => ({ data: await currentApiSession(engine, callerOf(call)) }),
  ),
  defineOperation(
    {
      route: 'DELETE /current-api-session',
      summary: 'Ends the API session of the caller',
      description: 'Sessions that it granted end with it.',
      access: 'partial',
    },
    async ({ engine, call }) => done(engine.apiSessions.end(call, callerOf(call).apiSession.id)),
  ),
] as const
