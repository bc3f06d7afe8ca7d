import { SYSTEM_CALL } from 'portcullis'
import { ApiError } from 'portcullis/client'
import {
  type AdminOptions,
  AssertionsFailed,
  applyModel,
  applyPlan,
  ModelError,
  modelText,
  planModel,
  planText,
  readModel,
  readNetwork,
  testController,
} from 'portcullis/model'
import { createTestController, TEST_ADMIN, type TestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { withSharedPki } from '../support/shared-pki.ts'

const NETWORK = 'examples/quickstart/network.yaml'

async function started(): Promise<{ controller: TestController; admin: AdminOptions }> {
  const controller = await createTestController(await withSharedPki())
  const login = { query: { method: 'password' as const }, body: TEST_ADMIN }
  const { data } = await controller.management.call('POST /authenticate', login)
  const fetch = (request: Request) => controller.fetch(request)
  return { controller, admin: { baseUrl: 'https://controller.test:1280', fetch, token: data.token } }
}

function yaml(text: string) {
  return readModel({ name: 'm.yaml', text })
}

describe('a plan', () => {
  it('shows what changes entity by entity, and who gains and loses access', async () => {
    const { admin } = await started()
    await applyModel(admin, await readModel(NETWORK))
    const change = await yaml(`
services:
  - { name: wiki, roleAttributes: [internal], encryptionRequired: true, maxIdleTimeMillis: 60000 }
identities:
  - { name: contractor, type: User, isAdmin: false, roleAttributes: [employees] }
  - { name: tablet, type: Device, isAdmin: false, roleAttributes: [visitors], tags: { owner: it } }`)
    const plan = await planModel(admin, change)
    expect(plan).toMatchObject({ unchanged: 0, access: { gained: 3, lost: 0 } })
    expect(plan.changes.map(({ action, name }) => `${action} ${name}`)).toEqual([
      'create tablet',
      'update wiki',
      'update contractor',
    ])
    const text = planText(plan)
    expect(text).toContain('~ identities \'contractor\'\n    roleAttributes: ["visitors"] -> ["employees"]')
    expect(text).toContain("~ services 'wiki'\n    maxIdleTimeMillis: (default) -> 60000")
    expect(text).toContain('  + contractor dials payroll (employees-dial-payroll)')
    expect(text).toContain('  + tablet dials printer (visitors-dial-printer)')
    // Nothing was written.
    expect((await readNetwork(admin)).named('identities', 'tablet')).toBeUndefined()
  })

  it('is refused when an assertion would fail, with the policies that the file does not hold', async () => {
    const { admin } = await started()
    await applyModel(admin, await readModel(NETWORK))
    const change = await yaml(`
identities:
  - { name: contractor, type: User, isAdmin: false, roleAttributes: [employees, visitors] }
assertions:
  - { as: contractor, dial: { deny: wiki, allow: printer } }
  - { never: { identity: ['#visitors'], dial: ['@wiki'] }, unless: { identity: ['#employees'] } }`)
    const plan = await planModel(admin, change)
    expect(plan.assertions).toMatchObject({ passed: 2, failed: 1 })
    expect(planText(plan)).toContain('FAIL  contractor may not dial wiki (m.yaml:5:5)')
    await expect(applyPlan(admin, plan)).rejects.toBeInstanceOf(AssertionsFailed)
    expect((await readNetwork(admin)).named('identities', 'contractor')?.body.roleAttributes).toEqual(['visitors'])
  })

  it('with prune deletes what the model does not hold, of the kinds that it holds, and never the last way in', async () => {
    const { admin, controller } = await started()
    await applyModel(admin, await readModel(NETWORK))
    await (await controller.asAdmin()).call('POST /edge-routers', { body: { name: 'tunnel', isTunnelerEnabled: true } })
    const rest = await yaml(`
identities: [{ name: laptop, type: Device, isAdmin: false, roleAttributes: [employees] }]
services: [{ name: wiki, roleAttributes: [internal], encryptionRequired: true }]`)
    expect((await planModel(admin, rest)).changes).toEqual([])
    const plan = await applyModel(admin, rest, { prune: true })
    expect(plan.changes.map(({ action, name }) => `${action} ${name}`).toSorted()).toEqual(
      ['app-server', 'contractor', 'payroll', 'phone', 'printer'].map((name) => `delete ${name}`),
    )
    expect(plan.access).toMatchObject({ gained: 0, lost: 9 })
    const left = await readNetwork(admin)
    expect(
      left
        .all('identities')
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(['Default Admin', 'laptop', 'tunnel'])
    expect(left.all('servicePolicies')).toHaveLength(4)
    // The names of what is gone are gone from the role lists as well.
    expect(left.named('servicePolicies', 'visitors-dial-printer')?.body.serviceRoles).toBeUndefined()
  })

  it('goes on after an interruption, and changes nothing when all is done', async () => {
    const { admin } = await started()
    const model = await readModel(NETWORK)
    let calls = 0
    const failing = async (request: Request) => {
      if (request.method === 'POST' && ++calls > 7) throw new Error('the connection is gone')
      return admin.fetch?.(request) ?? fetch(request)
    }
    const made: number[] = []
    const broken = applyModel({ ...admin, fetch: failing }, model, { onProgress: ({ done }) => made.push(done) })
    await expect(broken).rejects.toThrow('the connection is gone')
    expect(made).toEqual([1, 2, 3, 4, 5, 6, 7])
    const rest = await applyModel(admin, model)
    expect(rest).toMatchObject({ unchanged: 7, assertions: { failed: 0 } })
    expect(rest.changes).toHaveLength(12)
    expect((await planModel(admin, model)).changes).toEqual([])
  })

  it('tells mistakes at their line before anything is written', async () => {
    const { admin } = await started()
    await applyModel(admin, await readModel(NETWORK))
    const settled = await yaml('services:\n  - name: wiki\n    encryptionRequired: false\n')
    await expect(planModel(admin, settled)).rejects.toThrow(
      "m.yaml:3:5: services 'wiki', encryptionRequired: is settled at creation and is true now",
    )
    const unknown = await yaml("servicePolicies: [{ name: p, type: Dial, semantic: AnyOf, identityRoles: ['@lptop'] }]")
    await expect(planModel(admin, unknown)).rejects.toThrow(
      "m.yaml:1:75: servicePolicies 'p', identityRoles[0]: no member of identities is named 'lptop'",
    )
    const refused = await yaml(
      'postureChecks:\n  - { name: os, typeId: OS, operatingSystems: [{ type: Linux, versions: [new] }] }',
    )
    await expect(planModel(admin, refused)).rejects.toBeInstanceOf(ModelError)
    await expect(planModel({ ...admin, token: 'x' }, settled)).rejects.toBeInstanceOf(ApiError)
  })

  it('makes entities that refer to each other in a circle, and the configs that identities have of their own', async () => {
    const { admin } = await started()
    const text = `
externalJwtSigners:
  - { name: idp, audience: a, issuer: https://idp.example, enabled: true, jwksEndpoint: https://idp.example/keys, enrollAuthPolicyId: both }
authPolicies:
  - name: both
    primary:
      cert: { allowed: true, allowExpiredCerts: false }
      extJwt: { allowed: true, allowedSigners: [idp] }
      updb: { allowed: false, lockoutDurationMinutes: 0, maxAttempts: 5, minPasswordLength: 5, requireMixedCase: false, requireNumberChar: false, requireSpecialChar: false }
    secondary: { requireTotp: false, requireExtJwtSigner: idp }
configs:
  - { name: host-own, configTypeId: host.v1, data: { address: localhost, port: 80, protocol: tcp } }
services: [{ name: web }]
identities:
  - name: host
    type: Service
    isAdmin: false
    authPolicyId: both
    serviceHostingCosts: { web: 10 }
    serviceConfigs: [{ service: web, config: host-own }]`
    const model = await yaml(text)
    expect((await applyModel(admin, model)).changes).toHaveLength(7)
    expect((await planModel(admin, model)).changes).toEqual([])
    const network = await readNetwork(admin)
    expect(network.named('externalJwtSigners', 'idp')?.body).toMatchObject({
      enabled: true,
      enrollAuthPolicyId: 'both',
    })
    expect(network.named('identities', 'host')?.body).toMatchObject({
      serviceConfigs: [{ service: 'web', config: 'host-own' }],
      serviceHostingCosts: { web: 10 },
    })
    const without = await yaml(text.replace('    serviceConfigs: [{ service: web, config: host-own }]', ''))
    expect((await applyModel(admin, without)).changes.map(({ name }) => name)).toEqual(['host'])
    expect((await readNetwork(admin)).named('identities', 'host')?.body.serviceConfigs).toBeUndefined()
  })

  it('holds webhooks: they are made, changed and deleted as files say, and keep the secret that no file has', async () => {
    const { controller, admin } = await started()
    const webhook = (more: string) =>
      yaml(`
webhooks:
  - { name: tickets, endpoint: 'https://hooks.example.org/', ${more} }`)
    await applyModel(admin, await webhook(`events: [entity.*], filter: 'kind = "services"'`))
    const [made] = (await controller.engine.webhooks.list(SYSTEM_CALL)).items
    expect(made).toMatchObject({ name: 'tickets', events: ['entity.*'], filter: 'kind = "services"', enabled: true })
    await applyModel(admin, await webhook('events: [login.refused], enabled: false'))
    const [changed] = (await controller.engine.webhooks.list(SYSTEM_CALL)).items
    expect(changed).toMatchObject({ id: made?.id, events: ['login.refused'], enabled: false })
    expect(changed?.secretAt).toEqual(made?.secretAt)
    const shown = await modelText(await readNetwork(admin))
    expect(shown).toContain('name: tickets')
    expect(shown).not.toMatch(/whsec|ealed|secret/)
    await expect(webhook('events: [entity.renamed]').then((model) => planModel(admin, model))).rejects.toThrow(
      "m.yaml:3:62: webhooks 'tickets', events",
    )
    const other = await yaml("webhooks: [{ name: chat, endpoint: 'https://chat.example.org/' }]")
    await applyModel(admin, other, { prune: true })
    expect((await controller.engine.webhooks.list(SYSTEM_CALL)).items.map(({ name }) => name)).toEqual(['chat'])
  })

  it('leaves invitations to creation: an identity that is there is not invited again', async () => {
    const { admin, controller } = await started()
    const model = await yaml('identities: [{ name: laptop, type: Device, isAdmin: false, enrollment: { ott: true } }]')
    await applyModel(admin, model)
    expect((await planModel(admin, model)).changes).toEqual([])
    const { data } = await (await controller.asAdmin()).call('GET /enrollments')
    expect(data).toHaveLength(1)
    expect(await modelText(await readNetwork(admin))).not.toContain(data[0]?.token ?? '')
  })
})

describe('testing a controller that runs', () => {
  it('asks it as it is', async () => {
    const { admin } = await started()
    await applyModel(admin, await readModel(NETWORK))
    const assertions = await yaml(`
assertions:
  - { as: contractor, dial: { deny: wiki, allow: printer } }
  - { never: { identity: ['#servers'], dial: ['#all'] }, unless: { identity: ['#employees', '#visitors'] } }`)
    // The contractor has no edge router in common with the printer.
    expect(await testController(admin, assertions)).toMatchObject({ passed: 2, failed: 1 })
  })
})
