import { verify, type X509Certificate } from 'node:crypto'
import { type RunningServer, serve } from 'portcullis/node'
import { createTestController, type TestController } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTls } from '../adapters/node/tls-client.ts'
import { adminOf, CLIENT, create, type ForeignClient, foreignClient, read } from '../contract/http/foreign-client.ts'
import type { ClientCertificate, MountedController } from '../contract/http/mount.ts'
import { httpsClient } from '../support/https-fetch.ts'
import { useAuthPolicy } from '../support/identity-state.ts'
import { type OpensslFolder, opensslFolder } from '../support/openssl-folder.ts'

const YEAR_MS = 366 * 86_400_000

/** A served controller and an operator of it, over real sockets. */
interface Served {
  readonly controller: TestController
  readonly server: RunningServer
  readonly mounted: MountedController
  readonly admin: ForeignClient
  close(): Promise<void>
}

async function served(): Promise<Served> {
  const controller = await createTestController({
    now: Date.now(),
    address: 'localhost:1280',
    trustDomain: 'journey.test',
  })
  const server = await serve(controller, { port: 0 })
  const mounted = mountedAt(controller, server, controller.caPem)
  const close = async () => {
    await mounted.dispose()
    await server.close({ graceMs: 0 })
    await controller.close()
  }
  return { controller, server, mounted, admin: await adminOf(mounted), close }
}

/** The server as a device sees it that trusts `ca`, or nothing in particular. */
function mountedAt(controller: TestController, { port, url }: RunningServer, ca?: string): MountedController {
  const client = httpsClient({ port, ...(ca === undefined ? {} : { ca }) })
  return { url, controller, clock: controller.clock, fetch: client.fetch, dispose: async () => client.close() }
}

/** The network of an operator: people may dial `web` from computers of the domain `corp`. */
async function createModel(admin: ForeignClient) {
  const identityId = await create(admin, '/identities', {
    name: 'alice',
    type: 'User',
    isAdmin: false,
    roleAttributes: ['people'],
    enrollment: { ott: true },
  })
  const serviceId = await create(admin, '/services', {
    name: 'web',
    encryptionRequired: true,
    roleAttributes: ['apps'],
  })
  const check = { name: 'in corp', typeId: 'DOMAIN', domains: ['corp'], roleAttributes: ['required'] }
  const checkId = await create(admin, '/posture-checks', check)
  await create(admin, '/service-policies', {
    name: 'people dial apps',
    type: 'Dial',
    semantic: 'AnyOf',
    identityRoles: ['#people'],
    serviceRoles: ['#apps'],
    postureCheckRoles: ['#required'],
  })
  await create(admin, '/edge-routers', { name: 'router', roleAttributes: ['public'] })
  const everybody = { name: 'all', semantic: 'AnyOf', edgeRouterRoles: ['#public'] }
  await create(admin, '/edge-router-policies', { ...everybody, identityRoles: ['#all'] })
  await create(admin, '/service-edge-router-policies', { ...everybody, serviceRoles: ['#all'] })
  const { jwt } = (await read(admin, `/identities/${identityId}`)).enrollment.ott
  return { identityId, serviceId, checkId, jwt }
}

/** The certificate that the TLS server presents, of any issuer. */
async function presentedBy({ port }: RunningServer): Promise<X509Certificate> {
  const socket = await openTls(port)
  const certificate = socket.getPeerX509Certificate()
  socket.destroy()
  if (certificate === undefined) throw new Error('the server presents no certificate')
  return certificate
}

function verifiedClaims(jwt: string, { publicKey }: X509Certificate) {
  const [head = '', body = '', signature = ''] = jwt.split('.')
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
  expect(verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))).toBe(true)
  return JSON.parse(Buffer.from(body, 'base64url').toString())
}

