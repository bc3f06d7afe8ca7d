import type { Tokens } from '../ports/tokens.ts'
import { toBase64, toBase64Url } from './base64.ts'
import type { ServerCredential, ServerCredentials } from './server-credentials.ts'

/**
 * Tokens signed with the key of the TLS server certificate in use, by the algorithm that fits it: ES256, ES384, ES512,
 * RS256 or EdDSA.
 */
export const createJwtTokens = (server: ServerCredentials): Tokens => ({
  sign: async (claims) => {
    const { key, facts } = server.current
    const signed = `${encoded({ alg: key.jwa, typ: 'JWT', kid: facts.fingerprint })}.${encoded(claims)}`
    return `${signed}.${toBase64Url(await key.sign(utf8(signed)))}`
  },
  publicKey: async () => {
    const { exportJWK } = await import('jose')
    const { certificate, key, facts } = server.current
    const jwk = await exportJWK(await publicKeyOf(server.current))
    return { ...jwk, kid: facts.fingerprint, use: 'sig', alg: key.jwa, x5c: [toBase64(certificate.der)] }
  },
  signNonce: async (nonce) => {
    const { key } = server.current
    return { algorithm: key.jwa, signature: toBase64(await key.sign(utf8(nonce))) }
  },
  verify: async (token, now) => {
    const { jwtVerify } = await import('jose')
    const verified = jwtVerify(
      token,
      async ({ kid, alg }) => {
        const signer = server.find(kid ?? '')
        if (signer === undefined || signer.key.jwa !== alg) throw new Error('token is not signed here')
        return publicKeyOf(signer)
      },
      { currentDate: new Date(now) },
    )
    return verified.then(
      ({ payload }) => payload,
      () => undefined,
    )
  },
})

const publicKeyOf = ({ certificate, key }: ServerCredential) => certificate.publicKey.importFor(key.algorithm.hash)

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

const encoded = (part: object): string => toBase64Url(utf8(JSON.stringify(part)))
