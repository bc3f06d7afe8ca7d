import type { ControllerEngine } from '../../engine/engine.ts'
import type { Caller } from '../../kernel/context/call.ts'
import type { Access } from '../operations/operation.ts'
import { HttpRefusal } from './problem.ts'

const MISSING = 'error="missing" error_description="no matching token was provided"'
const EXPIRED = 'error="expired" error_description="token expired"'
const BEARER = 'Bearer realm="openziti-oidc"'
const INVALID = 'error="invalid" error_description="token is invalid"'

/** Finds out who calls with an access token; see `BearerSessions`. */
export interface BearerAuthentication {
  resolve(
    tokens: readonly string[],
    clientCertificates: readonly Uint8Array[],
  ): Promise<Caller | 'missing' | 'invalid' | 'expired'>
}

/** How a request says who sends it. */
export interface Credentials {
  readonly headers: Headers
  readonly clientCertificates: readonly Uint8Array[]
  /** Absent where no tokens are issued. */
  readonly bearer: BearerAuthentication | undefined
}

/**
 * Finds the caller of a request: the holder of the token in `zt-session`, whatever comes besides, or of an access token.
 * Error: `UNAUTHORIZED` with the challenge that tells what was wrong.
 */
async function authenticate(engine: ControllerEngine, credentials: Credentials): Promise<Caller> {
  const { headers, bearer, clientCertificates } = credentials
  const tokens = bearerTokens(headers)
  const token = headers.get('zt-session')?.trim()
  if (token) {
    const caller = await engine.apiSessions.resolve(token, tokens)
    if (caller === undefined) throw unauthenticated(`zt-session realm="zt-session" ${INVALID}`)
    return caller
  }
  const sent = tokens.filter((text) => text !== '')
  const otherwise = sent.length === 0 ? 'missing' : 'invalid'
  const found = sent.length > 0 && bearer ? await bearer.resolve(sent, clientCertificates) : otherwise
  if (found === 'missing') throw unauthenticated(`zt-session realm="zt-session" ${MISSING},${BEARER} ${MISSING}`)
  if (found === 'invalid') throw unauthenticated(`${BEARER} ${INVALID}`)
  if (found === 'expired') throw unauthenticated(`${BEARER} ${EXPIRED}`)
  return found
}

function unauthenticated(challenge: string): HttpRefusal {
  const details = { code: 'UNHANDLED', message: 'unauthenticated for invalid credentials' }
  return new HttpRefusal('UNAUTHORIZED', 401, details, { 'www-authenticate': challenge })
}

const MAX_TOKENS = 3

/** The bearer tokens of a request: of its `Authorization` headers, which arrive joined by commas, the first three. */
export function bearerTokens(headers: Headers): readonly string[] {
  const header = headers.get('authorization')
  if (header === null) return []
  return header
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value.startsWith('Bearer '))
    .slice(0, MAX_TOKENS)
    .map((value) => value.slice('Bearer '.length))
}

/**
 * Finds the caller of a request and counts it: by identity, or by address where the operation is open or the token is not
 * good, so that guessing tokens is limited too. Errors: `UNAUTHORIZED`, `SERVER_TOO_MANY_REQUESTS`.
 */
export async function countedCaller(
  engine: ControllerEngine,
  access: Access,
  credentials: Credentials,
  address: string | undefined,
): Promise<Caller | undefined> {
  const { requestRates } = engine
  if (access === 'public') {
    await requestRates.countAnonymous(address)
    return undefined
  }
  const caller = await authenticate(engine, credentials).catch(async (error: unknown) => {
    await requestRates.countAnonymous(address)
    throw error
  })
  await requestRates.countIdentity(caller.identity.id)
  return caller
}