/** Enrolls a device with nothing but its token: key, signing request and trust are made with the openssl command line. */
async function enrollDevice(folder: OpensslFolder, { controller, server }: Served, jwt: string) {
  const claims = verifiedClaims(jwt, await presentedBy(server))
  expect(claims).toMatchObject({ iss: 'https://localhost:1280', em: 'ott' })
  const naive = mountedAt(controller, server)
  const store = await foreignClient(naive, '').get('/.well-known/est/cacerts')
  await naive.dispose()
  folder.write('store.p7', Buffer.from(store.text, 'base64'))
  folder.run('pkcs7 -inform DER -in store.p7 -print_certs -out ca.pem')

  folder.run('genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out key.pem')
  folder.run(`req -new -key key.pem -subj /CN=${claims.sub} -out device.csr`)
  const device = mountedAt(controller, server, folder.read('ca.pem'))
  const answer = await foreignClient(device, CLIENT).send('POST', `/enroll?method=${claims.em}&token=${claims.jti}`, {
    body: folder.read('device.csr'),
    headers: { 'content-type': 'application/x-pem-file', accept: 'application/json' },
  })
  expect(answer.status, answer.text).toBe(200)
  folder.write('chain.pem', answer.body.data.cert)
  const certificate: ClientCertificate = { cert: folder.read('chain.pem'), key: folder.read('key.pem') }
  return { device, certificate, claims }
}

const login = (device: MountedController, certificate?: ClientCertificate) =>
  foreignClient(device, CLIENT, undefined, certificate).post('/authenticate?method=cert', {})

