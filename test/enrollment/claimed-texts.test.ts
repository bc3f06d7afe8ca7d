import 'reflect-metadata'
import * as x509 from '@peculiar/x509'
import { describe, expect, it } from 'vitest'
import { expectError, expectFieldError } from '../contract/http/errors.ts'
import { adminOf, CLIENT, create, foreignClient, read } from '../contract/http/foreign-client.ts'
import {
  authorityExtensions,
  clientExtensions,
  createCsr,
  createKeys,
  derOf,
  issue,
  issueAuthority,
  now,
  pemOf,
} from '../support/certificates/certificates.ts'
import { identityProvider } from '../support/jwks-server.ts'
import { mount } from '../support/mount.ts'
import { authPolicy } from '../support/people.ts'
import { CLAIM, registered, TRUSTED } from '../support/third-party.ts'

type Names = NonNullable<ConstructorParameters<typeof x509.Name>[0]>

const named = (commonName: string): Names => [{ CN: [{ utf8String: commonName }] }]
/** Two octets a character, so that half a pair can be written. */
const wide = (commonName: string): Names => [{ CN: [{ bmpString: commonName }] }]

/** A network that enrolls by itself whom a third party has certified, and a client that it certified so. */
async function thirdParty(change: object = {}) {
  const mounted = await mount({ now })
  const admin = await adminOf(mounted)
  const authority = await issueAuthority({ subject: 'CN=third' })
  await registered(admin, authority, { identityNameFormat: '[commonName]', ...change })
  const enroll = async (subject: Names, names: x509.JsonGeneralNames = []) => {
    const keys = await createKeys()
    const altNames = names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]
    const extensions = [...clientExtensions(), ...altNames]
    const certificate = await issue({ subject: new x509.Name(subject), issuer: authority, keys, extensions })
    // Node cannot read every one of them, so the chain is handed over as a TLS socket would.
    const request = new Request(`${mounted.url}${CLIENT}/enroll?method=ca`, { method: 'POST' })
    const response = await mounted.controller.fetch(request, { clientCertificates: [derOf(certificate)] })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
  }
  const namesNow = async () => (await read(admin, '/identities')).map(({ name }: { name: string }) => name)
  return { mounted, admin, enroll, namesNow }
}

describe('a name out of a certificate', () => {
  it.each([
    ['U+0000', named('a\u0000b')],
    ['half a surrogate pair', wide('a\ud800b')],
    ['U+0000 in another attribute', [{ CN: [{ utf8String: 'a' }] }, { O: [{ utf8String: 'b\u0000' }] }] as Names],
  ])('with %s makes the certificate unreadable', async (_what, subject) => {
    const { enroll } = await thirdParty()
    expectError(await enroll(subject), 'CERT_FAILED_VALIDATION')
  })

  it.each<[string, x509.JsonGeneralNames]>([
    ['mail', [{ type: 'email', value: 'a\u0000@example.org' }]],
    ['URI', [{ type: 'url', value: 'https://example.org/\u0000' }]],
    ['host', [{ type: 'dns', value: 'a\u0000.example.org' }]],
  ])('with U+0000 as %s does too', async (_kind, names) => {
    const { enroll } = await thirdParty()
    expectError(await enroll(named('a'), names), 'CERT_FAILED_VALIDATION')
  })

  it('is as long as that of a request at most, and not blank', async () => {
    const { enroll, namesNow } = await thirdParty()
    expectFieldError(await enroll(named('n'.repeat(1025))), 'name')
    expectFieldError(await enroll(named(' ')), 'name')
    expect((await enroll(named('n'.repeat(1024)))).status).toBe(200)
    // The same again gets a number, with which it is too long.
    expectFieldError(await enroll(named('n'.repeat(1024))), 'name')
    expect(await namesNow()).toContain('n'.repeat(1024))
  })

  it('as an external id is as long as that of a request at most', async () => {
    const { enroll } = await thirdParty({ externalIdClaim: CLAIM, identityNameFormat: '[identityId]' })
    expectFieldError(await enroll(named('n'.repeat(4097))), 'externalId')
    expect((await enroll(named('n'.repeat(4096)))).status).toBe(200)
  })
})

