import { serve } from 'portcullis/node'
import { createTestController } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminOf, CLIENT, create, type ForeignClient, foreignClient, read } from '../contract/http/foreign-client.ts'
import type { ClientCertificate, MountedController } from '../contract/http/mount.ts'
import { httpsClient } from '../support/https-fetch.ts'
import { identityProvider } from '../support/jwks-server.ts'
import { type OpensslFolder, opensslFolder } from '../support/openssl-folder.ts'

let openssl: OpensslFolder
let mounted: MountedController
let admin: ForeignClient
let anybody: ForeignClient
let close: () => Promise<void>

beforeAll(async () => {
  openssl = opensslFolder()
  const controller = await createTestController({
    now: Date.now(),
    trustDomain: 'methods.test',
    allowPrivateJwks: true,
  })
  const server = await serve(controller, { port: 0 })
  const client = httpsClient({ port: server.port, ca: controller.caPem })
  mounted = {
    url: server.url,
    controller,
    clock: controller.clock,
    fetch: client.fetch,
    dispose: async () => client.close(),
  }
  close = async () => {
    client.close()
    await server.close({ graceMs: 0 })
    await controller.close()
  }
  admin = await adminOf(mounted)
  anybody = foreignClient(mounted, CLIENT)
  openssl.write('network.pem', controller.caPem)
  openssl.write('leaf.ext', 'extendedKeyUsage=clientAuth\n')
  openssl.run(
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout third.key -out third.pem -days 9 -subj /CN=third',
  )
})
afterAll(async () => {
  await close()
  openssl.remove()
})

/** A signing request with a fresh key, made by openssl. */
function request(commonName: string): { readonly key: string; readonly csr: string } {
  openssl.run(`req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout a.key -out a.csr -subj /CN=${commonName}`)
  return { key: openssl.read('a.key'), csr: openssl.read('a.csr') }
}

/** A client certificate of the third party. */
function thirdParty(commonName: string): ClientCertificate {
  const { key } = request(commonName)
  openssl.run('x509 -req -in a.csr -CA third.pem -CAkey third.key -CAcreateserial -days 5 -extfile leaf.ext -out a.pem')
  // openssl dates by the clock of this machine: the controller's must not be behind.
  mounted.clock.advance(Math.max(0, Date.now() - mounted.clock.now()))
  return { cert: openssl.read('a.pem'), key }
}

/** The third party as a CA of the network, verified as an operator does it. */
async function registerThirdParty(): Promise<string> {
  const flags = { isAuthEnabled: true, isAutoCaEnrollmentEnabled: true, isOttCaEnrollmentEnabled: true }
  const ca = { name: 'third', certPem: openssl.read('third.pem'), identityRoles: ['auto'], ...flags }
  const id = await create(admin, '/cas', ca)
  const { verificationToken } = await read(admin, `/cas/${id}`)
  const body = thirdParty(verificationToken).cert
  const answer = await admin.send('POST', `/cas/${id}/verify`, { body, headers: { 'content-type': 'text/plain' } })
  expect(answer.status, answer.text).toBe(200)
  return id
}

/** An invited identity, and what its token says. */
async function invited(name: string, enrollment: object, method: string) {
  const id = await create(admin, '/identities', { name, type: 'Device', isAdmin: false, enrollment })
  const { token, jwt } = (await read(admin, `/identities/${id}`)).enrollment[method]
  const claims = JSON.parse(Buffer.from(jwt.split('.')[1], 'base64url').toString())
  expect(claims).toMatchObject({ em: method, jti: token, sub: id })
  return { id, token }
}

/** The controllers as the client API lists them, and as an enrollment answers them. */
async function controllers() {
  const { data } = (await foreignClient(mounted, CLIENT, admin.token).get('/controllers')).body
  expect(data).toHaveLength(1)
  return data
}

const as = (certificate: ClientCertificate) => foreignClient(mounted, CLIENT, undefined, certificate)

async function expectLogin(certificate: ClientCertificate, name: string | RegExp): Promise<void> {
  const answer = await as(certificate).post('/authenticate?method=cert')
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body.data.identity.name).toMatch(name)
}

