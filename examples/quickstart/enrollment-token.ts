import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:tls'
import { decodeJwt, jwtVerify } from 'jose'

/** The invitation in a verified enrollment token. */
export interface Invitation {
  /** The URL of the controller that issued the token. */
  readonly issuer: string
  /** The secret that enrolls once. */
  readonly token: string
  readonly method: string
  readonly expiresAt: Date
}

/**
 * Verifies an enrollment JWT as a device does: the server that it names must hold the key that signed it. Rejects when
 * the signature is wrong, the token has expired, or the server is not trusted by `ca` (PEM).
 */
export async function verifyEnrollmentToken(jwt: string, ca: string): Promise<Invitation> {
  const { iss: issuer = '' } = decodeJwt(jwt)
  const { payload } = await jwtVerify(jwt, await serverKey(new URL(issuer), ca), {
    issuer,
    requiredClaims: ['exp', 'jti'],
  })
  return {
    issuer,
    token: String(payload.jti),
    method: String(payload.em),
    expiresAt: new Date(Number(payload.exp) * 1000),
  }
}

/** The public key of the certificate that a server proves to hold. */
async function serverKey(url: URL, ca: string) {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const socket = connect({ host, port: Number(url.port || 443), ca })
  await once(socket, 'secureConnect')
  const { raw } = socket.getPeerCertificate()
  socket.destroy()
  return new X509Certificate(raw).publicKey
}
