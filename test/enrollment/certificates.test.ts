import { createHash, createPublicKey, randomUUID, verify, X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectFieldError } from '../contract/http/errors.ts'
import { adminOf, CLIENT, create, foreignClient, read } from '../contract/http/foreign-client.ts'
import { enrolled } from '../contract/http/scenario.ts'
import { newKey, signingRequest } from '../contract/http/signing-request.ts'
import { mount } from '../support/mount.ts'
import { apisOf, person } from '../support/people.ts'

async function device() {
  const mounted = await mount({ trustDomain: 'trust.example' })
  const admin = await adminOf(mounted)
  const one = await enrolled(mounted, admin, { name: 'device' })
  const { id: authenticatorId } = (await one.api.get('/current-identity/authenticators')).body.data[0]
  const path = `/current-identity/authenticators/${authenticatorId}`
  return { mounted, admin, ...one, authenticatorId, path }
}

const logIn = (mounted: Awaited<ReturnType<typeof mount>>, certificate: { cert: string; key: string }) =>
  foreignClient(mounted, CLIENT, undefined, certificate).post('/authenticate?method=cert', {})

describe('extending a certificate', () => {
  it('gives the next one, which alone is good once it is confirmed', async () => {
    const { mounted, admin, api, certificate, id, path, authenticatorId } = await device()
    expectDone(await admin.post(`/authenticators/${authenticatorId}/request-extend`, { rollKeys: true }))
    const noticed = await logIn(mounted, certificate)
    expect(noticed.headers.get('ziti-authenticator-extend-requested')).toBe('true')
    expect(noticed.body.data).toMatchObject({ isCertExtendRequested: true, isCertKeyRollRequested: true })
    const key = newKey()
    const answer = await api.post(`${path}/extend`, { clientCertCsr: signingRequest(key) })
    expect(answer.status, answer.text).toBe(200)
    const { clientCert, ca } = answer.body.data
    expect(ca).toContain('BEGIN CERTIFICATE')
    const extended = new X509Certificate(clientCert)
    expect(extended.subjectAltName).toBe(`URI:spiffe://trust.example/identity/${id}`)
    // Client and server: two identities prove themselves to each other over a circuit.
    expect(extended.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.1'])
    const next = { cert: clientCert, key }
    expect([(await logIn(mounted, certificate)).status, (await logIn(mounted, next)).status]).toEqual([200, 401])
    expectError(await api.post(`${path}/extend-verify`, { clientCert: certificate.cert }), 'INVALID_CLIENT_CERT')
    expectDone(await api.post(`${path}/extend-verify`, { clientCert }))
    expect([(await logIn(mounted, certificate)).status, (await logIn(mounted, next)).status]).toEqual([401, 200])
    expect(await read(admin, `/authenticators/${authenticatorId}`)).toMatchObject({
      isExtendRequested: false,
      isKeyRollRequested: false,
      lastExtendRolledKeys: true,
    })
  })

  it('needs something to confirm, and a signing request that is one', async () => {
    const { api, certificate, path } = await device()
    const confirmed = await api.post(`${path}/extend-verify`, { clientCert: certificate.cert })
    expectError(confirmed, 'CAN_NOT_UPDATE_AUTHENTICATOR', undefined, 409)
    expectError(await api.post(`${path}/extend`, { clientCertCsr: 'hello' }), 'COULD_NOT_PROCESS_CSR')
  })

  it('A7: needs the current certificate on the connection, and is for its own identity only', async () => {
    const { mounted, admin, api, path } = await device()
    const clientCertCsr = signingRequest(newKey())
    const bare = foreignClient(mounted, CLIENT, api.token)
    expectError(await bare.post(`${path}/extend`, { clientCertCsr }), 'UNAUTHORIZED')
    const other = await enrolled(mounted, admin, { name: 'other' })
    expectError(await other.api.post(`${path}/extend`, { clientCertCsr }), 'UNAUTHORIZED')
    const stolen = foreignClient(mounted, CLIENT, api.token, other.certificate)
    expectError(await stolen.post(`${path}/extend`, { clientCertCsr }), 'UNAUTHORIZED')
    expectError(await api.post('/current-identity/authenticators/none/extend', { clientCertCsr }), 'NOT_FOUND')
  })

  it('is for certificates of the network', async () => {
    const { mounted, admin, certificate } = await device()
    const alice = await person(mounted, admin, 'alice')
    const { token } = await apisOf(mounted, alice)
    const api = foreignClient(mounted, CLIENT, token, certificate)
    const { id } = (await api.get('/current-identity/authenticators')).body.data[0]
    const body = { clientCertCsr: signingRequest(newKey()) }
    const answer = await api.post(`/current-identity/authenticators/${id}/extend`, body)
    expectError(answer, 'CAN_NOT_UPDATE_AUTHENTICATOR', undefined, 409)
  })
})

describe('certificates of an API session', () => {
  it('are issued for twelve hours, listed, shown and deleted', async () => {
    const mounted = await mount({ trustDomain: 'trust.example' })
    const admin = await adminOf(mounted)
    const alice = await person(mounted, admin, 'alice')
    const { api } = await apisOf(mounted, alice)
    const csr = signingRequest(newKey(), '/CN=boss/O=any')
    const answer = await api.post('/current-api-session/certificates', { csr })
    expect(answer.status, answer.text).toBe(201)
    const { id, certificate, cas, _links } = answer.body.data
    expect(_links.self.href).toBe(`./current-api-session/certificates/${id}`)
    expect(cas).toContain('BEGIN CERTIFICATE')
    const leaf = new X509Certificate(certificate)
    const session = (await read(api, '/current-api-session')).id
    expect([leaf.subject, leaf.subjectAltName]).toEqual([
      `CN=${alice.id}`,
      `URI:spiffe://trust.example/identity/${alice.id}/apiSession/${session}/apiSessionCertificate/${id}`,
    ])
    expect(Date.parse(leaf.validTo)).toBe(mounted.clock.now() + 12 * 3_600_000)
    const shown = await read(api, `/current-api-session/certificates/${id}`)
    const fingerprint = createHash('sha1').update(leaf.raw).digest('hex')
    expect(shown).toMatchObject({ id, certificate, fingerprint, subject: `CN=${alice.id}` })
    expect((await api.get('/current-api-session/certificates')).body.data).toEqual([shown])
    expectDone(await api.delete(`/current-api-session/certificates/${id}`))
    expectError(await api.get(`/current-api-session/certificates/${id}`), 'NOT_FOUND')
    expectError(await api.post('/current-api-session/certificates', { csr: 'hello' }), 'COULD_NOT_PROCESS_CSR')
  })

  it('begin with the one that the session began with, which is not deleted here', async () => {
    const { api, certificate } = await device()
    const path = '/current-api-session/certificates'
    const session = (await read(api, '/current-api-session')).id
    const leaf = new X509Certificate(certificate.cert)
    const fingerprint = createHash('sha1').update(leaf.raw).digest('hex')
    const issued = await create(api, path, { csr: signingRequest(newKey()) })
    const { body } = await api.get(path)
    const certificates = new Map(body.data.map((one: { readonly id: string }) => [one.id, one]))
    expect([...certificates.keys()].sort()).toEqual([session, issued].sort())
    expect(certificates.get(session)).toMatchObject({ fingerprint, validTo: new Date(leaf.validTo).toISOString() })
    expect(await read(api, `${path}/${session}`)).toEqual(certificates.get(session))
    const find = async (filter: string) => (await api.get(`${path}?filter=${encodeURIComponent(filter)}`)).body
    for (const filter of [`fingerprint = "${fingerprint}"`, `id = "${session}" and isSystem = false`]) {
      expect((await find(filter)).data).toHaveLength(1)
    }
    expect((await find('limit 1 ')).meta.pagination).toMatchObject({ limit: 1, totalCount: 2 })
    expectError(await api.delete(`${path}/${session}`), 'ENTITY_CAN_NOT_BE_DELETED')
    expectDone(await api.delete(`${path}/${issued}`))
    expect((await api.get(path)).body.data).toHaveLength(1)
  })

  it('A7, GHSA-6v5r: of another session do not exist, not even of the same identity', async () => {
    const mounted = await mount()
    const alice = await person(mounted, await adminOf(mounted), 'alice')
    const [first, second] = [await apisOf(mounted, alice), await apisOf(mounted, alice)]
    const csr = signingRequest(newKey())
    const id = await create(first.api, '/current-api-session/certificates', { csr })
    expect((await second.api.get('/current-api-session/certificates')).body.data).toEqual([])
    expectError(await second.api.get(`/current-api-session/certificates/${id}`), 'NOT_FOUND')
    expectError(await second.api.delete(`/current-api-session/certificates/${id}`), 'NOT_FOUND')
  })

  it('do not log in by themselves', async () => {
    const mounted = await mount()
    const alice = await person(mounted, await adminOf(mounted), 'alice')
    const { api } = await apisOf(mounted, alice)
    const key = newKey()
    const { certificate } = (await api.post('/current-api-session/certificates', { csr: signingRequest(key) })).body
      .data
    expect((await logIn(mounted, { cert: certificate, key })).status).toBe(401)
  })
})

describe('a controller before enrollment', () => {
  it('proves on a nonce that it holds the key of its enrollment tokens', async () => {
    const mounted = await mount()
    const anybody = foreignClient(mounted, CLIENT)
    const { keys } = (await anybody.get('/enroll/jwks')).body
    expect(keys).toHaveLength(1)
    const [key] = keys
    expect(key).toMatchObject({ kty: 'EC', alg: 'ES256', use: 'sig', x5c: [expect.any(String)] })
    expect(key).not.toHaveProperty('d')
    const nonce = randomUUID()
    const { body } = await anybody.post('/enroll/challenge', { nonce, keyId: key.kid })
    expect(body).toMatchObject({ algorithm: 'ES256', kid: key.kid, caPool: mounted.controller.caPem })
    const publicKey = { key: createPublicKey({ key, format: 'jwk' }), dsaEncoding: 'ieee-p1363' } as const
    expect(verify('sha256', Buffer.from(nonce), publicKey, Buffer.from(body.signature, 'base64'))).toBe(true)
    expectFieldError(await anybody.post('/enroll/challenge', { nonce, keyId: 'other' }), 'keyId')
    expectFieldError(await anybody.post('/enroll/challenge', { nonce: 'x', keyId: key.kid }), 'nonce')
  })
})
