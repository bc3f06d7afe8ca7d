import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPkiMaterial, type ImportedEntity, openOperator, type PkiMaterial } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import {
  type AdminOptions,
  applyModel,
  checkMoved,
  leadsTo,
  planModel,
  readExport,
  readModel,
  readNetwork,
  readSource,
} from 'portcullis/model'
import { createTestController, TEST_ADMIN, type TestController } from 'portcullis/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { createSigningRequest } from '../../adapters/network/enrollment/created-requests.ts'

const NOW = Date.UTC(2026, 0, 1)

async function adminOf(controller: TestController): Promise<AdminOptions> {
  const login = { query: { method: 'password' as const }, body: TEST_ADMIN }
  const { data } = await controller.management.call('POST /authenticate', login)
  return { baseUrl: 'https://controller.test:1280', fetch: (request) => controller.fetch(request), token: data.token }
}

const MORE = `
configs: [{ name: host-wiki, configTypeId: host.v1, data: { address: localhost, port: 80, protocol: tcp } }]
identities:
  - name: moved
    type: Device
    isAdmin: false
    externalId: ext-1
    appData: { a: 1 }
    tags: { owner: it }
    roleAttributes: [employees]
    serviceConfigs: [{ service: wiki, config: host-wiki }]
edgeRouters: [{ name: tunnel, isTunnelerEnabled: true }]`

/** A network of another controller with a device that enrolled and one that is invited. */
async function source(pki: PkiMaterial) {
  const old = await createTestController({ pki })
  const admin = await adminOf(old)
  await applyModel(admin, await readModel('examples/quickstart/network.yaml', { name: 'more.yaml', text: MORE }))
  const device = await old.enroll('laptop')
  const management = await old.asAdmin()
  const phone = (await readNetwork(admin)).named('identities', 'phone')?.id ?? ''
  await management.call('POST /identities/{id}/disable', { params: { id: phone }, body: { durationMinutes: 0 } })
  const contractor = (await readNetwork(admin)).named('identities', 'contractor')?.id ?? ''
  const expiresAt = new Date(NOW + 3_600_000).toISOString()
  await management.call('POST /enrollments', { body: { identityId: contractor, method: 'ott', expiresAt } })
  return { old, admin, device, phone }
}

