import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPkiMaterial, type Storage } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type Answer,
  adminOf,
  CLIENT,
  create,
  type ForeignClient,
  foreignClient,
  read,
} from '../contract/http/foreign-client.ts'
import { network } from '../contract/http/scenario.ts'
import { newKey, signingRequest } from '../contract/http/signing-request.ts'
import { integrityResults } from '../support/integrity-results.ts'
import { pendingMfa } from '../support/mfa-enrollment.ts'
import { mount } from '../support/mount.ts'
import { apisOf, authPolicy, login, type Person, person } from '../support/people.ts'
import { apiSessions, mfas, serviceViews, sessions } from '../support/stored-records.ts'

const NOW = Date.UTC(2026, 0, 1)

/** A storage of which the next write waits until something else was done, or what wrote waits until then. */
function interrupted(storage: Storage) {
  let meanwhile: (() => Promise<unknown>) | undefined
  let afterwards: (() => Promise<unknown>) | undefined
  const waiting: Storage = {
    read: (work) => storage.read(work),
    async write(work) {
      const first = meanwhile
      meanwhile = undefined
      await first?.()
      const last = afterwards
      afterwards = undefined
      const written = await storage.write(work)
      await last?.()
      return written
    },
    close: () => storage.close(),
  }
  const before = (act: () => Promise<unknown>) => {
    meanwhile = act
  }
  const after = (act: () => Promise<unknown>) => {
    afterwards = act
  }
  return { storage: waiting, before, after }
}

