import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Storage } from 'portcullis'
import { postgresStorage, sqliteStorage } from 'portcullis/kysely'
import type { RecordKind } from 'portcullis/storage'
import { createTestController, TEST_ADMIN } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { get, insertAll, machine, machines, tickets } from '../../../adapters/storage/contract/kinds-of-records.ts'
import {
  adminOf,
  CLIENT,
  type ForeignClient,
  foreignClient,
  passwordLogin,
} from '../../contract/http/foreign-client.ts'
import type { MountedController } from '../../contract/http/mount.ts'
import { network } from '../../contract/http/scenario.ts'
import { integrityResults } from '../../support/integrity-results.ts'
import { mountOf } from '../../support/mount.ts'
import { createDatabase, type PostgresDatabase } from '../../support/postgres.ts'
import { mfas } from '../../support/stored-records.ts'

const directory = mkdtempSync(join(tmpdir(), 'portcullis-damage-'))
let database: PostgresDatabase
let databases = 0
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(async () => {
  await database.drop()
  rmSync(directory, { recursive: true })
})

/** A database that is damaged by hand, past the storage. */
interface Database {
  open(options: { kinds?: readonly RecordKind[]; cachedRecords?: number }): Promise<Storage>
  run(sql: string): Promise<void>
}

function sqliteDatabase(): Database {
  const file = join(directory, `${++databases}.db`)
  return {
    open: (options) => sqliteStorage(file, options),
    async run(sql) {
      const database = new DatabaseSync(file)
      database.exec(sql)
      database.close()
    },
  }
}

function postgresDatabase(): Database {
  const schema = `damage_${++databases}`
  return {
    open: (options) => postgresStorage({ connection: database.url, schema, ...options }),
    async run(sql) {
      const client = new pg.Client(database.url)
      await client.connect()
      await client.query(`set search_path to ${schema}`)
      await client.query(sql)
      await client.end()
    },
  }
}

const kinds = [machines, tickets]
/** Values that no storage writes. A server keeps the types of its columns by itself. */
const TEXTS = [
  ['tags', `'{"a'`],
  ['tags', `''`],
  ['roles', `'["a",1]'`],
  ['roles', `'{"a":1}'`],
  ['roles', `'"a"'`],
] as const
const TYPES = [
  ['cost', `'much'`],
  ['cost', '0.5'],
  ['cost', '9223372036854775807'],
  ['active', '2'],
  ['active', `'yes'`],
  ['name', `x'00ff'`],
] as const

describe.each([
  { name: 'SQLite', fresh: sqliteDatabase, damages: [...TEXTS, ...TYPES] },
  { name: 'PostgreSQL', fresh: postgresDatabase, damages: TEXTS },
])('a damaged record on $name', ({ fresh, damages }) => {
  async function damagedStorage(field: string, value: string, cachedRecords: number): Promise<Storage> {
    const database = fresh()
    const writing = await database.open({ kinds })
    const all = ['m1', 'm2', 'm3'].map((id) => machine(id, { roles: ['a'], tags: { a: 1 }, cost: 1, active: true }))
    await insertAll(writing, machines, all)
    await writing.close()
    await database.run(`update contract_machines set ${field} = ${value} where id = 'm2'`)
    const storage = await database.open({ kinds, cachedRecords })
    onTestFinished(() => storage.close())
    return storage
  }
  const damage = { name: 'DamagedRecord', kind: machines.name, id: 'm2' }

  it.each(damages)('whose %s holds %s cannot be read, and keeps no other from being read', async (field, value) => {
    for (const cachedRecords of [0, 100]) {
      const storage = await damagedStorage(field, value, cachedRecords)
      await expect(get(storage, machines, 'm2')).rejects.toMatchObject({ ...damage, fields: [field] })
      expect(await get(storage, machines, 'm1')).toMatchObject({ id: 'm1' })
      const questions = [{}, { limit: 3 }, { where: { kind: 'all' } }, { where: isOneOf(['m1', 'm2', 'm3']) }] as const
      for (const question of questions) {
        const page = await storage.read((tx) => tx.collection(machines).find(question))
        expect([page.items.map(({ id }) => id), page.totalCount]).toEqual([['m1', 'm3'], 3])
        expect(page.damaged).toMatchObject([damage])
        expect(page.damaged?.[0]?.remains).toMatchObject({ id: 'm2' })
      }
    }
  })

  it('is told by a scan of the damaged field, and read by a scan of others', async () => {
    const storage = await damagedStorage('roles', `'oops'`, 100)
    const scanned = (field: 'owner' | 'roles') =>
      storage.read(async (tx) => {
        for await (const slice of tx.collection(machines).scan([field])) return slice
        return undefined
      })
    expect(await scanned('roles')).toMatchObject({ items: [{ id: 'm1' }, { id: 'm3' }], damaged: [damage] })
    expect((await scanned('owner'))?.items.map(({ id }) => id)).toEqual(['m1', 'm2', 'm3'])
    expect((await scanned('owner'))?.damaged).toBeUndefined()
  })

  it('can be replaced and deleted', async () => {
    const storage = await damagedStorage('tags', `'{"a'`, 100)
    expect(await storage.write((tx) => tx.collection(machines).update(machine('m2', { tags: { b: 2 } })))).toBe(true)
    expect(await get(storage, machines, 'm2')).toMatchObject({ tags: { b: 2 } })
    const other = await damagedStorage('roles', `'oops'`, 100)
    expect(await other.write((tx) => tx.collection(machines).delete('m2'))).toBe(true)
    expect(await get(other, machines, 'm2')).toBeUndefined()
    expect((await other.read((tx) => tx.collection(machines).find())).damaged).toBeUndefined()
  })
})

