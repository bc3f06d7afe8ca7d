import type { JWTPayload } from 'jose'
import { fromBase64 } from '../../base/bytes.ts'
import { holdsStorableText } from '../../base/text.ts'
import { isYetToCome } from '../../base/time.ts'
import type { ExternalTokens, KeySets, TokenSigner, TokenVerdict } from '../../ports/credentials.ts'
import { loadJose, verifyToken } from '../jose-library.ts'
import { createSignerKeys, type KeysForToken, UnfitKey, type VerificationKeyOptions } from './signer-keys.ts'

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512']
const MAX_TOKEN_LENGTH = 65_536

/** JSON Web Tokens of external signers, by jose. */
export function createExternalTokens(keySets: KeySets, options: VerificationKeyOptions): ExternalTokens {
  const keysOf = createSignerKeys(keySets, options)
  return {
    issuerOf: (token) => {
      const claims = token.length > MAX_TOKEN_LENGTH ? undefined : unverifiedClaims(token)
      return typeof claims?.iss === 'string' ? claims.iss : undefined
    },
    verify: async (token, signer, now): Promise<TokenVerdict> => {
      const { errors } = await loadJose()
      const keys = keysOf(signer, now)
      const verify = () => verifiedClaims(token, signer, keys, now)
      try {
        const claims = await verify().catch(async (problem: unknown) => {
          const mayBeTheKey = problem instanceof UnfitKey || problem instanceof errors.JWSSignatureVerificationFailed
          if (!mayBeTheKey || !(await keys.renew())) throw problem
          return verify()
        })
        const isFromAhead = claims.iat !== undefined && isYetToCome(claims.iat * 1000, now)
        if (isFromAhead || !holdsStorableText(claims)) return { outcome: 'invalid' }
        return { outcome: 'valid', claims }
      } catch (problem) {
        return { outcome: problem instanceof errors.JWTExpired ? 'expired' : 'invalid' }
      }
    },
  }
}

function verifiedClaims(
  token: string,
  { issuer, audience }: TokenSigner,
  keys: KeysForToken,
  now: number,
): Promise<JWTPayload> {
  // The header of a token is untrusted: it may hold anything.
  const findKey = ({ kid, alg }: { readonly kid?: unknown; readonly alg?: unknown }) => {
    if (typeof kid !== 'string' || typeof alg !== 'string') throw new Error('token names no key')
    return keys.find({ kid, alg })
  }
  return verifyToken(token, findKey, now, { algorithms: ALGORITHMS, issuer, audience, requiredClaims: ['exp'] })
}

function unverifiedClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  const [, body, ...rest] = token.split('.')
  if (body === undefined || rest.length !== 1) return undefined
  try {
    const octets = fromBase64(body.replaceAll('-', '+').replaceAll('_', '/'))
    const claims: unknown = JSON.parse(new TextDecoder().decode(octets))
    return typeof claims === 'object' && claims !== null ? { ...claims } : undefined
  } catch {
    return undefined
  }
}
