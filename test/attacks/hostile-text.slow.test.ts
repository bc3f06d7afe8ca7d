import 'reflect-metadata'
import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectError } from '../contract/http/errors.ts'
import {
  type Answer,
  adminOf,
  CLIENT,
  create,
  type ForeignClient,
  foreignClient,
  MANAGEMENT,
  read,
} from '../contract/http/foreign-client.ts'
import { greedyRequests } from '../support/certificates/greedy-requests.ts'
import { refusedRequests } from '../support/certificates/hostile-requests.ts'
import { mount } from '../support/mount.ts'
import { now } from '../support/third-party.ts'

/** Milliseconds within which hostile text is answered, also on a busy machine; a regular expression that goes wrong takes minutes. */
const SOON_MS = 10_000

async function invited() {
  const mounted = await mount({ now, trustDomain: 'example.org' })
  const admin = await adminOf(mounted)
  const id = await create(admin, '/identities', { name: 'a', type: 'User', isAdmin: false, enrollment: { ott: true } })
  const { token } = (await read(admin, `/identities/${id}`)).enrollment.ott
  const enroll = (clientCsr: string) => foreignClient(mounted, CLIENT).post('/enroll/ott', { token, clientCsr })
  return { id, enroll }
}

describe('A25: a device that enrolls with a request for', () => {
  it.each(greedyRequests)('%s gets a plain certificate of an identity', async (_asked, csr) => {
    const { id, enroll } = await invited()
    const answer = await enroll(await csr())
    expect(answer.status, answer.text).toBe(200)
    const leaf = new X509Certificate(answer.body.data.cert)
    expect(leaf).toMatchObject({ ca: false, subjectAltName: `URI:spiffe://example.org/identity/${id}` })
    // Client and server, which no host name makes use of: the alternative name is the identity alone.
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.1'])
  })
})

describe('A25: a device that enrolls with', () => {
  it.each(refusedRequests)('%s (%s) is refused, and its token stays good', async (_what, _problem, csr) => {
    const { enroll } = await invited()
    const answer = await enroll(await csr())
    expectRefusedRequest(answer)
    const [, honest] = greedyRequests.find(([asked]) => asked === 'no subject') ?? []
    expect((await enroll((await honest?.()) ?? '')).status).toBe(200)
  })
})

/** A text that is longer than any request is not even looked at. */
function expectRefusedRequest(answer: Answer): void {
  expect(answer.status).toBe(400)
  const isLong = answer.body.error.cause?.reason === 'clientCsr in body should be at most 65536 chars long'
  expectError(answer, isLong ? 'COULD_NOT_VALIDATE' : 'COULD_NOT_PROCESS_CSR')
}

const long = 'a'.repeat(30_000)

