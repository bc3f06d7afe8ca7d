import { createHash, X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectFieldError } from '../contract/http/errors.ts'
import { adminOf, CLIENT, create, foreignClient, read } from '../contract/http/foreign-client.ts'
import { newKey, signingRequest } from '../contract/http/signing-request.ts'
import { mount } from '../support/mount.ts'
import { type NetworkOptions, network } from '../support/network.ts'
import { apisOf, login, person } from '../support/people.ts'

const HOUR_MS = 3_600_000

/** A network of one identity, with more of its fields. */
function alice(fields: object = {}): NetworkOptions<never, 'identityId'> {
  return { entities: { identityId: ['/identities', { name: 'alice', type: 'User', isAdmin: false, ...fields }] } }
}

describe('enrollments', () => {
  it('A24: are created, listed, shown and deleted; a deleted one enrolls nobody', async () => {
    const { admin, identityId, later, anybody } = await network(alice())
    const id = await create(admin, '/enrollments', { identityId, method: 'ott', expiresAt: later(HOUR_MS) })
    const shown = await read(admin, `/enrollments/${id}`)
    expect(shown).toMatchObject({
      identityId,
      method: 'ott',
      expiresAt: later(HOUR_MS),
      identity: { id: identityId },
      ca: null,
    })
    expect((await admin.get('/enrollments')).body.data).toEqual([shown])
    expect((await admin.get(`/identities/${identityId}/enrollments`)).body.data).toEqual([shown])
    expectDone(await admin.delete(`/enrollments/${id}`))
    const body = { token: shown.token, clientCsr: signingRequest(newKey()) }
    expectError(await anybody.post('/enroll/ott', body), 'INVALID_ENROLLMENT_TOKEN')
  })

  it.each([
    ['an unknown identity', { identityId: 'nobody' }, 'identityId', 'identity not found'],
    ['a time that is over', { expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt', 'must be in the future'],
    ['an unknown CA', { method: 'ottca', caId: 'none' }, 'caId', 'ca not found'],
    ['no CA', { method: 'ottca' }, 'caId', 'ca not found'],
    ['no username', { method: 'updb' }, 'username', 'username not provided'],
  ])('are not created for %s', async (_what, change, field, reason) => {
    const { admin, identityId, later } = await network(alice())
    const answer = await admin.post('/enrollments', { identityId, method: 'ott', expiresAt: later(HOUR_MS), ...change })
    expectError(answer, 'INVALID_FIELD', { field, reason: expect.stringContaining(reason) })
  })

  it('are one of each method for an identity', async () => {
    const { admin, identityId, later } = await network(alice({ enrollment: { ott: true } }))
    const again = await admin.post('/enrollments', { identityId, method: 'ott', expiresAt: later(HOUR_MS) })
    expectError(again, 'ENROLLMENT_EXISTS', { field: 'method', reason: 'enrollment of same method exists' }, 409)
    await create(admin, '/enrollments', { identityId, method: 'updb', username: 'alice', expiresAt: later(HOUR_MS) })
  })

  it('A24: when refreshed keep their id and get a new token; the old one is void', async () => {
    const { mounted, admin, identityId, anybody } = await network(alice({ enrollment: { ott: true } }))
    const { id, token } = (await read(admin, `/identities/${identityId}`)).enrollment.ott
    mounted.clock.advance(24 * HOUR_MS)
    const clientCsr = signingRequest(newKey())
    expectError(await anybody.post('/enroll/ott', { token, clientCsr }), 'ENROLLMENT_EXPIRED')
    const again = await adminOf(mounted)
    const expiresAt = new Date(mounted.clock.now() + HOUR_MS).toISOString()
    const answer = await again.post(`/enrollments/${id}/refresh`, { expiresAt })
    expect([answer.status, answer.body.data.id]).toEqual([200, id])
    const refreshed = await read(again, `/enrollments/${id}`)
    expect(refreshed.expiresAt).toBe(expiresAt)
    expect(refreshed.token).not.toBe(token)
    expectError(await anybody.post('/enroll/ott', { token, clientCsr }), 'INVALID_ENROLLMENT_TOKEN')
    expect((await anybody.post('/enroll/ott', { token: refreshed.token, clientCsr })).status).toBe(200)
  })

  it('are told by their token in the body or in the query', async () => {
    const { admin, identityId, anybody } = await network(alice({ enrollment: { ott: true } }))
    const { token } = (await read(admin, `/identities/${identityId}`)).enrollment.ott
    const clientCsr = signingRequest(newKey())
    const reason = 'token in body is required'
    expectError(await anybody.post('/enroll/ott', { clientCsr }), 'COULD_NOT_VALIDATE', { field: 'token', reason })
    expect((await anybody.post(`/enroll/ott?token=${token}`, { clientCsr })).status).toBe(200)
  })

  it('show their identity with both spellings of its kind', async () => {
    const { admin, identityId } = await network(alice({ enrollment: { ott: true } }))
    const { id } = (await read(admin, `/identities/${identityId}`)).enrollment.ott
    const { identity } = await read(admin, `/enrollments/${id}`)
    expect(identity).toMatchObject({ id: identityId, entity: 'identities', urlName: 'identities' })
  })

  it('are refreshed to a time to come only', async () => {
    const { mounted, admin, identityId } = await network(alice({ enrollment: { ott: true } }))
    const { id } = (await read(admin, `/identities/${identityId}`)).enrollment.ott
    const past = { expiresAt: new Date(mounted.clock.now()).toISOString() }
    expectFieldError(await admin.post(`/enrollments/${id}/refresh`, past), 'expiresAt')
    expectError(await admin.post('/enrollments/none/refresh', past), 'NOT_FOUND')
  })

  it('A9: of admins are hidden from delegates, and not theirs to make', async () => {
    const { mounted, admin, later } = await network(alice())
    const boss = await create(admin, '/identities', {
      name: 'boss',
      type: 'User',
      isAdmin: true,
      enrollment: { ott: true },
    })
    const { ott } = (await read(admin, `/identities/${boss}`)).enrollment
    const permissions = ['enrollment', 'identity', 'admin_readonly']
    const { management } = await apisOf(mounted, await person(mounted, admin, 'delegate', { permissions }))
    expect((await management.get('/enrollments')).text).not.toContain(ott.token)
    expectError(await management.get(`/enrollments/${ott.id}`), 'UNAUTHORIZED')
    expectError(await management.get('/enrollments/none'), 'NOT_FOUND')
    expect((await management.get(`/identities/${boss}/enrollments`)).body.data).toEqual([])
    for (const path of ['/identities', `/identities/${boss}`]) {
      expect((await management.get(path)).text).not.toContain(ott.token)
    }
    const updb = { identityId: boss, method: 'updb', username: 'boss', expiresAt: later(HOUR_MS) }
    expectError(await management.post('/enrollments', updb), 'UNAUTHORIZED')
    expectError(await management.post(`/enrollments/${ott.id}/refresh`, { expiresAt: later(HOUR_MS) }), 'UNAUTHORIZED')
    expectError(await management.delete(`/enrollments/${ott.id}`), 'UNAUTHORIZED')
  })
})

describe('enrolling by signing request', () => {
  const WAYS: readonly [string, (token: string, csr: string | undefined) => [string, unknown]][] = [
    ['/enroll/ott', (token, csr) => ['/enroll/ott', { token, clientCsr: csr }]],
    ['/enroll with JSON', (token, csr) => [`/enroll?method=ott&token=${token}`, { clientCsr: csr }]],
    ['/enroll with text', (token, csr) => [`/enroll?method=ott&token=${token}`, csr]],
  ]
  it.each(WAYS)('at %s, a request that is empty or not there is told to be one', async (_way, sent) => {
    const { admin, identityId, anybody } = await network(alice({ enrollment: { ott: true } }))
    const { token } = (await read(admin, `/identities/${identityId}`)).enrollment.ott
    for (const csr of ['', ' \n', undefined]) {
      const [path, body] = sent(token, csr)
      const headers = { 'content-type': typeof body === 'string' ? 'application/x-pem-file' : 'application/json' }
      expectError(await anybody.send('POST', path, { body, headers }), 'COULD_NOT_PROCESS_CSR')
    }
    expect((await read(admin, `/identities/${identityId}`)).enrollment.ott.token).toBe(token)
  })
})

describe('usernames', () => {
  it('are as short as deployed controllers let administrators make them', async () => {
    const { admin, identityId, later } = await network(alice())
    const updb = { identityId, method: 'updb', username: 'b', expiresAt: later(HOUR_MS) }
    expectError(await admin.post('/enrollments', { ...updb, username: '' }), 'COULD_NOT_VALIDATE')
    const id = await create(admin, '/enrollments', updb)
    expect((await read(admin, `/enrollments/${id}`)).username).toBe('b')
    const credentials = { identityId, method: 'updb', username: 'b', password: 'a-password' }
    expectError(await admin.post('/authenticators', { ...credentials, username: '' }), 'COULD_NOT_VALIDATE')
    const own = await create(admin, '/authenticators', credentials)
    expect((await read(admin, `/authenticators/${own}`)).username).toBe('b')
  })
})

describe('enrolling by password', () => {
  const WAYS = [
    ['/enroll/updb', (token: string) => `/enroll/updb?token=${token}`],
    ['/enroll with the method', (token: string) => `/enroll?method=updb&token=${token}`],
    ['/enroll without the method', (token: string) => `/enroll?token=${token}`],
  ] as const

  it.each(WAYS)('at %s gives the username of the enrollment its password, once', async (_way, path) => {
    const { mounted, admin, identityId, anybody } = await network(alice({ enrollment: { updb: 'alice' } }))
    const { token } = (await read(admin, `/identities/${identityId}`)).enrollment.updb
    const answer = await anybody.post(path(token), { username: 'somebody', password: 'Correct-Horse-1' })
    const { data: controllers } = (await foreignClient(mounted, CLIENT, admin.token).get('/controllers')).body
    expect(controllers).toHaveLength(1)
    expect([answer.status, answer.body?.data]).toEqual([200, { username: 'alice', controllers }])
    expect((await login(mounted, { username: 'alice', password: 'Correct-Horse-1' })).status).toBe(200)
    expectError(await anybody.post(path(token), { password: 'Correct-Horse-2' }), 'INVALID_ENROLLMENT_TOKEN')
  })

  it('needs a password', async () => {
    const { admin, identityId, anybody } = await network(alice({ enrollment: { updb: 'alice' } }))
    const { token } = (await read(admin, `/identities/${identityId}`)).enrollment.updb
    expectFieldError(await anybody.post(`/enroll?method=updb&token=${token}`, {}), 'password')
  })

  it('A23: of 200 at once succeeds for one', async () => {
    const { admin, identityId, anybody } = await network(alice({ enrollment: { updb: 'alice' } }))
    const { token } = (await read(admin, `/identities/${identityId}`)).enrollment.updb
    const tries = Array.from({ length: 200 }, (_, n) =>
      anybody.post(`/enroll/updb?token=${token}`, { password: `Correct-Horse-${n}` }),
    )
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 400)).toHaveLength(199)
  })
})

