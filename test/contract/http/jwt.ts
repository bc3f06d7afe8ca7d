import { createHash, createPublicKey, verify, X509Certificate } from 'node:crypto'
import { expect } from 'vitest'
import type { MountedController } from './mount.ts'

/**
 * The claims of a JWT that is signed, as clients require, with the key of the controller's TLS server certificate, and
 * names that certificate by its SHA-1 fingerprint.
 */
export function claimsOf({ controller }: MountedController, jwt: string) {
  const [head = '', body = '', signature = '', ...rest] = jwt.split('.')
  const certificate = new X509Certificate(controller.tls().cert)
  const kid = createHash('sha1').update(certificate.raw).digest('hex')
  expect(parsed(head)).toEqual({ alg: 'ES256', typ: 'JWT', kid })
  const key = { key: createPublicKey(controller.tls().cert), dsaEncoding: 'ieee-p1363' } as const
  expect(verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))).toBe(true)
  expect(rest).toEqual([])
  return parsed(body)
}

function parsed(part: string) {
  return JSON.parse(Buffer.from(part, 'base64url').toString())
}
