import type { ExternalTokens, TokenVerdict } from '../../ports/external-tokens.ts'
import type { KeySets } from '../../ports/key-sets.ts'
import { createSignerKeys } from './signer-keys.ts'

const algorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512']
const maxTokenLength = 65_536

/** JSON Web Tokens of external signers, by jose. */
export const createExternalTokens = (keySets: KeySets): ExternalTokens => {
  const keyOf = createSignerKeys(keySets)
  return {
    issuerOf: (token) => {
      const claims = token.length > maxTokenLength ? undefined : unverifiedClaims(token)
      return typeof claims?.iss === 'string' ? claims.iss : undefined
    },
    verify: async (token, signer, now): Promise<TokenVerdict> => {
      const { jwtVerify, errors } = await import('jose')
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid, alg }) => {
            if (kid === undefined || alg === undefined) throw new Error('token names no key')
            return keyOf(signer, kid, alg, now)
          },
          {
            algorithms,
            issuer: signer.issuer,
            audience: signer.audience,
            currentDate: new Date(now),
            requiredClaims: ['exp'],
          },
        )
        if (payload.iat !== undefined && payload.iat > now / 1000) return { outcome: 'invalid' }
        return { outcome: 'valid', claims: payload }
      } catch (problem) {
        return { outcome: problem instanceof errors.JWTExpired ? 'expired' : 'invalid' }
      }
    },
  }
}

const unverifiedClaims = (token: string): Readonly<Record<string, unknown>> | undefined => {
  const [, body, ...rest] = token.split('.')
  if (body === undefined || rest.length !== 1) return undefined
  try {
    const claims: unknown = JSON.parse(
      new TextDecoder().decode(
        Uint8Array.from(atob(body.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0)),
      ),
    )
    return typeof claims === 'object' && claims !== null ? { ...claims } : undefined
  } catch {
    return undefined
  }
}
