import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createController, SYSTEM_CALL } from 'portcullis'
import { createPortcullisClient } from 'portcullis/client'
import { sqliteStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import { defineModel } from 'portcullis/model'
import { createTestController, recordingLogger, TEST_ADMIN } from 'portcullis/testing'
import { afterEach, describe, expect, it } from 'vitest'

const MODEL = defineModel({
  services: [{ name: 'wiki', roleAttributes: ['web'] }, { name: 'payroll' }],
  edgeRouters: [{ name: 'router' }],
  identities: [{ name: 'laptop', type: 'Device', roleAttributes: ['staff'] }],
  servicePolicies: [
    { name: 'staff', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#staff'], serviceRoles: ['#web', '@payroll'] },
  ],
  edgeRouterPolicies: [{ name: 'all', semantic: 'AnyOf', identityRoles: ['#all'], edgeRouterRoles: ['#all'] }],
  serviceEdgeRouterPolicies: [{ name: 'all', semantic: 'AnyOf', serviceRoles: ['#all'], edgeRouterRoles: ['#all'] }],
  assertions: [{ as: '#staff', dial: { allow: ['wiki', 'payroll'] } }],
})

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Begins a controller over a storage; it is closed after the test. */
async function begin(options: Partial<Parameters<typeof createController>[0]> = {}) {
  const logger = recordingLogger()
  const controller = await createController({ storage: memoryStorage(), address: 'localhost:1280', logger, ...options })
  ends.push(() => controller.close())
  return controller
}

const fileStorage = async () => {
  const file = join(tmpdir(), `portcullis-model-${crypto.randomUUID()}.sqlite`)
  ends.push(async () => {
    for (const part of ['', '-wal', '-shm']) await rm(`${file}${part}`, { force: true })
  })
  return () => sqliteStorage(file)
}

describe('a controller with a model', () => {
  it('has the network of an object at its start, without an admin and without a login', async () => {
    const { engine } = await begin({ model: MODEL })
    const found = await engine.access.explain(SYSTEM_CALL, 'laptop', 'wiki', 'Dial')
    expect(found.policies.map(({ name }) => name)).toEqual(['staff'])
    expect(found.edgeRouters.common.map(({ name }) => name)).toEqual(['router'])
  })

  it('takes a text, and a file by its name', async () => {
    const file = join(tmpdir(), `network-${crypto.randomUUID()}.yaml`)
    await writeFile(file, 'services:\n  - name: of-file\n')
    ends.push(() => rm(file))
    const { engine } = await begin({ model: file })
    const other = await begin({ model: 'services:\n  - name: of-text\n' })
    const namesOf = async ({ services }: typeof engine) =>
      (await services.list(SYSTEM_CALL)).items.map(({ name }) => name)
    expect([await namesOf(engine), await namesOf(other.engine)]).toEqual([['of-file'], ['of-text']])
  })

  it('writes nothing at the next start, and keeps what was made otherwise unless it prunes', async () => {
    const open = await fileStorage()
    const first = await createController({
      storage: await open(),
      address: 'localhost:1280',
      model: MODEL,
      webhooks: false,
    })
    const { id } = (await first.engine.services.list(SYSTEM_CALL)).items[0] ?? { id: '' }
    await first.engine.services.create(SYSTEM_CALL, { name: 'by-hand' })
    await first.close()

    const second = await createController({
      storage: await open(),
      address: 'localhost:1280',
      model: MODEL,
      webhooks: false,
    })
    const kept = (await second.engine.services.list(SYSTEM_CALL)).items
    expect(await second.apply(MODEL)).toMatchObject({ changes: [], unchanged: 7 })
    await second.close()
    expect(kept.map(({ name }) => name).toSorted()).toEqual(['by-hand', 'payroll', 'wiki'])
    expect(kept.some((service) => service.id === id)).toBe(true)

    const third = await begin({ storage: await open(), model: MODEL, prune: true })
    expect((await third.engine.services.list(SYSTEM_CALL)).items.map(({ name }) => name).toSorted()).toEqual([
      'payroll',
      'wiki',
    ])
  })

  it('is applied by one commit, audited, and told after it', async () => {
    await using net = await createTestController()
    const revision = () => net.storage.read(async (tx) => tx.revision)
    const before = await revision()
    const told: string[] = []
    net.events.on('entity.changed', ({ kind }) => void told.push(kind))
    const { changes, access } = await net.apply(MODEL)
    expect(await revision()).toBe(before + 1)
    expect(changes).toHaveLength(7)
    expect(access).toMatchObject({ gained: 2, lost: 0 })
    // The router brings its identity and its policy with it.
    expect(told).toEqual(expect.arrayContaining(['edge-routers', 'identities', 'service-policies', 'services']))
    await net.elapse(2000)
    const portcullis = createPortcullisClient({ baseUrl: 'https://controller.test:1280', fetch: net.fetch })
    const { data } = await net.management.call('POST /authenticate', {
      query: { method: 'password' },
      body: TEST_ADMIN,
    })
    const audit = await portcullis.withToken(data.token).call('GET /audit', { query: { limit: 50 } })
    const names = audit.data.entries.flatMap(({ type, entity }) => (type === 'entity.created' ? [entity?.name] : []))
    expect(names).toEqual(expect.arrayContaining(['wiki', 'payroll', 'laptop', 'staff', 'router']))
  })

  it('does not start, and writes nothing, with a model that cannot be applied', async () => {
    const storage = memoryStorage()
    const misspelled =
      'services:\n  - name: wiki\n    roleAttribute: [web]\nservicePolicies:\n  - name: p\n    typ: Dial\n'
    await expect(begin({ storage, model: misspelled })).rejects.toThrow(
      /model:3:5: .*roleAttribute[\s\S]*model:6:5: .*typ/,
    )
    const refused = defineModel({ ...MODEL, assertions: [{ as: 'laptop', dial: { deny: ['wiki'] } }] })
    await expect(begin({ storage, model: refused })).rejects.toThrow(
      /1 of 1 assertions would fail\n.*laptop may not dial wiki/,
    )
    const { engine } = await begin({ storage })
    expect((await engine.services.list(SYSTEM_CALL)).totalCount).toBe(0)
  })

  it('changes nothing at all when the controller refuses its last change', async () => {
    const { engine, apply } = await begin({ limits: { tags: 1 } })
    const tagged = MODEL.serviceEdgeRouterPolicies?.map((policy) => ({ ...policy, tags: { a: 1, b: 2 } })) ?? []
    await expect(apply({ ...MODEL, serviceEdgeRouterPolicies: tagged })).rejects.toThrow(
      /^model: serviceEdgeRouterPolicies 'all', tags: .*limit tags/,
    )
    expect((await engine.services.list(SYSTEM_CALL)).totalCount).toBe(0)
    expect((await engine.edgeRouters.list(SYSTEM_CALL)).totalCount).toBe(0)
  })

  it('without router policies has all with all, by two policies that are planned like any other and written once', async () => {
    const { engine, apply } = await begin()
    const model = { services: [{ name: 'wiki' }], edgeRouters: [{ name: 'router' }] }
    const { changes } = await apply(model)
    expect(changes.map(({ action, key, name }) => `${action} ${key} ${name}`)).toEqual([
      'create services wiki',
      'create edgeRouters router',
      'create edgeRouterPolicies all',
      'create serviceEdgeRouterPolicies all',
    ])
    expect(await apply(model, { prune: true })).toMatchObject({ changes: [], unchanged: 4 })
    const [policy] = (await engine.edgeRouterPolicies.list(SYSTEM_CALL, { filter: 'name = "all"' })).items
    expect(policy).toMatchObject({ semantic: 'AnyOf', identityRoles: ['#all'], edgeRouterRoles: ['#all'] })
  })

  it('has none where it says so by an empty list, and with prune takes away those that are there', async () => {
    const { apply } = await begin({ model: { services: [{ name: 'wiki' }], edgeRouterPolicies: [] } })
    const made = await apply({ identities: [{ name: 'laptop' }] })
    expect(made.changes.map(({ key }) => key)).toEqual([
      'identities',
      'edgeRouterPolicies',
      'serviceEdgeRouterPolicies',
    ])
    const none = { edgeRouterPolicies: [], serviceEdgeRouterPolicies: [] }
    expect((await apply(none)).changes).toEqual([])
    expect((await apply(none, { prune: true })).changes.map(({ action, key }) => `${action} ${key}`)).toEqual([
      'delete serviceEdgeRouterPolicies',
      'delete edgeRouterPolicies',
    ])
  })

  it('leaves a network with router policies of its own as it is, with and without prune', async () => {
    const office = { name: 'all', semantic: 'AnyOf' as const, edgeRouterRoles: ['#office'], identityRoles: ['#staff'] }
    const { apply } = await begin({ model: { edgeRouterPolicies: [office] } })
    expect((await apply({ services: [{ name: 'wiki' }] }, { prune: true })).changes.map(({ key }) => key)).toEqual([
      'services',
    ])
    // A model of something else says nothing about routers.
    const other = await begin({ model: { configTypes: [{ name: 'own.v1' }] } })
    expect((await other.engine.edgeRouterPolicies.list(SYSTEM_CALL)).totalCount).toBe(0)
  })

  it('is imported where a program makes it: a controller loads no module by its name', async () => {
    const file = join(tmpdir(), `network-${crypto.randomUUID()}.mts`)
    await writeFile(file, 'export default { services: [] }')
    ends.push(() => rm(file))
    await expect(begin({ model: file })).rejects.toThrow('is a program: import it')
  })

  it('is applied by one process at a time: two that start at once over one store make one network', async () => {
    const open = await fileStorage()
    const started = await Promise.all([
      begin({ storage: await open(), model: MODEL }),
      begin({ storage: await open(), model: MODEL }),
    ])
    for (const { engine } of started) {
      expect((await engine.services.list(SYSTEM_CALL)).totalCount).toBe(2)
      expect((await engine.servicePolicies.list(SYSTEM_CALL)).totalCount).toBe(1)
    }
  })

  it('is what a test controller has, which adds a router for everybody to a model without one', async () => {
    await using net = await createTestController({ model: { services: [{ name: 'wiki' }] } })
    expect((await net.engine.edgeRouters.list(SYSTEM_CALL)).items.map(({ name }) => name)).toEqual(['router'])
    await expect(createTestController({ model: 'servises: []' })).rejects.toThrow("did you mean 'services'")
  })
})