describe('a device enrolls and dials', () => {
  const folder = opensslFolder()
  const strangers = opensslFolder()
  let network: Served
  let other: Served
  let model: Awaited<ReturnType<typeof createModel>>
  let enrolled: Awaited<ReturnType<typeof enrollDevice>>

  beforeAll(async () => {
    network = await served()
    other = await served()
    model = await createModel(network.admin)
    enrolled = await enrollDevice(folder, network, model.jwt)
  })
  afterAll(async () => {
    await enrolled.device.dispose()
    await Promise.all([network.close(), other.close()])
    folder.remove()
    strangers.remove()
  })

  it('gets a certificate of the network, which openssl verifies', () => {
    // The host of a circuit is the server of the TLS that two identities speak over it.
    for (const purpose of ['sslclient', 'sslserver']) {
      const verified = folder.run(`verify -purpose ${purpose} -CAfile ca.pem -untrusted chain.pem chain.pem`)
      expect(verified, purpose).toContain('chain.pem: OK')
    }
    const text = folder.run('x509 -in chain.pem -noout -text')
    expect(text).toContain(`URI:spiffe://journey.test/identity/${model.identityId}`)
    expect(text).toMatch(new RegExp(`Subject: CN ?= ?${model.identityId}`))
    expect(text).toContain('TLS Web Client Authentication')
    expect(text).not.toContain('CA:TRUE')
    expect(folder.run('x509 -in chain.pem -noout -pubkey')).toBe(folder.run('pkey -in key.pem -pubout'))
  })

  it('logs in, proves its posture, dials, and loses the session in the wrong domain', async () => {
    const { device, certificate } = enrolled
    const answer = await login(device, certificate)
    expect(answer.body.data.identity).toMatchObject({ id: model.identityId, name: 'alice' })
    const api = foreignClient(device, CLIENT, answer.body.data.token, certificate)
    const dial = () => api.post('/sessions', { serviceId: model.serviceId, type: 'Dial' })

    const services = (await api.get('/services')).body.data
    expect(services).toMatchObject([{ id: model.serviceId, permissions: ['Dial'] }])
    const [{ isPassing, postureQueries }] = services[0].postureQueries
    expect([isPassing, postureQueries]).toMatchObject([
      false,
      [{ id: model.checkId, queryType: 'DOMAIN', isPassing: false }],
    ])
    expect((await dial()).body.error.code).toBe('INVALID_POSTURE')

    const report = (domain: string) =>
      api.post('/posture-response-bulk', [{ id: model.checkId, typeId: 'DOMAIN', domain }])
    expect((await report('CORP')).status).toBe(200)
    expect((await api.get('/services')).body.data[0].postureQueries).toMatchObject([{ isPassing: true }])
    const session = await dial()
    expect(session.status).toBe(201)
    expect(session.body.data.edgeRouters).toMatchObject([{ name: 'router', isOnline: false }])
    const claims = verifiedClaims(session.body.data.token, await presentedBy(network.server))
    expect(claims).toMatchObject({
      jti: session.body.data.id,
      sub: model.serviceId,
      z_iid: model.identityId,
      z_st: 'Dial',
    })

    const at = `/sessions/${session.body.data.id}`
    expect((await api.get(at)).status).toBe(200)
    expect((await report('cafe')).status).toBe(200)
    expect((await api.get(at)).status).toBe(404)
    expect((await dial()).body.error.code).toBe('INVALID_POSTURE')
    const failed = await read(network.admin, `/identities/${model.identityId}/failed-service-requests`)
    expect(
      failed.map(({ policyFailures }: { policyFailures: { checks: unknown }[] }) => policyFailures[0]?.checks),
    ).toEqual([
      [expect.objectContaining({ actualValue: '', expectedValue: ['corp'] })],
      [expect.objectContaining({ actualValue: 'cafe', expectedValue: ['corp'] })],
    ])
  })

  it('cannot use its token again', async () => {
    const { device, claims } = enrolled
    const body = folder.read('device.csr')
    const headers = { 'content-type': 'text/plain' }
    const again = await foreignClient(device, CLIENT).send('POST', `/enroll?token=${claims.jti}`, { body, headers })
    expect(again.body.error.code).toBe('INVALID_ENROLLMENT_TOKEN')
  })

  it('is not let in without a certificate, or with one that a stranger made', async () => {
    const { device } = enrolled
    expect((await login(device)).body.error.code).toBe('INVALID_AUTH')
    strangers.run('req -x509 -newkey rsa:2048 -nodes -keyout root.key -out root.pem -days 2 -subj /CN=stranger')
    strangers.run(`req -newkey rsa:2048 -nodes -keyout key.pem -out leaf.csr -subj /CN=${model.identityId}`)
    strangers.write('san.ext', `subjectAltName=URI:spiffe://journey.test/identity/${model.identityId}\n`)
    strangers.run(
      'x509 -req -in leaf.csr -CA root.pem -CAkey root.key -CAcreateserial -days 1 -extfile san.ext -out leaf.pem',
    )
    const key = strangers.read('key.pem')
    for (const cert of [strangers.read('leaf.pem'), strangers.read('leaf.pem') + strangers.read('root.pem')]) {
      expect((await login(device, { cert, key })).body.error.code).toBe('INVALID_AUTH')
    }
  })

  it('is not let in by a leaf of a stranger that is followed by its own chain', async () => {
    const { device, certificate } = enrolled
    strangers.run('req -x509 -newkey rsa:2048 -nodes -keyout own.key -out own.pem -days 1 -subj /CN=stranger')
    const mixed = { cert: strangers.read('own.pem') + certificate.cert, key: strangers.read('own.key') }
    expect((await login(device, mixed)).body.error.code).toBe('INVALID_AUTH')
  })

  it('is not let in by another network, and does not let in a device of another', async () => {
    const { device, certificate } = enrolled
    const foreign = mountedAt(other.controller, other.server, other.controller.caPem)
    expect((await login(foreign, certificate)).body.error.code).toBe('INVALID_AUTH')
    await foreign.dispose()
    const theirs = opensslFolder()
    const elsewhere = await enrollDevice(theirs, other, (await createModel(other.admin)).jwt)
    expect((await login(elsewhere.device, elsewhere.certificate)).status).toBe(200)
    expect((await login(device, elsewhere.certificate)).body.error.code).toBe('INVALID_AUTH')
    await elsewhere.device.dispose()
    theirs.remove()
  })

  it('is let in with an expired certificate only as long as its auth policy allows that', async () => {
    const { device, certificate } = enrolled
    network.controller.clock.advance(YEAR_MS)
    expect((await login(device, certificate)).status).toBe(200)
    await useAuthPolicy(network.controller, model.identityId, { primary: { cert: { allowExpiredCerts: false } } })
    expect((await login(device, certificate)).body.error.code).toBe('INVALID_AUTH')
    network.controller.clock.advance(-YEAR_MS)
    expect((await login(device, certificate)).status).toBe(200)
  })
})