describe('enrolling an edge router', () => {
  const WAYS = [
    [
      '/enroll/erott',
      (token: string, clientCsr: string, serverCsr: string) => ['/enroll/erott', { token, clientCsr, serverCsr }],
    ],
    [
      '/enroll/erott with the token in the query',
      (token: string, clientCsr: string, serverCsr: string) => [
        `/enroll/erott?token=${token}`,
        { clientCsr, serverCsr },
      ],
    ],
    [
      '/enroll',
      (token: string, certCsr: string, serverCertCsr: string) => [
        `/enroll?method=erott&token=${token}`,
        { certCsr, serverCertCsr },
      ],
    ],
  ] as const

  async function routerScene() {
    const mounted = await mount({ trustDomain: 'trust.example' })
    const admin = await adminOf(mounted)
    const id = await create(admin, '/edge-routers', { name: 'router' })
    const token: string = (await read(admin, `/edge-routers/${id}`)).enrollmentToken
    const keys = { client: newKey(), server: newKey() }
    const csr = (key: string, names = 'DNS:router.example.org,IP:10.0.0.1,URI:spiffe://trust.example/identity/boss') =>
      signingRequest(key, `/CN=${id}`, ['-addext', `subjectAltName=${names}`])
    return { mounted, admin, id, token, keys, csr, anybody: foreignClient(mounted, CLIENT) }
  }

  it.each(WAYS)('at %s gives it both certificates, once', async (_way, request) => {
    const { admin, id, token, keys, csr, anybody } = await routerScene()
    const [path, body] = request(token, csr(keys.client), csr(keys.server))
    const answer = await anybody.post(String(path), body)
    expect(answer.status, answer.text).toBe(200)
    const { ca, cert, serverCert } = answer.body.data
    expect(ca).toContain('BEGIN CERTIFICATE')
    const [client, server] = [new X509Certificate(cert), new X509Certificate(serverCert)]
    const names = `DNS:router.example.org, IP Address:10.0.0.1, URI:spiffe://trust.example/router/${id}`
    expect([client.subjectAltName, server.subjectAltName]).toEqual([names, names])
    expect([client.keyUsage, server.keyUsage]).toEqual([['1.3.6.1.5.5.7.3.2'], ['1.3.6.1.5.5.7.3.1']])
    const fingerprint = createHash('sha1').update(client.raw).digest('hex')
    expect(await read(admin, `/edge-routers/${id}`)).toMatchObject({ isVerified: true, fingerprint })
    expectError(await anybody.post(String(path), body), 'INVALID_ENROLLMENT_TOKEN')
  })

  it('needs both requests, and the id of the router as common name', async () => {
    const { token, keys, csr, anybody } = await routerScene()
    const path = `/enroll?method=erott&token=${token}`
    expectError(await anybody.post(path, { certCsr: csr(keys.client) }), 'MISSING_OR_INVALID_CSR')
    expectError(await anybody.post(path), 'MISSING_OR_INVALID_CSR')
    // Generated clients leave out what is empty.
    for (const requests of [{}, { clientCsr: '', serverCsr: '' }, { clientCsr: csr(keys.client) }]) {
      expectError(await anybody.post('/enroll/erott', { token, ...requests }), 'MISSING_OR_INVALID_CSR')
    }
    const foreign = { certCsr: signingRequest(keys.client, '/CN=other'), serverCertCsr: csr(keys.server) }
    expectError(await anybody.post(path, foreign), 'COULD_NOT_PROCESS_CSR', {
      message: expect.stringContaining('client CSR'),
    })
    const broken = { certCsr: csr(keys.client), serverCertCsr: 'hello' }
    expectError(await anybody.post(path, broken), 'COULD_NOT_PROCESS_CSR', {
      message: expect.stringContaining('server CSR'),
    })
  })

  it('replaces its certificates for the current one, which is void at once', async () => {
    const { mounted, token, keys, csr, anybody } = await routerScene()
    const first = await anybody.post('/enroll/erott', {
      token,
      clientCsr: csr(keys.client),
      serverCsr: csr(keys.server),
    })
    const certificate = { cert: first.body.data.cert, key: keys.client }
    const router = foreignClient(mounted, CLIENT, undefined, certificate)
    const requests = { certCsr: csr(keys.client), serverCertCsr: csr(keys.server) }
    expectError(await anybody.post('/enroll/extend/router', requests), 'UNAUTHORIZED')
    for (const nothing of ['', ' \n']) {
      for (const [member, of] of [
        ['certCsr', 'client CSR'],
        ['serverCertCsr', 'server CSR'],
      ] as const) {
        const refused = await router.post('/enroll/extend/router', { ...requests, [member]: nothing })
        expectError(refused, 'COULD_NOT_PROCESS_CSR', { message: expect.stringContaining(of) })
      }
    }
    const second = await router.post('/enroll/extend/router', requests)
    expect(second.status, second.text).toBe(200)
    expectError(await router.post('/enroll/extend/router', requests), 'UNAUTHORIZED')
    const renewed = { cert: second.body.data.cert, key: keys.client }
    expect(
      (await foreignClient(mounted, CLIENT, undefined, renewed).post('/enroll/extend/router', requests)).status,
    ).toBe(200)
  })

  it('or a transit router, which need not name itself', async () => {
    const { mounted, admin, keys, anybody } = await routerScene()
    const id = await create(admin, '/transit-routers', { name: 'transit' })
    const token: string = (await read(admin, `/transit-routers/${id}`)).enrollmentToken
    const requests = { certCsr: signingRequest(keys.client, '/CN=any'), serverCertCsr: signingRequest(keys.server) }
    expectError(await anybody.post(`/enroll?method=erott&token=${token}`, requests), 'INVALID_ENROLL_METHOD')
    for (const missing of [undefined, {}, { certCsr: requests.certCsr }, { ...requests, certCsr: '' }]) {
      const refused = await anybody.post(`/enroll?method=trott&token=${token}`, missing)
      expectError(refused, 'COULD_NOT_PROCESS_CSR')
    }
    const answer = await anybody.post(`/enroll?method=trott&token=${token}`, requests)
    expect(answer.status, answer.text).toBe(200)
    const { cert } = answer.body.data
    expect(new X509Certificate(cert).subject).toBe(`CN=${id}`)
    expect((await read(admin, `/transit-routers/${id}`)).isVerified).toBe(true)
    const router = foreignClient(mounted, CLIENT, undefined, { cert, key: keys.client })
    expect((await router.post('/enroll/extend/router', requests)).status).toBe(200)
  })

  it('takes no identity for a router', async () => {
    const { mounted, admin, keys, csr } = await routerScene()
    const { enroll } = await import('../contract/http/scenario.ts')
    const { certificate } = await enroll(mounted, admin, { name: 'device' })
    const device = foreignClient(mounted, CLIENT, undefined, certificate)
    const requests = { certCsr: csr(keys.client), serverCertCsr: csr(keys.server) }
    expectError(await device.post('/enroll/extend/router', requests), 'UNAUTHORIZED')
  })
})