describe('moving a network over', () => {
  let pki: PkiMaterial
  beforeAll(async () => {
    pki = await createPkiMaterial({ now: NOW, hosts: ['controller.test'], trustDomain: 'moved.example' })
  })

  it('keeps ids, states, policies and certificates: the device goes on, and renews its certificate', async () => {
    const { old, admin, device, phone } = await source(pki)
    const { entities } = await readSource(admin)
    const storage = memoryStorage()
    const operator = await openOperator({ storage, pki, clock: { now: () => NOW + 1000 } })
    const dry = await operator.importEntities(entities, { dryRun: true })
    expect(dry.counts.find(({ resource }) => resource === 'identities')?.created).toBe(7)
    expect(await operator.list('identities')).toEqual([])
    const report = await operator.importEntities(entities)
    expect(report.notes).toEqual([expect.stringContaining('the password of admin')])
    expect(await checkMoved(admin, entities, operator)).toEqual({ differences: [], pairs: 21 })
    expect(await operator.checkIntegrity()).toEqual([])
    // An import that is made again takes over nothing twice.
    const again = await operator.importEntities(entities)
    expect(again.counts.filter(({ created, updated }) => created + updated > 0)).toEqual([])
    const policies = await operator.list('edge-router-policies')
    expect(policies.filter(({ isSystem }) => isSystem === true)).toHaveLength(1)
    expect((await operator.list('service-configs')).length).toBe(1)
    expect((await operator.list('identities')).find(({ id }) => id === phone)).toMatchObject({ disabled: true })
    expect(await operator.list('enrollments')).toHaveLength(
      (await (await old.asAdmin()).call('GET /enrollments')).data.length,
    )

    await operator.resetAdminPassword({ password: 'another-password' })
    const moved = await createTestController({ storage, pki, now: NOW + 2000 })
    const client = moved.client(device.connection)
    const { data } = await client.call('POST /authenticate', { query: { method: 'cert' }, body: {} })
    expect(data.identityId).toBe(device.id)
    const own = client.withToken(data.token)
    const [authenticator] = (await own.call('GET /current-identity/authenticators')).data
    expect(authenticator).toMatchObject({ method: 'cert', isIssuedByNetwork: true })
    const params = { id: authenticator?.id ?? '' }
    const { csr } = await createSigningRequest('laptop')
    const next = await own.call('POST /current-identity/authenticators/{id}/extend', {
      params,
      body: { clientCertCsr: csr },
    })
    const body = { clientCert: next.data.clientCert }
    await own.call('POST /current-identity/authenticators/{id}/extend-verify', { params, body })
    await old.close()
    await moved.close()
  })

  it('takes over the terminators that an operator made, and leaves those of hosts, which make them again', async () => {
    const { old, admin } = await source(pki)
    const management = await old.asAdmin()
    const network = await readNetwork(admin)
    const service = network.named('services', 'wiki')?.id ?? ''
    const router = network.named('edgeRouters', 'tunnel')?.id ?? ''
    for (const binding of ['transport', 'edge_transport', 'tunnel', 'edge']) {
      await management.call('POST /terminators', { body: { service, router, binding, address: `tcp:${binding}:80` } })
    }
    const { entities, notes } = await readSource(admin)
    expect(notes).toContain('2 terminators of hosts that are connected: they make them again')
    const operator = await openOperator({ storage: memoryStorage(), pki, clock: { now: () => NOW + 1000 } })
    await operator.importEntities(entities)
    expect((await operator.list('terminators')).map(({ binding }) => binding).sort()).toEqual([
      'edge_transport',
      'transport',
    ])
    expect((await checkMoved(admin, entities, operator)).differences).toEqual([])
  })

  it('leaves a certificate of another authority as it is, and a slip is told with the entity and the field', async () => {
    const { admin } = await source(pki)
    const { entities } = await readSource(admin)
    const other = await createPkiMaterial({ now: NOW, hosts: ['controller.test'], trustDomain: 'other.example' })
    const operator = await openOperator({ storage: memoryStorage(), pki: other })
    await operator.importEntities(entities)
    const [authenticator] = await operator.list('authenticators')
    expect(authenticator).toMatchObject({ isIssuedByNetwork: false })
    const wrong: ImportedEntity = { resource: 'services', entity: { id: 's', name: 'web', maxIdleTimeMillis: 'soon' } }
    await expect(operator.importEntities([wrong])).rejects.toThrow(/service web: .*maxIdleTimeMillis/)
  })

  it('tells whether devices will trust the server certificate', async () => {
    const other = await createPkiMaterial({ now: NOW, hosts: ['controller.test'], trustDomain: 'other.example' })
    expect(leadsTo(pki.serverCertPem, pki.caPem)).toBe(true)
    expect(leadsTo(pki.serverCertPem, other.caPem)).toBe(false)
  })

  it('reads what ziti ops export writes, without what the controller makes itself', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'portcullis-export-'))
    const file = join(folder, 'export.json')
    const written = {
      authPolicies: [],
      certificateAuthorities: [],
      configTypes: [],
      configs: [
        { name: 'host-wiki', configType: '@host.v1', data: { address: 'h', port: 80, protocol: 'tcp' }, tags: {} },
      ],
      edgeRouterPolicies: [
        { name: 'edge-router-x-system', semantic: 'AnyOf', edgeRouterRoles: ['@er'], identityRoles: ['@er'], tags: {} },
      ],
      edgeRouters: [
        {
          name: 'er',
          disabled: false,
          enrollmentToken: 'secret',
          hostname: '',
          interfaces: null,
          isTunnelerEnabled: true,
          noTraversal: false,
          roleAttributes: [],
          tags: {},
          appData: {},
        },
      ],
      externalJwtSigners: [],
      identities: [
        {
          name: 'er',
          typeId: 'Router',
          isAdmin: false,
          isDefaultAdmin: false,
          authPolicy: '@Default',
          roleAttributes: [],
        },
        {
          name: 'anna',
          typeId: 'User',
          isAdmin: false,
          isDefaultAdmin: false,
          authPolicy: '@Default',
          roleAttributes: ['a'],
          externalId: null,
          isMfaEnabled: false,
          disabled: false,
          edgeRouterConnectionStatus: 'offline',
          interfaces: null,
          tags: {},
        },
      ],
      postureChecks: [
        {
          name: 'os',
          typeId: 'OS',
          operatingSystems: [{ type: 'Linux', versions: [] }],
          roleAttributes: ['managed'],
          tags: {},
        },
      ],
      serviceEdgeRouterPolicies: [],
      servicePolicies: [
        { name: 'p', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#a'], serviceRoles: ['@wiki'], tags: {} },
      ],
      services: [
        {
          name: 'wiki',
          configs: ['@host-wiki'],
          encryptionRequired: true,
          roleAttributes: null,
          tags: {},
          terminatorStrategy: 'smartrouting',
        },
      ],
    }
    await writeFile(file, `Exporting 2 Identities\n${JSON.stringify(written)}`)
    const { model, notes } = await readExport(file)
    expect(notes.join()).toContain('postureCheckRoles')
    const admin = await adminOf(await createTestController())
    const plan = await planModel(admin, model)
    expect(plan.changes.map(({ key, name }) => `${key} ${name}`)).toEqual([
      'configs host-wiki',
      'postureChecks os',
      'services wiki',
      'edgeRouters er',
      'identities anna',
      'servicePolicies p',
    ])
    await writeFile(file, '{ "things": [] }')
    await expect(readExport(file)).rejects.toThrow('is no file that ziti ops export wrote: it has things')
    await rm(folder, { recursive: true })
  })
})
