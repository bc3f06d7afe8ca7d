import type { Tokens } from '../ports/tokens.ts'
import { toBase64 } from './base64.ts'
import type { PkiMaterial } from './pki-material.ts'
import { readCertificates } from './x509/certificate.ts'
import { fingerprintOf } from './x509/facts.ts'
import { loadLibrary } from './x509/library.ts'
import { readPart } from './x509/read-part.ts'
import { loadSigningKey } from './x509/signing-key.ts'

/**
 * Tokens signed with the key of the TLS server certificate, by the algorithm that fits it: ES256, ES384, ES512, RS256 or
 * EdDSA. Throws when the certificate or the key cannot be read, or when they do not belong together.
 */
export const createJwtTokens = async (
  material: Pick<PkiMaterial, 'serverCertPem' | 'serverKeyPem'>,
): Promise<Tokens> => {
  const library = await loadLibrary()
  const [server] = await readPart('serverCertPem', () => readCertificates(library, material.serverCertPem))
  const { key, jwa, algorithm } = await readPart('serverKeyPem', () =>
    loadSigningKey(library, material.serverKeyPem, server.publicKey),
  )
  const header = { alg: jwa, typ: 'JWT', kid: await fingerprintOf(library, server) }
  return {
    sign: async (claims) => {
      const { SignJWT } = await import('jose')
      return new SignJWT(claims).setProtectedHeader(header).sign(key)
    },
    publicKey: async () => {
      const { exportJWK, importX509 } = await import('jose')
      const { kid } = header
      const jwk = await exportJWK(await importX509(server.pem, jwa, { extractable: true }))
      return { ...jwk, kid, use: 'sig', alg: jwa, x5c: [toBase64(server.der)] }
    },
    signNonce: async (nonce) => {
      const signature = await library.crypto.subtle.sign(algorithm, key, new TextEncoder().encode(nonce))
      return { algorithm: jwa, signature: toBase64(new Uint8Array(signature)) }
    },
    verify: async (token, now) => {
      const { importX509, jwtVerify } = await import('jose')
      const publicKey = await importX509(server.pem, jwa)
      const verified = jwtVerify(token, publicKey, { algorithms: [jwa], currentDate: new Date(now) })
      return verified.then(
        ({ payload }) => payload,
        () => undefined,
      )
    },
  }
}
