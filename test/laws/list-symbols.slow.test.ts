import { sqliteStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import { afterEach, describe, expect, it } from 'vitest'
import { mountOn } from '../adapters/sql/sql-http.ts'
import { expectError } from '../contract/http/errors.ts'
import { adminOf, CLIENT, create, type ForeignClient, foreignClient } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { newKey, selfSigned } from '../contract/http/signing-request.ts'
import { COMMON, conditionsOn, type Kind, SYMBOLS } from './documented-symbols.ts'

/** At least two entities of every kind that can be made by request. */
async function populate(mounted: MountedController, admin: ForeignClient) {
  const ids: Record<string, string> = {}
  for (const name of ['a', 'b']) {
    const tags = name === 'a' ? { key: 'a' } : {}
    const roles = { semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#a'], tags }
    const type = await create(admin, '/config-types', { name, schema: {} })
    const config = await create(admin, '/configs', { name, configTypeId: type, data: {} })
    const service = await create(admin, '/services', { name, configs: [config], roleAttributes: [name], tags })
    const router = await create(admin, '/edge-routers', { name, cost: 5, roleAttributes: [name] })
    const listeners = { 'tls:a:1': ['a'] }
    const transit = await create(admin, '/transit-routers', { name: `transit ${name}`, ctrlChanListeners: listeners })
    const enrollment = { ott: true }
    await create(admin, '/identities', { name, type: 'User', isAdmin: false, enrollment, roleAttributes: [name] })
    await create(admin, '/service-policies', { name, type: 'Dial', ...roles, serviceRoles: [`#${name}`] })
    await create(admin, '/edge-router-policies', { name, ...roles, edgeRouterRoles: ['#a'] })
    await create(admin, '/service-edge-router-policies', {
      name,
      ...roles,
      serviceRoles: ['#all'],
      edgeRouterRoles: ['#all'],
    })
    await create(admin, '/posture-checks', { name, typeId: 'MFA', promptOnWake: name === 'a' })
    await create(admin, '/auth-policies', authPolicy(name))
    const terminator = {
      address: `tcp:${name}:1`,
      binding: 'transport',
      service,
      router: name === 'a' ? router : transit,
    }
    await create(admin, '/terminators', terminator)
    const ca = { identityRoles: [], isAuthEnabled: name === 'a', isAutoCaEnrollmentEnabled: true }
    const certPem = selfSigned(newKey())
    await create(admin, '/cas', { name, certPem, isOttCaEnrollmentEnabled: true, ...ca })
    const signer = {
      issuer: `https://${name}.test`,
      audience: name,
      enabled: true,
      jwksEndpoint: 'https://a.test/keys',
    }
    await create(admin, '/external-jwt-signers', { name, ...signer })
    ids[`service ${name}`] = service
  }
  await create(admin, '/identities', { name: 'c', type: 'User', isAdmin: false })
  await adminOf(mounted)
  return ids
}

function authPolicy(name: string) {
  const rules = { requireMixedCase: false, requireNumberChar: false, requireSpecialChar: false }
  const updb = { allowed: true, lockoutDurationMinutes: 0, maxAttempts: name === 'a' ? 0 : 7, minPasswordLength: 5 }
  return {
    name,
    primary: {
      cert: { allowed: name === 'a', allowExpiredCerts: true },
      extJwt: { allowed: false, allowedSigners: [] },
      updb: { ...updb, ...rules },
    },
    secondary: { requireTotp: name === 'b' },
  }
}

const NAMES: readonly [string, string, string][] = [
  ['/auth-policies', 'primary.cert.allowed and name != "Default"', 'a'],
  ['/auth-policies', 'primary.updb.maxAttempts > 3', 'b'],
  ['/auth-policies', 'secondary.requireTotp = true', 'b'],
  ['/auth-policies', 'isSystem', 'Default'],
  ['/auth-policies', 'secondary.requireExtJwtSigner != null', ''],
  ['/auth-policies', 'true sort by primary.updb.maxAttempts desc, name limit 1', 'b'],
  ['/auth-policies', 'name in ["a", "b"] sort by primary.cert.allowed, name', 'b a'],
  ['/services', 'isSystem or isFabricOnly', ''],
  ['/services', 'isSystem = false and not isFabricOnly sort by isFabricOnly, name desc', 'b a'],
  ['/edge-routers', 'connected or online', ''],
  ['/edge-routers', 'online = false sort by online, name desc', 'b a'],
  ['/service-policies', 'anyOf(services) = "SERVICE_A"', 'a'],
  ['/service-policies', 'anyOf(services) in ["SERVICE_A", "x"] or name = "b" sort by name', 'a b'],
  ['/service-policies', 'not anyOf(services) = "SERVICE_A"', 'b'],
  ['/service-policies', 'allOf(services) != "SERVICE_A"', 'b'],
  ['/service-policies', 'count(identities) = 4 sort by name desc', 'b a'],
  ['/service-policies', 'count(from services where id = "SERVICE_A") = 1', 'a'],
  ['/service-policies', 'isEmpty(from services where id = "SERVICE_A")', 'b'],
  ['/service-policies', 'isEmpty(identities)', ''],
]

describe.each([
  ['in memory', mountOn(async () => memoryStorage())],
  ['in SQLite', mountOn(() => sqliteStorage(':memory:'))],
])('filters of records %s', (_where, mount) => {
  const mounts: MountedController[] = []
  const open = async () => {
    const mounted = await mount()
    mounts.push(mounted)
    return mounted
  }
  afterEach(async () => {
    for (const mounted of mounts.splice(0)) await mounted.dispose()
  })

  it('every list knows what deployed clients name, and filters and sorts by it', async () => {
    const mounted = await open()
    const admin = await adminOf(mounted)
    await populate(mounted, admin)
    for (const [path, own] of Object.entries(SYMBOLS)) {
      const ask = (parameter: string, text: string) =>
        admin.get(`${path}?limit=500&${parameter}=${encodeURIComponent(text)}`)
      const total = (await admin.get(path)).body.meta.pagination.totalCount
      const { filterableFields } = (await admin.get(path)).body.meta
      const symbols: Readonly<Record<string, Kind>> = { ...COMMON, ...own }
      for (const [symbol, kind] of Object.entries(symbols)) {
        expect(filterableFields, path).toContain(symbol)
        for (const condition of conditionsOn(symbol, kind)) {
          const told = `${path} ${condition}`
          const { status, text, body } = await ask('filter', condition)
          expect(status, `${told} ${text}`).toBe(200)
          const others = await ask('filter', `not ${condition}`)
          expect(body.meta.pagination.totalCount + others.body.meta.pagination.totalCount, told).toBe(total)
          expect(body.data.length + others.body.data.length, told).toBe(total)
        }
        const isOrdered = kind !== 'set' && kind !== 'map'
        if (!isOrdered) {
          expectError(await ask('sort', symbol), 'INVALID_SORT_IDENTIFIER')
          continue
        }
        const idsOf = async (sort: string) => (await ask('sort', sort)).body.data.map(({ id }: { id: string }) => id)
        const ascending = await idsOf(`${symbol}, id desc`)
        expect(ascending, `${path} ${symbol}`).toHaveLength(total)
        expect(await idsOf(`${symbol} desc`), `${path} ${symbol}`).toEqual(ascending.reverse())
      }
      expectError(await ask('filter', 'nothing.of = "a"'), 'INVALID_FILTER', {
        code: 'UNHANDLED',
        message: expect.stringMatching(/^unknown symbol 'nothing.of' at column: 0 \(expected one of .*createdAt, .*id/),
      })
    }
  })

  it('computed symbols mean what they say', async () => {
    const mounted = await open()
    const admin = await adminOf(mounted)
    const ids = await populate(mounted, admin)
    const search = (path: string, filter: string) => admin.get(`${path}?filter=${encodeURIComponent(filter)}`)
    for (const [path, text, names] of NAMES) {
      const filter = text.replace('SERVICE_A', ids['service a'] ?? '')
      const { body } = await search(path, filter)
      expect(body.data.map(({ name }: { name: string }) => name).join(' '), `${path} ${text}`).toBe(names)
    }
    const terminators: readonly [string, string][] = [
      ['service.name = "a"', 'tcp:a:1'],
      ['service.name != "a"', 'tcp:b:1'],
      ['not service.name in ["x", "b"]', 'tcp:a:1'],
      ['router.name contains "b" and sourceCtrl = ""', 'tcp:b:1'],
      ['router.name = null', ''],
      ['true sort by router.name desc', 'tcp:b:1 tcp:a:1'],
      ['true sort by service.name skip 1', 'tcp:b:1'],
    ]
    for (const [filter, addresses] of terminators) {
      const { body } = await search('/terminators', filter)
      expect(body.data.map(({ address }: { address: string }) => address).join(' '), filter).toBe(addresses)
    }
  })

  it('the token of a session is its id; that of an API session is known to its holder alone', async () => {
    const mounted = await open()
    const admin = await adminOf(mounted)
    const ids = await populate(mounted, admin)
    const own = foreignClient(mounted, CLIENT, admin.token)
    const session = await create(own, '/sessions', { serviceId: ids['service a'], type: 'Dial' })
    await create(own, '/sessions', { serviceId: ids['service b'], type: 'Dial' })
    const found = await admin.get(`/sessions?filter=${encodeURIComponent(`token = "${session}"`)}`)
    expect(found.body.data.map(({ id }: { id: string }) => id)).toEqual([session])
    const hidden = await admin.get(`/api-sessions?filter=${encodeURIComponent(`token = "${admin.token}"`)}`)
    expect(hidden.body.data).toEqual([])
  })
})
