import { expect, it } from 'vitest'
import { newKey, newRsaKey, selfSigned, signingRequest } from '../contract/http/signing-request.ts'
import { opensslOutput } from '../support/certificates/openssl.ts'

const publicOf = (key: string) => opensslOutput(['pkey', '-in', 'key.pem', '-pubout'], { 'key.pem': key })

it.each([
  ['the first', newKey()],
  ['another', newKey()],
  ['an RSA key', newRsaKey(2048)],
])('openssl verifies the request and the certificate of a test: %s', (_, key) => {
  const request = { 'r.pem': signingRequest(key, '/CN=derived', ['-addext', 'subjectAltName=DNS:derived.test']) }
  opensslOutput(['req', '-in', 'r.pem', '-verify', '-noout'], request)
  expect(opensslOutput(['req', '-in', 'r.pem', '-noout', '-pubkey'], request)).toBe(publicOf(key))
  const text = opensslOutput(['req', '-in', 'r.pem', '-noout', '-text'], request)
  expect(text).toMatch(/CN ?= ?derived/)
  expect(text).toContain('DNS:derived.test')

  const certificate = { 'c.pem': selfSigned(key, '/CN=derived') }
  opensslOutput(['verify', '-check_ss_sig', '-CAfile', 'c.pem', 'c.pem'], certificate)
  expect(opensslOutput(['x509', '-in', 'c.pem', '-noout', '-pubkey'], certificate)).toBe(publicOf(key))
})
