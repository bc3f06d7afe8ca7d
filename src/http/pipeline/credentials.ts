import type { Caller } from '../../engine/context/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import { HttpRefusal } from './answer/problem.ts'
import { bearerTokens } from './bearer-tokens.ts'

const MISSING = 'error="missing" error_description="no matching token was provided"'
const INVALID = 'error="invalid" error_description="token is invalid"'

/**
 * Finds the caller of a request: the holder of the token in `zt-session`. An `Authorization: Bearer` token is refused as
 * long as no issuer of such tokens is known. Error: `UNAUTHORIZED` with the challenge that tells what was wrong.
 */
export async function authenticate(engine: ControllerEngine, headers: Headers): Promise<Caller> {
  const token = headers.get('zt-session')?.trim()
  if (token) {
    const caller = await engine.apiSessions.resolve(token, bearerTokens(headers))
    if (caller === undefined) throw unauthenticated(`zt-session realm="zt-session" ${INVALID}`)
    return caller
  }
  if (headers.get('authorization')?.startsWith('Bearer ')) {
    throw unauthenticated(`Bearer realm="openziti-oidc" ${INVALID}`)
  }
  throw unauthenticated(`zt-session realm="zt-session" ${MISSING},Bearer realm="openziti-oidc" ${MISSING}`)
}

function unauthenticated(challenge: string): HttpRefusal {
  const details = { code: 'UNHANDLED', message: 'unauthenticated for invalid credentials' }
  return new HttpRefusal('UNAUTHORIZED', 401, details, { 'www-authenticate': challenge })
}