describe('A31: text that costs a naive pattern minutes', () => {
  const asFilter = (filter: string) => `/identities?filter=${encodeURIComponent(filter)}`
  const check = (body: object) => (admin: ForeignClient) => admin.post('/posture-checks', { name: 'x', ...body })

  it.each<[string, (admin: ForeignClient) => Promise<unknown>]>([
    [
      'in a filter',
      (admin) => admin.get(asFilter(`name contains "${'a'.repeat(3000)}" and name contains "${'%'.repeat(3000)}"`)),
    ],
    ['in a filter of parentheses', (admin) => admin.get(asFilter('('.repeat(4000)))],
    ['in a filter of escapes', (admin) => admin.get(asFilter(`name = "${'\\'.repeat(3999)}`))],
    ['in a role filter', (admin) => admin.get(`/services?roleFilter=${'#'.repeat(4000)}`)],
    ['in a sort', (admin) => admin.get(`/services?filter=${encodeURIComponent(`sort by ${'a,'.repeat(2000)}`)}`)],
    ['in a header', (admin) => admin.send('GET', '/services', { headers: { accept: `${'a/b;q=0.'.repeat(800)},` } })],
    [
      'in a content type',
      (admin) => admin.send('POST', '/services', { body: '{}', headers: { 'content-type': `${'a;'.repeat(4000)}` } }),
    ],
    [
      'in a version range',
      check({ typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: [`${'1.'.repeat(5000)}x || `.repeat(5)] }] }),
    ],
    ['in a MAC address', check({ typeId: 'MAC', macAddresses: [`${'-:'.repeat(15_000)}z`] })],
    [
      'in a process path',
      check({ typeId: 'PROCESS', process: { osType: 'Linux', path: `${'/'.repeat(30_000)}x`, hashes: [long] } }),
    ],
    [
      'in an issuer',
      (admin) =>
        admin.post('/external-jwt-signers', {
          name: 'x',
          issuer: long,
          audience: long,
          enabled: true,
          jwksEndpoint: `https://${'a.'.repeat(15_000)}`,
        }),
    ],
    [
      'in a bearer token',
      (admin) => admin.send('GET', '/services', { headers: { authorization: `Bearer ${'eyJ.'.repeat(1500)}` } }),
    ],
    [
      'in the pattern of a config type',
      async (admin) => {
        const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
        const configTypeId = await create(admin, '/config-types', { name: 'x', schema })
        return admin.post('/configs', { name: 'x', configTypeId, data: { a: `${'a'.repeat(50_000)}!` } })
      },
    ],
    [
      'in an identity name format',
      (admin) =>
        admin.post('/cas', {
          name: 'x',
          certPem: 'x',
          identityNameFormat: '['.repeat(30_000),
          identityRoles: [],
          isAuthEnabled: true,
          isAutoCaEnrollmentEnabled: true,
          isOttCaEnrollmentEnabled: true,
        }),
    ],
  ])('%s is answered soon', async (_where, send) => {
    const admin = await adminOf(await mount())
    await admin.get('/services')
    const from = performance.now()
    expect(await send(admin)).toMatchObject({ status: expect.toSatisfy((status: number) => status < 500) })
    expect(performance.now() - from).toBeLessThan(SOON_MS)
  })
})

describe('A36: a PEM bomb', () => {
  const pem = (label: string, der: Uint8Array) =>
    `-----BEGIN ${label}-----\n${Buffer.from(der).toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`
  /** Sequences of indefinite length, each inside of the one before. */
  const nested = Uint8Array.from({ length: 40_000 }, (_, index) => (index % 2 === 0 ? 0x30 : 0x80))
  /** Sequences that say to be as long as what is left. */
  const definite = Uint8Array.from({ length: 40_000 }, (_, index) => [0x30, 0x83, 0xff][index % 3] ?? 0)
  const lying = Uint8Array.of(0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0x00)
  const bombs = (label: string): readonly [string, string][] => [
    ['of indefinite lengths', pem(label, nested)],
    ['of nested lengths', pem(label, definite)],
    ['that says to be longer than it is', pem(label, lying)],
    ['of more than 64 KiB', pem(label, new Uint8Array(200_000))],
    ['of very many blocks', pem(label, lying).repeat(2000)],
    ['that never ends', `-----BEGIN ${label}-----\n${'A'.repeat(60_000)}`],
    ['of headers', `${`-----BEGIN ${label}-----\n`.repeat(5000)}`],
    ['of blanks', `-----BEGIN ${label}-----${' \n'.repeat(30_000)}-----END ${label}`],
  ]

  it.each(bombs('CERTIFICATE'))('%s in a certificate is refused soon', async (_what, certPem) => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const identityId = await create(admin, '/identities', { name: 'a', type: 'User', isAdmin: false })
    const signer = { name: 'x', issuer: 'x', audience: 'x', enabled: true, certPem }
    const ca = { name: 'x', certPem, identityNameFormat: '', identityRoles: [] }
    const flags = { isAuthEnabled: true, isAutoCaEnrollmentEnabled: true, isOttCaEnrollmentEnabled: true }
    for (const [path, body] of [
      ['/cas', { ...ca, ...flags }],
      ['/authenticators', { identityId, method: 'cert', certPem }],
      ['/external-jwt-signers', signer],
    ] as const) {
      const from = performance.now()
      const answer = await foreignClient(mounted, MANAGEMENT, admin.token).post(path, body)
      expect(answer.status, `${path} ${answer.text}`).toBe(400)
      expect(performance.now() - from, path).toBeLessThan(SOON_MS)
    }
  })

  it.each(bombs('CERTIFICATE REQUEST'))('%s in a signing request is refused soon', async (_what, csr) => {
    const { enroll } = await invited()
    const from = performance.now()
    expectRefusedRequest(await enroll(csr))
    expect(performance.now() - from).toBeLessThan(SOON_MS)
  })
})