function isOneOf(ids: readonly string[]) {
  return { kind: 'in', operand: { kind: 'field', field: 'id' }, values: new Set(ids) } as const
}

/** Every list of both APIs that shows stored records. */
const LISTS = [
  ...['api-sessions', 'auth-policies', 'authenticators', 'cas', 'configs', 'config-types', 'edge-routers'],
  ...['edge-router-policies', 'enrollments', 'external-jwt-signers', 'identities', 'identity-types', 'posture-checks'],
  ...['service-edge-router-policies', 'service-policies', 'services', 'sessions', 'terminators', 'transit-routers'],
  ...['summary', 'identity-role-attributes', 'service-role-attributes', 'posture-check-types', 'routers'],
]

/** Tables with a record of the network below, and the list that shows it. */
const DAMAGED = [
  ['terminators', 'terminators', 'terminators'],
  ['services', 'services', 'services'],
  ['identities', 'identities', 'identities'],
  ['service_policies', 'service-policies', 'servicePolicies'],
  ['edge_routers', 'edge-routers', 'routers'],
  ['edge_router_policies', 'edge-router-policies', 'edgeRouterPolicies'],
  ['service_edge_router_policies', 'service-edge-router-policies', 'serviceEdgeRouterPolicies'],
  ['posture_checks', 'posture-checks', 'postureChecks'],
  ['auth_policies', 'auth-policies', 'authPolicies'],
  ['configs', 'configs', 'configs'],
  ['config_types', 'config-types', 'configTypes'],
  ['authenticators', 'authenticators', 'authenticators'],
  ['external_jwt_signers', 'external-jwt-signers', 'externalJwtSigners'],
] as const

