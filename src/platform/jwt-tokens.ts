import type { Tokens } from '../ports/tokens.ts'
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
  const { key, jwa } = await readPart('serverKeyPem', () =>
    loadSigningKey(library, material.serverKeyPem, server.publicKey),
  )
  const header = { alg: jwa, typ: 'JWT', kid: await fingerprintOf(library, server) }
  return {
    sign: async (claims) => {
      const { SignJWT } = await import('jose')
      return new SignJWT(claims).setProtectedHeader(header).sign(key)
    },
    verify: async (token, now) => {
      const { importX509, jwtVerify } = await import('jose')
      const publicKey = await importX509(material.serverCertPem, jwa)
      const verified = jwtVerify(token, publicKey, { algorithms: [jwa], currentDate: new Date(now) })
      return verified.then(
        ({ payload }) => payload,
        () => undefined,
      )
    },
  }
}