/** Two controllers over one SQLite file, as two processes have them, and alice, who may dial a service. */
async function twoControllers() {
  const folder = mkdtempSync(join(tmpdir(), 'races-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'network.sqlite')
  const pki = await createPkiMaterial({ hosts: ['localhost'], trustDomain: 'races.test', now: NOW })
  const held = interrupted(await sqliteStorage(file))
  const one = await mount({ storage: held.storage, pki, now: NOW })
  const two = await mount({ storage: await sqliteStorage(file), pki, now: NOW })
  const scene = await network(one)
  const admin = await adminOf(two)
  const bob = await person(one, scene.admin, 'robin', { roleAttributes: ['people'] })
  const { api, management } = await apisOf(one, bob)
  const [authenticator] = await read(admin, `/identities/${bob.id}/authenticators`)
  return {
    one,
    two,
    held,
    ...scene,
    admin,
    firstAdmin: scene.admin,
    bob,
    api,
    management,
    authenticatorId: authenticator.id,
  }
}
type Scene = Awaited<ReturnType<typeof twoControllers>>

/** Faults of the store: references to nothing, and the rest of somebody who is out. */
async function leftovers({ one, admin }: Scene, { id }: Person) {
  expect((await admin.post('/database/check-data-integrity')).status).toBe(202)
  const { results } = (await integrityResults(admin)).body.data
  const inconsistencies = results.map(({ description }: { description: string }) => description)
  return one.controller.storage.read(async (tx) => {
    const own = (record: { readonly identityId: string }) => record.identityId === id
    const alive = (await tx.collection(apiSessions).find()).items
    const views = (await tx.collection(serviceViews).find()).items
    return {
      inconsistencies,
      apiSessions: alive.filter(own).length,
      sessions: (await tx.collection(sessions).find()).items.filter(own).length,
      views: views.filter((view) => !alive.some((session) => session.id === view.apiSessionId)).length,
    }
  })
}

const NOTHING = { inconsistencies: [], apiSessions: 0, sessions: 0, views: 0 }

/** Acts that take bob's session from him. */
const ENDS: readonly [string, (scene: Scene) => Promise<Answer>][] = [
  ['disabled', ({ admin, bob }) => admin.post(`/identities/${bob.id}/disable`, { durationMinutes: 0 })],
  ['deleted', ({ admin, bob }) => admin.delete(`/identities/${bob.id}`)],
  ['without the authenticator', ({ admin, authenticatorId }) => admin.delete(`/authenticators/${authenticatorId}`)],
  [
    'logged out',
    async ({ admin, bob }) => {
      const { data } = (await admin.get(`/api-sessions?filter=${encodeURIComponent(`identity = "${bob.id}"`)}`)).body
      return admin.delete(`/api-sessions/${data[0].id}`)
    },
  ],
]

/** Requests of bob with his session. */
const REQUESTS: readonly [string, (scene: Scene) => Promise<Answer>][] = [
  ['a service session', ({ api, serviceId }) => api.post('/sessions', { serviceId, type: 'Dial' })],
  ['a posture report', ({ api }) => api.post('/posture-response', { id: 'd', typeId: 'DOMAIN', domain: 'corp' })],
  ['an unlock', ({ api }) => api.post('/posture-response', { id: 'e', typeId: 'ENDPOINT_STATE', unlocked: true })],
  ['a certificate', ({ api }) => api.post('/current-api-session/certificates', { csr: signingRequest(newKey()) })],
  ['an MFA enrollment', ({ api }) => api.post('/current-identity/mfa')],
  [
    'a new name to log in by',
    ({ api, authenticatorId, bob }) =>
      api.patch(`/current-identity/authenticators/${authenticatorId}`, {
        currentPassword: bob.password,
        username: 'robert',
      }),
  ],
]

describe('between a check and its write', () => {
  const pairs = ENDS.flatMap(([end, take]) => REQUESTS.map(([what, ask]) => [what, end, ask, take] as const))

  it.each(pairs)('%s is refused to who is %s', async (_, __, ask, take) => {
    const scene = await twoControllers()
    scene.held.before(async () => expect((await take(scene)).status).toBe(200))
    expect((await ask(scene)).status).toBeGreaterThanOrEqual(400)
    expect(await leftovers(scene, scene.bob)).toEqual(NOTHING)
  })

  it.each(ENDS.slice(0, 3))('a login is refused to who is %s', async (_, take) => {
    const scene = await twoControllers()
    scene.held.before(() => take(scene))
    expect((await login(scene.one, scene.bob)).status).toBe(401)
    expect(await leftovers(scene, scene.bob)).toEqual(NOTHING)
  })

  it.each(ENDS)('a session that ends during its own login, as its holder is %s, leaves nothing', async (_, take) => {
    const scene = await twoControllers()
    const [earlier] = (
      await scene.admin.get(`/api-sessions?filter=${encodeURIComponent(`identity = "${scene.bob.id}"`)}`)
    ).body.data
    expect((await scene.admin.delete(`/api-sessions/${earlier.id}`)).status).toBe(200)
    // The session is there, and its login not answered yet.
    scene.held.after(async () => expect((await take(scene)).status).toBe(200))
    const answer = await login(scene.one, scene.bob)
    expect(answer.status).toBeLessThan(500)
    expect(await leftovers(scene, scene.bob)).toEqual(NOTHING)
    const token = answer.body.data?.token ?? 'none'
    const session = foreignClient(scene.two, CLIENT, token)
    expect((await session.get('/current-api-session')).status).toBe(401)
    expect((await session.get('/current-api-session/service-updates')).status).toBe(401)
    expect(await leftovers(scene, scene.bob)).toEqual(NOTHING)
  })

  it('a login is refused when the auth policy forbids it', async () => {
    const scene = await twoControllers()
    const id = await create(scene.admin, '/auth-policies', authPolicy('no passwords', { allowed: false }))
    scene.held.before(() => scene.admin.patch(`/identities/${scene.bob.id}`, { authPolicyId: id }))
    expect((await login(scene.one, scene.bob)).status).toBe(401)
  })

  it('a session that ends while its services are looked at leaves nothing', async () => {
    const scene = await twoControllers()
    // The first question takes a look at the services, and its write keeps the view.
    scene.held.before(() => scene.admin.delete(`/identities/${scene.bob.id}`))
    await scene.api.get('/current-api-session/service-updates')
    expect(await leftovers(scene, scene.bob)).toEqual(NOTHING)
  })

  it.each([
    ['an admin no more', { isAdmin: false }, { isAdmin: true, permissions: [] }],
    ['without the permission', { permissions: [] }, { isAdmin: false, permissions: ['service'] }],
  ])('who is %s changes nothing', async (_, loss, before) => {
    const scene = await twoControllers()
    const carol = await person(scene.two, scene.admin, 'carol', before)
    const { management } = await apisOf(scene.one, carol)
    expect((await management.post('/services', { name: 'first', encryptionRequired: true })).status).toBe(201)
    scene.held.before(async () => expect((await scene.admin.patch(`/identities/${carol.id}`, loss)).status).toBe(200))
    expect((await management.post('/services', { name: 'second', encryptionRequired: true })).status).toBe(401)
  })

  it('MFA that is completed is not removed without a code', async () => {
    const scene = await twoControllers()
    const mfa = await pendingMfa(scene.one, scene.bob)
    const elsewhere = await apisOf(scene.two, scene.bob)
    scene.held.before(async () =>
      expect((await elsewhere.api.post('/current-identity/mfa/verify', { code: mfa.code() })).status).toBe(200),
    )
    const removal = await mfa.api.send('DELETE', '/current-identity/mfa')
    expect(removal.status, removal.text).toBeGreaterThanOrEqual(400)
    const { items } = await scene.one.controller.storage.read((tx) => tx.collection(mfas).find())
    expect(items.map(({ isVerified }) => isVerified)).toEqual([true])
  })

  it('MFA that is removed is not completed', async () => {
    const scene = await twoControllers()
    const mfa = await pendingMfa(scene.one, scene.bob)
    scene.held.before(() => scene.admin.delete(`/identities/${scene.bob.id}/mfa`))
    expect((await mfa.api.post('/current-identity/mfa/verify', { code: mfa.code() })).status).toBe(400)
    expect((await read(scene.admin, `/identities/${scene.bob.id}`)).isMfaEnabled).toBe(false)
  })
})

describe('both at once, in any order', () => {
  it.each(Array.from({ length: 10 }, (_, round) => round))('verification and removal of MFA, round %i', async () => {
    const scene = await twoControllers()
    const mfa = await pendingMfa(scene.one, scene.bob)
    const elsewhere: ForeignClient = (await apisOf(scene.two, scene.bob)).api
    const [verified, removed] = await Promise.all([
      elsewhere.post('/current-identity/mfa/verify', { code: mfa.code() }),
      mfa.api.send('DELETE', '/current-identity/mfa'),
    ])
    expect([verified.status, removed.status].filter((status) => status === 200)).toHaveLength(1)
    const { items } = await scene.one.controller.storage.read((tx) => tx.collection(mfas).find())
    expect(items.length).toBe(verified.status === 200 ? 1 : 0)
  })
})