describe.each([
  { name: 'SQLite', fresh: sqliteDatabase },
  { name: 'PostgreSQL', fresh: postgresDatabase },
])('a controller whose $name database holds a damaged record', ({ fresh }) => {
  async function start() {
    const database = fresh()
    const controller = await createTestController({ storage: await database.open({ cachedRecords: 0 }) })
    onTestFinished(() => controller.close())
    const scene = await network(mountOf(controller))
    const { admin, serviceId, routerId } = scene
    const made = async (path: string, body: object): Promise<string> => (await admin.post(path, body)).body.data.id
    const configTypeId = await made('/config-types', { name: 'spare', schema: {} })
    const ids: Record<string, string> = {
      configTypes: configTypeId,
      configs: await made('/configs', { name: 'spare', configTypeId, data: {} }),
      authPolicies: await made('/auth-policies', authPolicy),
      postureChecks: await made('/posture-checks', {
        name: 'spare',
        typeId: 'DOMAIN',
        domains: ['a.example'],
        roleAttributes: ['required'],
      }),
      terminators: await made('/terminators', {
        service: serviceId,
        router: routerId,
        binding: 'edge',
        address: 'tcp:localhost:1',
      }),
      identities: await made('/identities', { name: 'bob', type: 'User', isAdmin: false, roleAttributes: ['people'] }),
      externalJwtSigners: await made('/external-jwt-signers', {
        name: 'spare',
        enabled: true,
        issuer: 'https://issuer.example',
        audience: 'all',
        jwksEndpoint: 'https://issuer.example/keys',
      }),
    }
    return { ...scene, database, controller, ids }
  }

  async function lists(admin: ForeignClient) {
    const statuses = await Promise.all(LISTS.map(async (list) => [list, (await admin.get(`/${list}`)).status]))
    return statuses.filter(([, status]) => Number(status) >= 500)
  }

  it('serves every list without it, tells what is wrong with it, finds it in the check, and deletes it', async () => {
    const { admin, alice, database, ids } = await start()
    for (const [table, list, storeName] of DAMAGED) {
      const before = (await admin.get(`/${list}`)).body.data
      const victim = ids[storeName] ?? before.find(({ name }: { name: string }) => name !== 'default')?.id
      await database.run(`update ${table} set tags = '{"a' where id = '${victim}'`)
      expect(await lists(admin), table).toEqual([])
      const after = (await admin.get(`/${list}`)).body.data
      expect(after.map(({ id }: { id: string }) => id)).toEqual(
        before.map(({ id }: { id: string }) => id).filter((id: string) => id !== victim),
      )
      const shown = await admin.get(`/${list}/${victim}`)
      expect([shown.status, shown.body.error.cause.message]).toEqual([
        500,
        `the stored record ${victim} of ${list} is damaged: tags cannot be read`,
      ])
      await admin.post('/database/check-data-integrity')
      const { results } = (await integrityResults(admin)).body.data
      expect(results).toContainEqual({
        description: `${storeName} ${victim} is damaged: tags cannot be read`,
        fixed: false,
      })
      if (table === 'authenticators') continue
      expect((await admin.delete(`/${list}/${victim}`)).status, table).toBe(200)
      expect((await admin.get(`/${list}/${victim}`)).status, table).toBe(404)
    }
    expect((await alice.api.get('/services')).status).toBe(200)
  }, 120_000)

  it.each([
    ['what a controller fills an empty store with', 'identity_types', `tags = '{"a'`, 'Default'],
    ['what a controller fills an empty store with', 'posture_check_types', `name = null`, 'MAC'],
    ['a list of roles', 'service_policies', `posture_check_roles = null`, ''],
    ['a type that there is not', 'posture_checks', `type_id = 'NONE'`, ''],
    ['nothing for a type', 'sessions', `type = null`, ''],
    ['a rule of another shape', 'posture_checks', `operating_systems = '[1]'`, ''],
    ['a part of another shape', 'identities', `service_hosting_costs = '{"a":"b"}'`, ''],
  ])('starts with a record that holds %s (%s: %s), and tells it', async (_what, table, change, id) => {
    const { alice, database, serviceId } = await start()
    await alice.api.post('/posture-response-bulk', [{ id: 'x', typeId: 'DOMAIN', domain: 'a.example' }])
    expect((await alice.api.post('/sessions', { serviceId, type: 'Dial' })).status).toBe(201)
    // PostgreSQL keeps what it was told of columns, SQLite what it was told of none.
    await database.run(
      `update ${table} set ${change} where id in (select max(id) from ${table} ${id && `where id = '${id}'`})`,
    )
    const again = await createTestController({ storage: await database.open({}) })
    onTestFinished(() => again.close())
    const admin = await adminOf(mountOf(again))
    expect(await lists(admin), table).toEqual([])
    await admin.post('/database/check-data-integrity')
    const { results } = (await integrityResults(admin)).body.data
    expect(results).toContainEqual({ description: expect.stringContaining('is damaged'), fixed: false })
  })

  it('takes a policy of no type that there is for one that grants nothing, live and from the start', async () => {
    const { admin, alice, serviceId, database, controller } = await start()
    const own = foreignClient(mountOf(controller), '/portcullis/v1', admin.token)
    await database.run(`update service_policies set type = 'Everything'`)
    expect((await own.get('/access-map')).status).toBe(200)
    const again = await createTestController({ storage: await database.open({ cachedRecords: 0 }) })
    onTestFinished(() => again.close())
    const { token } = await adminOf(mountOf(again))
    const question = { identity: alice.id, service: serviceId }
    const explained = await foreignClient(mountOf(again), '/portcullis/v1', token).post('/explain', question)
    expect([explained.status, explained.body.data.allowed]).toEqual([200, false])
  })

  it('ends a session that is for nothing when it starts', async () => {
    const { alice, database, serviceId } = await start()
    await alice.api.post('/posture-response-bulk', [{ id: 'x', typeId: 'DOMAIN', domain: 'a.example' }])
    expect((await alice.api.post('/sessions', { serviceId, type: 'Dial' })).status).toBe(201)
    await database.run(`update sessions set type = ''`)
    const again = await createTestController({ storage: await database.open({}) })
    onTestFinished(() => again.close())
    expect((await (await adminOf(mountOf(again))).get('/sessions')).body.data).toEqual([])
  })

  it('does not take a second factor that cannot be read for none', async () => {
    const { mounted, database } = await start()
    const admin = await adminOf(mounted)
    const [{ id: identityId }] = (await admin.get('/identities?filter=isDefaultAdmin=true')).body.data
    const secrets = { secret: 'a', sealedCodes: 'b', lastStep: -1, failedAt: [] }
    const factor = { id: 'm1', identityId, isVerified: true, ...secrets, createdAt: 0, updatedAt: 0, tags: {} }
    await mounted.controller.storage.write((tx) => tx.collection(mfas).insert(factor))
    await database.run(`update mfas set tags = '{"a'`)
    const client = foreignClient(mounted, CLIENT)
    const { status, body } = await client.post('/authenticate?method=password', TEST_ADMIN)
    expect([status, body.error.cause.message]).toEqual([500, expect.stringContaining('m1 of mfas is damaged')])
  })

  it.each([
    ['its rule', 'domains', `'["a'`, 'AnyOf'],
    ['its role attributes', 'role_attributes', `'["required'`, 'AnyOf'],
    ['its role attributes', 'role_attributes', `'["required'`, 'AllOf'],
  ])('lets nobody pass a posture check of which %s cannot be read', async (_what, column, value, semantic) => {
    const { admin, database, ids, mounted, policyId, serviceId } = await start()
    const other = { name: 'sound', typeId: 'DOMAIN', domains: ['a.example'], roleAttributes: ['required'] }
    expect((await admin.post('/posture-checks', other)).status).toBe(201)
    expect((await admin.patch(`/service-policies/${policyId}`, { semantic })).status).toBe(200)
    const [{ id: adminId }] = (await admin.get('/identities?filter=isDefaultAdmin=true')).body.data
    expect((await admin.patch(`/identities/${adminId}`, { roleAttributes: ['people'] })).status).toBe(200)
    const dial = async (through: MountedController) => {
      const client = foreignClient(through, CLIENT, await passwordLogin(through, TEST_ADMIN))
      await client.post('/posture-response-bulk', [{ id: 'x', typeId: 'DOMAIN', domain: 'a.example' }])
      expect((await client.get('/services')).status).toBe(200)
      return (await client.post('/sessions', { serviceId, type: 'Dial' })).status
    }
    expect(await dial(mounted)).toBe(201)
    await database.run(`update posture_checks set ${column} = ${value} where id = '${ids.postureChecks}'`)
    // One that starts now, and one that knew the check before.
    const again = await createTestController({ storage: await database.open({}) })
    onTestFinished(() => again.close())
    expect([await dial(mountOf(again)), await dial(mounted)]).toEqual([409, 409])
    const late = { name: 'late', typeId: 'DOMAIN', domains: ['a.example'], roleAttributes: ['required'] }
    expect((await (await adminOf(mountOf(again))).post('/posture-checks', late)).status).toBe(201)
    expect(await dial(mountOf(again))).toBe(409)
    expect((await admin.delete(`/posture-checks/${ids.postureChecks}`)).status).toBe(200)
    expect([await dial(mountOf(again)), await dial(mounted)]).toEqual([201, 201])
  })
})

const authPolicy = {
  name: 'spare',
  primary: {
    cert: { allowed: true, allowExpiredCerts: false },
    updb: {
      allowed: true,
      lockoutDurationMinutes: 0,
      maxAttempts: 0,
      minPasswordLength: 5,
      requireMixedCase: false,
      requireNumberChar: false,
      requireSpecialChar: false,
    },
    extJwt: { allowed: false, allowedSigners: [] },
  },
  secondary: { requireTotp: false, requireExtJwtSigner: null },
}
