import type { Caller } from '../../engine/context/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import { HttpRefusal } from './answer/problem.ts'
import { bearerTokens } from './bearer-tokens.ts'

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
export async function authenticate(engine: ControllerEngine, credentials: Credentials): Promise<Caller> {
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
