import { SYSTEM_CALL } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { createTestController, type TestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { adminToken, ownApi } from '../support/delegate.ts'
import { givePassword } from '../support/identity-state.ts'
import { bearing, claimsOf, openIdTokens, refresh, tokensIn } from '../support/openid.ts'
import { withSharedPki } from '../support/shared-pki.ts'

/** Milliseconds; a login of the tests outlasts many of them. */
const HOUR = 180_000
/** The use of a session is not written so soon. */
const SOON = 10_000

/** A network, and instants relative to its beginning. */
async function network(more: object = {}) {
  const net = await createTestController(await withSharedPki(more))
  const admin = await net.asAdmin()
  const begin = net.clock.now()
  const at = (ms: number) => new Date(begin + ms).toISOString()
  const identity = async (name: string, rights: object) => {
    const body = { name, type: 'User', isAdmin: false, ...rights } as const
    return (await admin.call('POST /identities', { body })).data.id
  }
  const shown = async (id: string) => (await admin.call('GET /identities/{id}', { params: { id } })).data
  return { net, admin, at, identity, shown }
}

async function session(net: TestController, id: string) {
  const body = { username: `user-${id}`, password: 'Correct-Horse-1' }
  await givePassword(net, id, body)
  const { data } = await net.management.call('POST /authenticate', { query: { method: 'password' }, body })
  return net.management.withToken(data.token)
}

type Api = Awaited<ReturnType<typeof session>>
const made = (api: Api, name: string) =>
  outcome(api.call('POST /services', { body: { name, encryptionRequired: true } }))
const changed = (api: Api, id: string, body: object) =>
  outcome(api.call('PATCH /identities/{id}', { params: { id }, body }))

const replaced = (api: Api, id: string, rights: object) => {
  const body = { name: 'replaced', type: 'User', isAdmin: false, ...rights } as const
  return outcome(api.call('PUT /identities/{id}', { params: { id }, body }))
}

/** The code of a refusal, or that there was none. */
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => `${Reflect.get(Object(error), 'code')}`,
  )

