import { randomUUID, X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { dump, expectError, expectFieldError } from './errors.ts'
import { type Answer, adminOf, CLIENT, create, type ForeignClient, foreignClient, read } from './foreign-client.ts'
import { claimsOf } from './jwt.ts'
import type { Mount, MountedController } from './mount.ts'
import { newKey, newRsaKey, selfSigned, signingRequest } from './signing-request.ts'

const DAY_MS = 86_400_000
const PEM_TYPES = ['application/x-pem-file', 'application/pkcs7', 'text/plain', 'text/plain; charset=utf-8']

type Enroll = (anybody: ForeignClient, token: string, csr: string) => Promise<Answer>

/** Every way to hand in a one-time token and a signing request. */
const WAYS: readonly [string, Enroll][] = [
  ...PEM_TYPES.map((type): [string, Enroll] => [`${type} to /enroll`, pemTo(type)]),
  ['JSON to /enroll', (anybody, token, clientCsr) => anybody.post(`/enroll?method=ott&token=${token}`, { clientCsr })],
  [
    'JSON to /enroll without method',
    (anybody, token, clientCsr) => anybody.post(`/enroll?token=${token}`, { clientCsr }),
  ],
  ['JSON to /enroll/ott', (anybody, token, clientCsr) => anybody.post('/enroll/ott', { token, clientCsr })],
]

function pemTo(type: string, query = 'method=ott&'): Enroll {
  return (anybody, token, csr) =>
    anybody.send('POST', `/enroll?${query}token=${token}`, { body: csr, headers: { 'content-type': type } })
}

/** Signing requests that no certificate may be issued for. */
const BAD_REQUESTS: readonly [string, (good: string) => string][] = [
  ['nothing', () => ''],
  ['no PEM', () => 'hello'],
  ['a certificate', () => selfSigned(newKey())],
  ['a private key', () => newKey()],
  ['PEM of nonsense', () => '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n'],
  ['one of two', (good) => good + good],
  ['one with text after it', (good) => `${good}trailing`],
  ['one of an RSA key of 1024 bits', () => signingRequest(newRsaKey(1024))],
  ['one that its key did not sign', (good) => tampered(good)],
]

/** Authentication and enrollment 3.2 to 3.6. */
export function describeEnrollment(open: Mount): void {
  const invite = async (mounted: MountedController, enrollment: object = { ott: true }) => {
    const admin = await adminOf(mounted)
    const id = await create(admin, '/identities', { name: 'alice', type: 'User', isAdmin: false, enrollment })
    const [outstanding] = Object.values<{ token: string; jwt: string }>(
      (await read(admin, `/identities/${id}`)).enrollment,
    )
    if (outstanding === undefined) throw new Error('no enrollment')
    const { token, jwt } = outstanding
    return { admin, id, token, jwt, anybody: foreignClient(mounted, CLIENT) }
  }

  it('the token says where to enroll, whom and until when, and is signed by the TLS server', async () => {
    const mounted = await open({ address: 'ctrl.example.org:443' })
    const { id, token, jwt } = await invite(mounted)
    expect(claimsOf(mounted, jwt)).toEqual({
      iss: 'https://ctrl.example.org:443',
      sub: id,
      aud: [''],
      jti: token,
      exp: Math.floor((mounted.clock.now() + 180 * 60_000) / 1000),
      em: 'ott',
    })
  })

  it.each(WAYS)('by %s turns the token into a certificate', async (_way, enroll) => {
    const mounted = await open({ trustDomain: 'trust.example' })
    const { admin, id, token, anybody } = await invite(mounted)
    const key = newKey()
    const answer = await enroll(anybody, token, signingRequest(key, '/CN=whatever/O=here'))
    expect(answer.status, answer.text).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.body.data.controllers).toMatchObject([{ apiAddresses: { 'edge-client': [{ version: 'v1' }] } }])
    const [leaf, ...intermediates] = certificatesOf(answer.body.data.cert)
    if (leaf === undefined) throw new Error('no certificate')
    expect(leaf.subjectAltName).toBe(`URI:spiffe://trust.example/identity/${id}`)
    expect(leaf.subject.split('\n').sort()).toEqual(['CN=whatever', 'O=here'])
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.1'])
    expect(leaf.ca).toBe(false)
    const now = Math.floor(mounted.clock.now() / 1000) * 1000
    expect(Date.parse(leaf.validFrom)).toBe(now - 60_000)
    expect(Date.parse(leaf.validTo) - now).toBeGreaterThan(364 * DAY_MS)
    expect(Date.parse(leaf.validTo) - now).toBeLessThanOrEqual(366 * DAY_MS)
    expect(intermediates.length).toBeGreaterThan(0)
    expectToLeadTo(mounted.controller.caPem, [leaf, ...intermediates])
    const shown = await read(admin, `/identities/${id}`)
    const fingerprint = leaf.fingerprint.replaceAll(':', '').toLowerCase()
    expect(shown.enrollment).toEqual({})
    expect(shown.authenticators).toEqual({ cert: { id: expect.any(String), fingerprint } })
    expectError(await enroll(anybody, token, signingRequest(key)), 'INVALID_ENROLLMENT_TOKEN')
    const login = foreignClient(mounted, CLIENT, undefined, { cert: answer.body.data.cert, key })
    expect((await login.post('/authenticate?method=cert')).body.data.identityId).toBe(id)
  })

  it.each(BAD_REQUESTS)('%s is no signing request, and the token stays good', async (_what, bad) => {
    const mounted = await open()
    const { admin, token, anybody } = await invite(mounted)
    const good = signingRequest(newKey())
    const before = await dump(admin)
    const ways = bad(good) === '' ? WAYS.filter(([way]) => way.endsWith('/enroll/ott')) : WAYS
    for (const [, enroll] of ways) {
      const answer = await enroll(anybody, token, bad(good))
      expectError(answer, 'COULD_NOT_PROCESS_CSR')
      expect(answer.text).not.toContain('PRIVATE KEY')
    }
    expect(await dump(admin)).toBe(before)
    expect((await pemTo('text/plain')(anybody, token, good)).status).toBe(200)
  })

  it.each(WAYS)('by %s an unknown token is refused', async (_way, enroll) => {
    const { anybody } = await invite(await open())
    expectError(await enroll(anybody, randomUUID(), signingRequest(newKey())), 'INVALID_ENROLLMENT_TOKEN')
  })

  it.each(WAYS)('by %s a token is good until it expires', async (_way, enroll) => {
    const mounted = await open()
    const { token, anybody } = await invite(mounted)
    mounted.clock.advance(180 * 60_000)
    expectError(await enroll(anybody, token, signingRequest(newKey())), 'ENROLLMENT_EXPIRED')
    mounted.clock.advance(-1)
    expect((await enroll(anybody, token, signingRequest(newKey()))).status).toBe(200)
  })

  it('a token of another method is refused, and so is a method that does not exist', async () => {
    const { admin, token, anybody } = await invite(await open(), { updb: 'alice' })
    const before = await dump(admin)
    const csr = signingRequest(newKey())
    // Without a method a JSON request is for whatever the token is for.
    const named = WAYS.filter(([way]) => way !== 'JSON to /enroll without method')
    for (const [, enroll] of named) expectError(await enroll(anybody, token, csr), 'INVALID_ENROLL_METHOD')
    expectError(await pemTo('text/plain', 'method=magic&')(anybody, token, csr), 'INVALID_ENROLL_METHOD')
    expect(await dump(admin)).toBe(before)
  })

  it('a token that is none is refused', async () => {
    const { anybody } = await invite(await open())
    const clientCsr = signingRequest(newKey())
    expectFieldError(await anybody.post('/enroll?token=not-a-uuid', { clientCsr }), 'token')
    expectError(await anybody.post('/enroll', { clientCsr }), 'INVALID_ENROLLMENT_TOKEN')
    expectFieldError(await anybody.post('/enroll/ott', { clientCsr }), 'token', 'token in body is required')
    expectError(await anybody.post('/enroll/ott', { token: randomUUID() }), 'INVALID_ENROLLMENT_TOKEN')
  })

  it('of many who use a token at once exactly one enrolls', async () => {
    const mounted = await open()
    const { admin, id, token, anybody } = await invite(mounted)
    const csr = signingRequest(newKey())
    const answers = await Promise.all(Array.from({ length: 20 }, () => pemTo('text/plain')(anybody, token, csr)))
    const enrolled = answers.filter(({ status }) => status === 200)
    expect(enrolled).toHaveLength(1)
    for (const answer of answers) if (answer !== enrolled[0]) expectError(answer, 'INVALID_ENROLLMENT_TOKEN')
    expect(Object.keys((await read(admin, `/identities/${id}`)).authenticators)).toEqual(['cert'])
  })

  it('a token dies with its identity', async () => {
    const { admin, id, token, anybody } = await invite(await open())
    expect((await admin.delete(`/identities/${id}`)).status).toBe(200)
    const answer = await pemTo('text/plain')(anybody, token, signingRequest(newKey()))
    expectError(answer, 'INVALID_ENROLLMENT_TOKEN')
  })

  describe('content negotiation', () => {
    it.each([
      ['application/json', undefined],
      ['*/*', undefined],
      ['text/html,*/*;q=0.1', undefined],
      ['application/x-pem-file', 'UNSUPPORTED_MEDIA'],
      ['text/plain', 'UNSUPPORTED_MEDIA'],
    ])('a PEM request that accepts %s', async (accept, code) => {
      const { token, anybody } = await invite(await open())
      const headers = { 'content-type': 'application/x-pem-file', accept }
      const body = signingRequest(newKey())
      const answer = await anybody.send('POST', `/enroll?token=${token}`, { body, headers })
      if (code === undefined) expect(answer.status, answer.text).toBe(200)
      else expectError(answer, code)
    })

    it('a JSON request that does not accept JSON is 406', async () => {
      const { token, anybody } = await invite(await open())
      const headers = { accept: 'application/x-pem-file' }
      const body = { clientCsr: signingRequest(newKey()) }
      const answer = await anybody.send('POST', `/enroll?token=${token}`, { body, headers })
      expectError(answer, 'COULD_NOT_VALIDATE', { field: 'Accept' }, 406)
    })

    it.each([undefined, 'application/octet-stream', 'application/x-www-form-urlencoded'])(
      'a PEM of type %s is 415',
      async (type) => {
        const { token, anybody } = await invite(await open())
        const headers = type === undefined ? {} : { 'content-type': type }
        const answer = await anybody.send('POST', `/enroll?token=${token}`, { body: signingRequest(newKey()), headers })
        expectError(answer, 'COULD_NOT_VALIDATE', { field: 'Content-Type' }, 415)
      },
    )
  })
}

function certificatesOf(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? []
  expect(blocks.join('')).toBe(pem)
  return blocks.map((block) => new X509Certificate(block))
}

/** Each certificate is signed by the next, the last by a root that is not sent. */
function expectToLeadTo(caPem: string, chain: readonly X509Certificate[]): void {
  const roots = certificatesOf(caPem).filter(({ subject, issuer }) => subject === issuer)
  for (const [index, certificate] of chain.entries()) {
    expect(certificate.subject).not.toBe(certificate.issuer)
    const next = chain[index + 1]
    const issuers = next === undefined ? roots : [next]
    expect(issuers.some((issuer) => certificate.verify(issuer.publicKey))).toBe(true)
  }
}

function tampered(csr: string): string {
  const der = Buffer.from(csr.replace(/-----[^-]+-----|\s/g, ''), 'base64')
  const last = der.length - 1
  der[last] = (der[last] ?? 0) ^ 1
  return `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
}
