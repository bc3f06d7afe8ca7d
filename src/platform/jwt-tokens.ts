import { toBase64, toBase64Url } from '../base/bytes.ts'
import type { TokenJudgement, Tokens } from '../ports/credentials.ts'
import { loadJose, verifyToken } from './jose-library.ts'
import type { ServerCredentials, TokenKey } from './server-credentials.ts'

/** Our tokens are shorter: they have some two thousand characters. */
const MAX_TOKEN_LENGTH = 16_384

/** The fingerprint of a certificate, by which our tokens name their key. */
const FINGERPRINT = /^[0-9a-f]{40}$/

class UnknownKey extends Error {
  readonly kid: string

  constructor(kid: string) {
    super('token is not signed here')
    this.kid = kid
  }
}

/**
 * Tokens signed with the key of the TLS server certificate in use, by the algorithm that fits it: ES256, ES384, ES512, RS256 or EdDSA.
 * `onEarly` gets the instant (epoch ms) from which a token with a valid signature will be valid, if that is in the future.
 */
export function createJwtTokens(
  server: ServerCredentials,
  onEarly: (notBefore: number) => void = () => undefined,
): Tokens {
  async function judge(token: string, now: number): Promise<TokenJudgement> {
    if (token.length > MAX_TOKEN_LENGTH) return { outcome: 'invalid' }
    const { errors } = await loadJose()
    try {
      return { outcome: 'valid', claims: await verifyToken(token, (header) => verifyingKey(server, header), now) }
    } catch (problem) {
      if (problem instanceof errors.JWTClaimValidationFailed && typeof problem.payload.nbf === 'number')
        onEarly(problem.payload.nbf * 1000)
      if (problem instanceof errors.JWTExpired) return { outcome: 'expired', claims: problem.payload }
      return problem instanceof UnknownKey ? { outcome: 'unknown-key', kid: problem.kid } : { outcome: 'invalid' }
    }
  }

  return {
    get algorithm() {
      return server.current.key.jwa
    },
    sign: async (claims) => {
      const { key, facts } = server.current
      const signed = `${encoded({ alg: key.jwa, typ: 'JWT', kid: facts.fingerprint })}.${encoded(claims)}`
      return `${signed}.${toBase64Url(await key.sign(utf8(signed)))}`
    },
    publicKey: async () => {
      const { certificate } = server.current
      return { ...(await publicJwk(server.currentKey)), x5c: [toBase64(certificate.der)] }
    },
    publicKeys: () => Promise.all(server.tokenKeys().map(publicJwk)),
    signNonce: async (nonce) => {
      const { key } = server.current
      return { algorithm: key.jwa, signature: toBase64(await key.sign(utf8(nonce))) }
    },
    verify: async (token, now) => {
      const judgement = await judge(token, now)
      return judgement.outcome === 'valid' ? judgement.claims : undefined
    },
    judge,
    recognise: (certPem) => server.recognise(certPem),
  }
}

/** The header of a token is untrusted: it may hold anything. */
async function verifyingKey(
  server: ServerCredentials,
  { kid, alg }: { readonly kid?: unknown; readonly alg?: unknown },
) {
  if (typeof kid !== 'string' || !FINGERPRINT.test(kid)) throw new Error('token names no key of ours')
  const known = server.find(kid)
  if (known === undefined) throw new UnknownKey(kid)
  if (known.jwa !== alg) throw new Error('token is signed in another way than its key signs')
  return known.certificate.publicKey.importFor(known.hash)
}

async function publicJwk({ certificate, kid, jwa, hash }: TokenKey) {
  const { exportJWK } = await loadJose()
  return { ...(await exportJWK(await certificate.publicKey.importFor(hash))), kid, use: 'sig', alg: jwa }
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function encoded(part: object): string {
  return toBase64Url(utf8(JSON.stringify(part)))
}