describe('rights until an instant', () => {
  it.each([
    ['an administrator', { isAdmin: true }],
    ['a delegate', { permissions: ['service'] }],
  ])('end by themselves, in the session that they were used in: %s', async (_, rights) => {
    const { net, at, identity, shown } = await network()
    const id = await identity('anna', { ...rights, rightsUntil: at(HOUR) })
    expect(await shown(id)).toMatchObject({ ...rights, rightsUntil: at(HOUR) })
    const anna = await session(net, id)
    await net.elapse(HOUR - 1)
    expect(await made(anna, 'before')).toBe('done')
    await net.elapse(1)
    expect(await made(anna, 'after')).toBe('UNAUTHORIZED')
    expect((await anna.call('GET /current-identity')).data.name).toBe('anna')
    const after = await shown(id)
    expect(after).toMatchObject({ isAdmin: false, permissions: [] })
    expect(after).not.toHaveProperty('rightsUntil')
    const { entries } = (await ownApi(net, await adminToken(net)).call('GET /audit', { query: { entity: id } })).data
    const [last] = entries
    expect(last).toMatchObject({ type: 'entity.updated', actor: null })
  })

  it('end at the instant also where the write that ends them is late, and in the next process', async () => {
    const storage = memoryStorage()
    const kept = { ...storage, close: async () => undefined }
    const { net, at, identity } = await network({ storage: kept })
    const id = await identity('anna', { isAdmin: true, rightsUntil: at(HOUR) })
    const later = net.clock.now() + HOUR
    await net.close()
    const next = await createTestController(await withSharedPki({ storage: kept, now: later }))
    const anna = await session(next, id)
    expect(await made(anna, 'after')).toBe('UNAUTHORIZED')
    await next.elapse(0)
    expect(await next.engine.identities.get(SYSTEM_CALL, id)).toMatchObject({ isAdmin: false })
  })

  it.each([
    ['in the past', { isAdmin: true }, -1, 'COULD_NOT_VALIDATE'],
    ['now', { isAdmin: true }, 0, 'COULD_NOT_VALIDATE'],
    ['without rights', {}, HOUR, 'COULD_NOT_VALIDATE'],
    ['of the default admin', undefined, HOUR, 'COULD_NOT_VALIDATE'],
  ])('are refused %s, by the name of the field', async (_, rights, ms, code) => {
    const { net, admin, at, identity } = await network()
    const { id: own } = (await admin.call('GET /current-identity')).data
    const id = rights === undefined ? own : await identity('anna', rights)
    const work = admin.call('PATCH /identities/{id}', { params: { id }, body: { rightsUntil: at(ms) } })
    await expect(work).rejects.toMatchObject({ code })
    await expect(work).rejects.toThrow(/rightsUntil|default admin/)
    await net.close()
  })

  it('give no rights that last longer, to nobody', async () => {
    const { net, at, identity } = await network()
    const anna = await session(net, await identity('anna', { isAdmin: true, rightsUntil: at(HOUR) }))
    const own = (await anna.call('GET /current-identity')).data.id
    const ben = await identity('ben', {})
    const lasting = await identity('cleo', { isAdmin: true })
    const short = await identity('dora', { permissions: ['service'], rightsUntil: at(HOUR / 2) })
    expect(await replaced(anna, own, { isAdmin: true })).toBe('UNAUTHORIZED')
    expect(await changed(anna, own, { rightsUntil: at(HOUR + 1) })).toBe('UNAUTHORIZED')
    expect(await changed(anna, ben, { isAdmin: true })).toBe('UNAUTHORIZED')
    expect(await changed(anna, ben, { permissions: ['service'] })).toBe('UNAUTHORIZED')
    expect(await replaced(anna, short, { permissions: ['service'] })).toBe('UNAUTHORIZED')
    expect(await changed(anna, short, { rightsUntil: at(HOUR) })).toBe('done')
    expect(await changed(anna, ben, { isAdmin: true, rightsUntil: at(HOUR) })).toBe('done')
    // Lasting rights stay, whatever else of the identity is changed.
    expect(await changed(anna, lasting, { name: 'clea' })).toBe('done')
    const body = { name: 'eve', type: 'User', isAdmin: true } as const
    expect(await outcome(anna.call('POST /identities', { body }))).toBe('UNAUTHORIZED')
    expect(await outcome(anna.call('POST /identities', { body: { ...body, rightsUntil: at(HOUR) } }))).toBe('done')
  })

  it('are no business of a delegate', async () => {
    const { net, at, identity } = await network()
    const delegate = await session(net, await identity('anna', { permissions: ['identity', 'service'] }))
    const id = await identity('ben', { permissions: ['service'], rightsUntil: at(HOUR) })
    expect(await replaced(delegate, id, {})).toBe('UNAUTHORIZED')
    expect(await changed(delegate, id, { rightsUntil: at(2 * HOUR) })).toBe('UNAUTHORIZED')
    const body = { name: 'eve', type: 'User', isAdmin: false, rightsUntil: at(HOUR) } as const
    expect(await outcome(delegate.call('POST /identities', { body }))).toBe('COULD_NOT_VALIDATE')
  })

  it('end for tokens of OpenID that say otherwise, also where the storage takes no writes', async () => {
    const inner = memoryStorage()
    let isFull = false
    const write: typeof inner.write = (work) => (isFull ? Promise.reject(new Error('full')) : inner.write(work))
    const logger = { info: () => {}, warn: () => {}, error: () => {} }
    const { net, at, identity } = await network({ storage: { ...inner, write }, logger })
    const id = await identity('anna', { isAdmin: true, rightsUntil: at(SOON) })
    const who = { username: 'anna', password: 'Correct-Horse-1' }
    await givePassword(net, id, who)
    const there = {
      fetch: (path: string, init: object = {}) => net.fetch(new Request(`https://controller.test:1280${path}`, init)),
    }
    const tokens = await openIdTokens(there, who)
    const info = async () => (await bearing(there, tokens.access_token, '/oidc/userinfo')).json()
    const listed = async () => (await bearing(there, tokens.access_token, '/edge/management/v1/services')).status
    expect([claimsOf(tokens.access_token).z_ia, await info(), await listed()]).toMatchObject([
      true,
      { z_ia: true },
      200,
    ])
    isFull = true
    await net.elapse(SOON)
    expect([await info(), await listed()]).toMatchObject([{ z_ia: false }, 401])
    isFull = false
    const renewed = await tokensIn(await refresh(there, tokens.refresh_token))
    expect(claimsOf(renewed.access_token)).not.toHaveProperty('z_ia')
  })

  it('open no way in as a delegate whose rights last longer', async () => {
    const { net, admin, at, identity } = await network()
    const permissions = ['identity', 'enrollment', 'service']
    const anna = await session(net, await identity('anna', { permissions, rightsUntil: at(HOUR) }))
    const lasting = await identity('ben', { permissions: ['service'] })
    const short = await identity('cleo', { permissions: ['service'], rightsUntil: at(HOUR) })
    const invited = (identityId: string) => {
      const body = { identityId, method: 'ott', expiresAt: at(2 * HOUR) } as const
      return outcome(anna.call('POST /enrollments', { body }))
    }
    expect([await invited(lasting), await invited(short)]).toEqual(['UNAUTHORIZED', 'done'])
    expect(await changed(anna, lasting, { externalId: 'anna@x' })).toBe('UNAUTHORIZED')
    expect(await changed(anna, short, { externalId: 'cleo@x' })).toBe('done')

    // The token that the delegate knows would enroll a device of an identity whose rights last longer.
    const left = async () => (await admin.call('GET /identities/{id}/enrollments', { params: { id: short } })).data
    const shown = (await anna.call('GET /enrollments')).data.find(({ identityId }) => identityId === short)
    expect([await left(), shown?.token]).toMatchObject([[{ method: 'ott' }], expect.stringMatching(/./)])
    expect(await changed(admin, short, { rightsUntil: at(2 * HOUR) })).toBe('done')
    expect(await left()).toEqual([])
    await admin.call('POST /enrollments', { body: { identityId: short, method: 'ott', expiresAt: at(2 * HOUR) } })
    const hidden = (await anna.call('GET /enrollments')).data.find(({ identityId }) => identityId === short)
    expect(hidden?.token).toBe('')
  })

  it('do not make somebody the administrator who remains', async () => {
    const { net, at, identity } = await network()
    const anna = await session(net, await identity('anna', { isAdmin: true, rightsUntil: at(HOUR) }))
    const { items } = await net.engine.identities.list(SYSTEM_CALL, { filter: 'isDefaultAdmin=true' })
    const params = { id: items[0]?.id ?? '' }
    const disabled = anna.call('POST /identities/{id}/disable', { params, body: { durationMinutes: 0 } })
    expect(await outcome(disabled)).toBe('ENTITY_CAN_NOT_BE_UPDATED')
  })

  it('are for ever without the instant, and a change of it moves the end', async () => {
    const { net, admin, at, identity, shown } = await network()
    const id = await identity('anna', { isAdmin: true, rightsUntil: at(HOUR) })
    expect(await changed(admin, id, { rightsUntil: at(2 * HOUR) })).toBe('done')
    await net.elapse(HOUR)
    expect(await shown(id)).toMatchObject({ isAdmin: true })
    expect(await replaced(admin, id, { isAdmin: true })).toBe('done')
    await net.elapse(5 * HOUR)
    expect(await shown(id)).toMatchObject({ isAdmin: true })
  })
})
