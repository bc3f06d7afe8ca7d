import type { JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose'
import { CLOCK_TOLERANCE_SECONDS } from '../base/time.ts'

let library: Promise<typeof import('jose')> | undefined

/** The library of JSON Web Tokens, loaded on first use. It is imported only once, since each `import()` takes as long as a digest. */
export function loadJose(): Promise<typeof import('jose')> {
  library ??= import('jose')
  return library
}

/**
 * Verifies a token at `now` (epoch ms) and answers its claims. The clock of the issuer may be ahead, so `nbf` and `iat` may be up to {@link
 * CLOCK_TOLERANCE_SECONDS} seconds in the future. `exp` is exact: no token is valid for longer than it says. Throws the errors of the
 * library.
 */
export async function verifyToken(
  token: string,
  findKey: JWTVerifyGetKey,
  now: number,
  expected: Pick<JWTVerifyOptions, 'algorithms' | 'issuer' | 'audience' | 'requiredClaims'> = {},
): Promise<JWTPayload> {
  const { errors, jwtVerify } = await loadJose()
  const clockTolerance = CLOCK_TOLERANCE_SECONDS
  const { payload } = await jwtVerify(token, findKey, { ...expected, currentDate: new Date(now), clockTolerance })
  if (payload.exp !== undefined && payload.exp <= Math.floor(now / 1000)) {
    throw new errors.JWTExpired('the token has expired', payload, 'exp', 'check_failed')
  }
  return payload
}
