import { z } from 'zod'
import type { Caller } from '../../engine/context/call.ts'
import { described } from '../../resources/declaration/words.ts'
import { EnvInfo, SdkInfo } from '../../resources/identities/identities.ts'
import { defineOperation, type OperationInput } from '../operations/define-operation.ts'
import { secondaryChallenge } from '../pipeline/authorize.ts'
import { CurrentApiSession, currentApiSession } from './shown-api-session.ts'

const Credentials = described(
  z.object({
    configTypes: z.array(z.string().max(1024)).max(1000).nullish(),
    envInfo: EnvInfo.nullish(),
    password: z.string().min(5).max(100).optional(),
    sdkInfo: SdkInfo.nullish(),
    username: z.string().min(4).max(100).optional(),
  }),
  {
    configTypes:
      'Config types, by id or name, whose configs the session sees in services; `all` for every type. Unknown ones do not matter.',
    envInfo: 'The environment of the client, kept with the identity.',
    password: 'The password, for `password`; 5 to 100 characters.',
    sdkInfo: 'The SDK of the client, kept with the identity.',
    username: 'The username, for `password`; 4 to 100 characters, case matters.',
  },
)

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
  body: Credentials,
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

function callerBy({ engine, call, query, body }: OperationInput<typeof SHAPE>): Promise<Caller> {
  const client = {
    configTypes: body?.configTypes ?? [],
    envInfo: body?.envInfo ?? undefined,
    sdkInfo: body?.sdkInfo ?? undefined,
  }
  switch (query.method) {
    case 'password':
      return engine.authentication.byPassword(call, body?.username ?? '', body?.password ?? '', client)
    case 'cert':
      return engine.authentication.byCertificate(call, client)
    case 'ext-jwt':
      return engine.authentication.byExternalJwt(call, client)
  }
}
