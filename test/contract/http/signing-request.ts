import { generateKeyPairSync } from 'node:crypto'
import { opensslOutput } from '../../support/certificates/openssl.ts'

/** A fresh P-256 private key, PEM. */
export function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** A fresh RSA private key, PEM. */
export function newRsaKey(modulusLength: number): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** A certificate signing request of a private key, as the openssl command line makes it. */
export function signingRequest(key: string, subject = '/CN=endpoint', more: readonly string[] = []): string {
  return opensslOutput(['req', '-new', '-key', 'key.pem', '-subj', subject, ...more], { 'key.pem': key })
}

/** A certificate that a private key signed for itself, good from yesterday until tomorrow. */
export function selfSigned(key: string, subject = '/CN=endpoint'): string {
  return opensslOutput(['req', '-x509', '-new', '-key', 'key.pem', '-days', '1', '-subj', subject], { 'key.pem': key })
}