it('an authority or a signer whose certificate names hold U+0000 is refused', async () => {
  const { admin } = await thirdParty()
  const subject = new x509.Name(named('a\u0000b'))
  const certPem = pemOf(await issue({ subject, extensions: authorityExtensions() }))
  expectFieldError(await admin.post('/cas', { ...TRUSTED, name: 'other', certPem }), 'certPem')
  const signer = { name: 'idp', issuer: 'i', audience: 'a', enabled: true, certPem }
  expectError(await admin.post('/external-jwt-signers', signer), 'INVALID_CERT_PEM')
})

it('a signing request whose subject holds U+0000 is refused', async () => {
  const mounted = await mount({ now })
  const admin = await adminOf(mounted)
  const body = { name: 'a', type: 'User', isAdmin: false, enrollment: { ott: true } }
  const id = await create(admin, '/identities', body)
  const { token } = (await read(admin, `/identities/${id}`)).enrollment.ott
  const csr = async (subject: Names) => (await createCsr({ subject: new x509.Name(subject) })).toString('pem')
  const enroll = async (subject: Names) =>
    foreignClient(mounted, CLIENT).post('/enroll/ott', { token, clientCsr: await csr(subject) })
  expectError(await enroll(named('a\u0000b')), 'COULD_NOT_PROCESS_CSR')
  expectError(await enroll(wide('a\ud800')), 'COULD_NOT_PROCESS_CSR')
  expect((await enroll(named('a'))).status).toBe(200)
})

describe('a claim of a token', () => {
  async function scene() {
    const mounted = await mount({ allowPrivateJwks: true })
    const admin = await adminOf(mounted)
    const idp = await identityProvider()
    await create(admin, '/external-jwt-signers', {
      name: 'idp',
      issuer: idp.issuer,
      audience: 'network',
      enabled: true,
      jwksEndpoint: idp.endpoint,
      useExternalId: true,
      enrollToTokenEnabled: true,
      enrollAuthPolicyId: await create(admin, '/auth-policies', authPolicy('by token')),
      enrollNameClaimsSelector: '/name',
      enrollAttributeClaimsSelector: '/roles',
    })
    const anybody = foreignClient(mounted, CLIENT)
    const send = async (path: string, claims: Record<string, unknown>) => {
      const all = { sub: 'somebody', name: 'somebody', roles: [], ...claims }
      const authorization = `Bearer ${await idp.token(mounted.clock.now(), all)}`
      return anybody.send('POST', path, { headers: { authorization } })
    }
    return { send }
  }

  it.each<[string, Record<string, unknown>]>([
    ['subject', { sub: 'a\u0000b' }],
    ['subject, as half a pair', { sub: 'a\ud800' }],
    ['name', { name: 'a\u0000b' }],
    ['attribute', { roles: ['a', 'b\u0000'] }],
    ['member that nobody asks for', { deep: [{ er: '\u0000' }] }],
    ['name of a member', { 'a\u0000': 1 }],
  ])('with U+0000 in its %s makes the token invalid', async (_what, claims) => {
    const { send } = await scene()
    expectError(await send('/enroll/token', claims), 'INVALID_ENROLLMENT_TOKEN')
    expectError(await send('/authenticate?method=ext-jwt', claims), 'UNAUTHORIZED')
    expect((await send('/enroll/token', {})).status).toBe(200)
  })

  it.each<[string, Record<string, unknown>]>([
    ['name', { name: 'n'.repeat(1025) }],
    ['name', { name: '   ' }],
    ['externalId', { sub: 's'.repeat(4097) }],
    ['roleAttributes', { roles: ['r'.repeat(1025)] }],
  ])('that is no good %s in a request is refused as one', async (field, claims) => {
    const { send } = await scene()
    expectFieldError(await send('/enroll/token', claims), field)
  })
})