describe('over HTTPS, with keys that openssl made, a device enrolls and logs in', () => {
  it('by one-time token and signing request', async () => {
    const { id, token } = await invited('by ott', { ott: true }, 'ott')
    const { key, csr } = request(id)
    const answer = await anybody.post(`/enroll?method=ott&token=${token}`, { clientCsr: csr })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
    await expectLogin({ cert: answer.body.data.cert, key }, 'by ott')
    expect(answer.body.data.controllers).toEqual(await controllers())
    const again = await anybody.post(`/enroll?method=ott&token=${token}`, { clientCsr: csr })
    expect(again.body.error.code).toBe('INVALID_ENROLLMENT_TOKEN')
  })

  it('by one-time token and a certificate that it has, or by that certificate alone', async () => {
    const ottca = await registerThirdParty()
    const { token } = await invited('by ottca', { ottca }, 'ottca')
    const known = thirdParty('known')
    const sent = { body: '', headers: { 'content-type': 'text/plain' } }
    expect((await anybody.send('POST', `/enroll?method=ottca&token=${token}`, sent)).body.error.code).toBe(
      'CERTIFICATE_FAILED_VALIDATION',
    )
    const answer = await as(known).send('POST', `/enroll?method=ottca&token=${token}`, sent)
    expect([answer.status, answer.body.data]).toEqual([200, { controllers: await controllers() }])
    await expectLogin(known, 'by ottca')

    const stranger = thirdParty('stranger')
    expect((await as(stranger).post('/authenticate?method=cert')).status).toBe(401)
    expect((await as(stranger).send('POST', '/enroll?method=ca')).body.data).toEqual({})
    await expectLogin(stranger, 'third-stranger')
    expect((await as(stranger).send('POST', '/enroll?method=ca')).body.error.code).toBe('CERT_IN_USE')
  })

  it('by one-time token and a password of its choice', async () => {
    const { token } = await invited('by updb', { updb: 'somebody' }, 'updb')
    const answer = await anybody.post(`/enroll?method=updb&token=${token}`, { password: 'Correct-Horse-1' })
    expect(answer.body.data).toEqual({ username: 'somebody', controllers: await controllers() })
    const credentials = { username: 'somebody', password: 'Correct-Horse-1' }
    expect((await anybody.post('/authenticate?method=password', credentials)).body.data.identity.name).toBe('by updb')
  })

  it.each([
    ['edge-routers', 'erott'],
    ['transit-routers', 'trott'],
  ])('as one of the %s (%s), and gets new certificates for the old', async (collection, method) => {
    const id = await create(admin, `/${collection}`, { name: `a router by ${method}` })
    const { enrollmentToken } = await read(admin, `/${collection}/${id}`)
    const [client, server] = [request(id), request(id)]
    const body = { certCsr: client.csr, serverCertCsr: server.csr }
    const { data } = (await anybody.post(`/enroll?method=${method}&token=${enrollmentToken}`, body)).body
    for (const [file, purpose] of [
      ['cert', 'sslclient'],
      ['serverCert', 'sslserver'],
    ] as const) {
      openssl.write(`${file}.pem`, data[file])
      const verified = `verify -purpose ${purpose} -CAfile network.pem -untrusted ${file}.pem ${file}.pem`
      expect(openssl.run(verified)).toContain('OK')
    }
    const router = as({ cert: data.cert, key: client.key })
    expect((await router.post('/enroll/extend/router', body)).status).toBe(200)
    expect((await router.post('/enroll/extend/router', body)).status).toBe(401)
  })

  it('by the token of an identity provider, to a certificate and to tokens', async () => {
    const idp = await identityProvider()
    const signer = { name: 'idp', issuer: idp.issuer, audience: 'network', enabled: true, jwksEndpoint: idp.endpoint }
    const offers = { enrollToCertEnabled: true, enrollToTokenEnabled: true, enrollNameClaimsSelector: '/name' }
    await create(admin, '/external-jwt-signers', { ...signer, ...offers, useExternalId: true })
    const headersOf = async (sub: string) => {
      const token = await idp.token(mounted.clock.now(), { sub, name: `token of ${sub}` })
      return { authorization: `Bearer ${token}` }
    }
    const { key, csr } = request('carol')
    const headers = await headersOf('carol')
    const issued = await anybody.send('POST', '/enroll/token', { headers, body: { clientCsr: csr } })
    expect(Object.keys(issued.body.data).sort()).toEqual(['ca', 'cert', 'controllers'])
    await expectLogin({ cert: issued.body.data.cert, key }, 'token of carol')
    expect((await anybody.send('POST', '/enroll/token', { headers })).body.error.code).toBe(
      'ENROLLMENT_IDENTITY_ALREADY_ENROLLED',
    )

    await idp.rotate('key-2', 'RS256')
    mounted.clock.advance(5_000)
    const rotated = await headersOf('david')
    expect((await anybody.send('POST', '/authenticate?method=ext-jwt', { headers: rotated })).status).toBe(401)
    expect((await anybody.send('POST', '/enroll/token', { headers: rotated })).status).toBe(200)
    const answer = await anybody.send('POST', '/authenticate?method=ext-jwt', { headers: rotated })
    expect(answer.body.data.identity.name).toBe('token of david')
  })

  it('after its credential was turned back into an enrollment', async () => {
    const { id, token } = await invited('reverted', { ott: true }, 'ott')
    const first = request(id)
    const { cert } = (await anybody.post(`/enroll?method=ott&token=${token}`, { clientCsr: first.csr })).body.data
    const [{ id: authenticatorId }] = (await admin.get(`/identities/${id}/authenticators`)).body.data
    const expiresAt = new Date(mounted.clock.now() + 60_000).toISOString()
    const enrollmentId = await create(admin, `/authenticators/${authenticatorId}/re-enroll`, { expiresAt })
    expect((await as({ cert, key: first.key }).post('/authenticate?method=cert')).status).toBe(401)
    const enrollment = await read(admin, `/enrollments/${enrollmentId}`)
    expect(enrollment.method).toBe('ott')
    const second = request(id)
    const answer = await anybody.post(`/enroll?method=ott&token=${enrollment.token}`, { clientCsr: second.csr })
    await expectLogin({ cert: answer.body.data.cert, key: second.key }, 'reverted')
  })
})
