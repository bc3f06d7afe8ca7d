import { EVENT_NAMES, type HostHooks, SYSTEM_CALL } from 'portcullis'
import { type ApiClient, createPortcullisClient, type PortcullisApi } from 'portcullis/client'
import { memoryStorage } from 'portcullis/memory'
import {
  createTestController,
  recordingLogger,
  type TestController,
  type TestControllerOptions,
} from 'portcullis/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { adminToken, delegate, ownApi } from '../support/delegate.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { receiver } from '../webhooks/receiver.ts'

/** Milliseconds; sessions of the tests outlast them. */
const MINUTE = 60_000
const DAY = 24 * 3_600_000
type Api = ApiClient<PortcullisApi>

/** A service that nobody may dial, an administrator, and the laptop that asks. */
async function network(options: TestControllerOptions = {}) {
  const net = await createTestController(await withSharedPki(options))
  onTestFinished(() => net.close())
  const { engine } = net
  const serviceId = (await engine.services.create(SYSTEM_CALL, { name: 'prod-db', encryptionRequired: true })).id
  const laptopId = await identity(net, 'laptop')
  const laptop = await apiOf(net, laptopId)
  const admin = ownApi(net, await adminToken(net))
  const ask = (more: object = {}, api: Api = laptop) => asked(api, more)
  const policies = async () => (await engine.servicePolicies.list(SYSTEM_CALL)).items
  const mayDial = async () =>
    (await engine.access.explain(SYSTEM_CALL, 'laptop', 'prod-db', 'Dial')).policies.length > 0
  return { net, engine, serviceId, laptopId, laptop, admin, ask, policies, mayDial }
}

const asked = async (api: Api, more: object = {}) => {
  const body = { service: 'prod-db', durationMs: 10 * MINUTE, reason: 'INC-7', ...more }
  return (await api.call('POST /access-requests', { body })).data
}

const identity = async (net: TestController, name: string) =>
  (await net.engine.identities.create(SYSTEM_CALL, { name, type: 'Device', isAdmin: false })).id

/** Our own API in sessions of an identity: a session that has ended is followed by another. */
async function apiOf(net: TestController, identityId: string): Promise<Api> {
  return createPortcullisClient({
    baseUrl: 'https://controller.test',
    fetch: (request) => net.fetch(request),
    login: async () => (await net.engine.host.startSession(identityId)).token,
  })
}

const open = async (api: Api) =>
  (await api.call('GET /access-requests', { query: { filter: 'state = "open"' } })).data.map(({ id }) => id)
const shown = async (api: Api, id: string) => (await api.call('GET /access-requests/{id}', { params: { id } })).data
const approve = async (api: Api, id: string, body: object = {}) =>
  (await api.call('POST /access-requests/{id}/approve', { params: { id }, body })).data
const refuse = async (api: Api, id: string, body: object = {}) =>
  (await api.call('POST /access-requests/{id}/refuse', { params: { id }, body })).data
const withdraw = async (api: Api, id: string) =>
  (await api.call('POST /access-requests/{id}/withdraw', { params: { id } })).data

describe('an access request', () => {
  it('is made by an identity for itself, approved for a shorter time, and its access ends by itself', async () => {
    const { net, admin, laptop, laptopId, serviceId, ask, policies, mayDial } = await network()
    const made = await ask({ reason: '  INC-7 ' })
    const begin = net.clock.now()
    expect(made).toMatchObject({
      ...{ service: 'prod-db', type: 'Dial', durationMs: 10 * MINUTE, reason: 'INC-7', state: 'open' },
      ...{ identityId: laptopId, identity: { name: 'laptop' }, expiresAt: new Date(begin + DAY).toISOString() },
      ...{ decidedAt: null, decidedBy: null, note: null, until: null, policyId: null, serviceFound: null },
    })
    expect(await open(admin)).toEqual([made.id])
    expect(await shown(admin, made.id)).toMatchObject({ serviceFound: { id: serviceId, name: 'prod-db' } })
    expect(await mayDial()).toBe(false)

    const until = new Date(begin + 5 * MINUTE).toISOString()
    const approved = await approve(admin, made.id, { durationMs: 5 * MINUTE, note: 'mind the replica' })
    const [policy, ...others] = await policies()
    expect(others).toEqual([])
    expect(policy).toMatchObject({
      ...{ name: `grant laptop dial prod-db until ${until} (request ${made.id})`, type: 'Dial', phase: 'in-force' },
      ...{ identityRoles: [`@${laptopId}`], serviceRoles: [`@${serviceId}`], until, reason: 'INC-7' },
      givenBy: 'Default Admin',
    })
    const decision = { state: 'approved', note: 'mind the replica', until, decidedAt: new Date(begin).toISOString() }
    expect(approved).toMatchObject({ ...decision, decidedBy: 'Default Admin', policyId: policy?.id })
    expect(await shown(laptop, made.id)).toMatchObject({ ...decision, decidedBy: null, policyId: null })
    expect(await mayDial()).toBe(true)
    await net.elapse(5 * MINUTE)
    expect((await policies())[0]?.phase).toBe('over')
  })

  it('is refused with a note, or withdrawn by its identity, and changes no more', async () => {
    const { admin, laptop, ask, policies } = await network()
    const [one, other] = [await ask(), await ask({ type: 'Bind' })]
    expect(await refuse(admin, one.id, { note: 'use the replica' })).toMatchObject({
      ...{ state: 'refused', note: 'use the replica', decidedBy: 'Default Admin' },
    })
    expect(await withdraw(laptop, other.id)).toMatchObject({ state: 'withdrawn', note: null })
    for (const [{ id }, state] of [
      [one, 'refused'],
      [other, 'withdrawn'],
    ] as const) {
      const closed = { status: 400, code: 'ENTITY_CAN_NOT_BE_UPDATED', message: expect.stringContaining(`is ${state}`) }
      await expect(approve(admin, id)).rejects.toMatchObject(closed)
      await expect(refuse(admin, id)).rejects.toMatchObject(closed)
      await expect(withdraw(laptop, id)).rejects.toMatchObject(closed)
    }
    expect(await policies()).toEqual([])
  })

  it('ends by itself after a day, and is not approved from then on', async () => {
    const { net, laptopId, ask } = await network()
    const { id } = await ask()
    await net.elapse(DAY - 1)
    const laptop = await apiOf(net, laptopId)
    expect(await shown(laptop, id)).toMatchObject({ state: 'open' })
    await net.elapse(1)
    expect(await shown(laptop, id)).toMatchObject({
      state: 'expired',
      decidedAt: new Date(net.clock.now()).toISOString(),
    })
    const approval = net.engine.accessRequests.approve(SYSTEM_CALL, id)
    await expect(approval).rejects.toThrow('is expired: only an open request can be changed')
  })

  it('ends where the process that took it is gone, also while no work of the timetable has come', async () => {
    const storage = memoryStorage()
    const { net, laptopId, ask } = await network({ storage })
    const { id } = await ask()
    const later = await createTestController(await withSharedPki({ storage, now: net.clock.now() + DAY }))
    onTestFinished(() => later.close())
    await expect(later.engine.accessRequests.approve(SYSTEM_CALL, id)).rejects.toThrow('is expired')
    expect(await shown(await apiOf(later, laptopId), id)).toMatchObject({ state: 'expired' })
  })

  it('is approved once by two processes that approve at the same time', async () => {
    const storage = memoryStorage()
    const { net, ask, policies } = await network({ storage })
    const other = await createTestController(await withSharedPki({ storage }))
    onTestFinished(() => other.close())
    const { id } = await ask()
    const decided = await Promise.allSettled([
      net.engine.accessRequests.approve(SYSTEM_CALL, id),
      other.engine.accessRequests.approve(SYSTEM_CALL, id),
      net.engine.accessRequests.refuse(SYSTEM_CALL, id),
    ])
    expect(decided.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await policies()).toHaveLength(1)
  })

  it('goes with its identity, and outlives its service, which is then no more to be had', async () => {
    const { net, admin, serviceId, ask, policies } = await network()
    const phone = await identity(net, 'phone')
    const [one, other] = [await ask(), await ask({}, await apiOf(net, phone))]
    await net.engine.services.delete(SYSTEM_CALL, serviceId)
    expect(await shown(admin, one.id)).toMatchObject({ state: 'open', service: 'prod-db', serviceFound: null })
    await expect(approve(admin, one.id)).rejects.toMatchObject({ status: 400, details: { field: 'service' } })
    expect(await shown(admin, one.id)).toMatchObject({ state: 'open' })
    await net.engine.identities.delete(SYSTEM_CALL, phone)
    await expect(approve(admin, other.id)).rejects.toMatchObject({ status: 404 })
    expect(await policies()).toEqual([])
  })

  it('is bounded: a minute to 30 days, a reason of 1 to 1,024 characters, and a service', async () => {
    const { ask, admin } = await network()
    const wrong = [
      { durationMs: MINUTE - 1 },
      { durationMs: 30 * DAY + 1 },
      { reason: ' ' },
      { reason: 'x'.repeat(1025) },
    ]
    for (const one of wrong) {
      const [field = ''] = Object.keys(one)
      await expect(ask(one)).rejects.toMatchObject({ status: 400, code: 'COULD_NOT_VALIDATE', details: { field } })
    }
    await expect(ask({ service: '' })).rejects.toMatchObject({ status: 400, details: { field: 'service' } })
    const { id } = await ask({ durationMs: 30 * DAY, reason: 'x'.repeat(1024) })
    const longer = approve(admin, id, { durationMs: 30 * DAY - 1, note: 'x'.repeat(1025) })
    await expect(longer).rejects.toMatchObject({ status: 400, details: { field: 'note' } })
    const short = await ask()
    await expect(approve(admin, short.id, { durationMs: 10 * MINUTE + 1 })).rejects.toMatchObject({
      ...{ status: 400, details: { field: 'durationMs' } },
    })
  })

  it('is bounded in number, for an identity and for the network; what is decided makes room', async () => {
    const limits = { openAccessRequestsPerIdentity: 2, openAccessRequests: 3 }
    const { net, admin, laptop, ask } = await network({ limits })
    const [one] = [await ask(), await ask()]
    await expect(ask()).rejects.toMatchObject({ status: 400, message: expect.stringContaining('PerIdentity') })
    const phone = await apiOf(net, await identity(net, 'phone'))
    await ask({}, phone)
    await expect(ask({}, phone)).rejects.toMatchObject({
      message: expect.stringContaining('limit openAccessRequests)'),
    })
    await refuse(admin, one.id)
    for (let count = 0; count < 60; count += 1) await withdraw(laptop, (await ask()).id)
    const { meta } = await laptop.call('GET /access-requests', { query: { limit: 1 } })
    expect(meta.pagination.totalCount).toBeLessThanOrEqual(52)
    expect(await open(laptop)).toHaveLength(1)
  })

  it('is no oracle: a name that no service has is answered as any other, in every way a requester may look', async () => {
    const { laptop, admin, serviceId, ask } = await network()
    const masked = ({
      id,
      createdAt,
      updatedAt,
      expiresAt,
      service,
      _links,
      ...rest
    }: Awaited<ReturnType<typeof ask>>) => rest
    const asking = [await ask(), await ask({ service: serviceId }), await ask({ service: 'no-such-thing' })]
    const [first, ...others] = asking.map(masked)
    for (const other of others) expect(other).toEqual(first)
    const again = await Promise.all(asking.map(async ({ id }) => masked(await shown(laptop, id))))
    for (const other of again) expect(other).toEqual(first)
    for (const field of ['serviceId', 'policyId', 'decidedBy', 'dueAt', 'serviceFound']) {
      const query = { filter: `${field} != null` }
      await expect(laptop.call('GET /access-requests', { query })).rejects.toMatchObject({ status: 400 })
    }
    const [, , unknown] = asking
    await expect(approve(admin, unknown?.id ?? '')).rejects.toMatchObject({ details: { field: 'service' } })
    await refuse(admin, unknown?.id ?? '')
    expect(await shown(laptop, unknown?.id ?? '')).toMatchObject({ state: 'refused', serviceFound: null })
  })
})

describe('the right to decide an access request', () => {
  it('is the right to make service policies: nobody else sees or decides the requests of others', async () => {
    const { net, ask, laptop } = await network()
    const { id } = await ask()
    const stranger = await apiOf(net, await identity(net, 'stranger'))
    const reader = (await delegate(net, 'reader', ['admin_readonly'])).api
    const maker = (await delegate(net, 'maker', ['service-policy.create'])).api
    const changer = (await delegate(net, 'changer', ['service-policy.update', 'service', 'identity'])).api
    for (const api of [stranger, changer]) {
      expect(await open(api)).toEqual([])
      await expect(shown(api, id)).rejects.toMatchObject({ status: 404 })
      await expect(withdraw(api, id)).rejects.toMatchObject({ status: 404 })
    }
    for (const api of [laptop, stranger, changer, reader]) {
      await expect(approve(api, id)).rejects.toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
      await expect(refuse(api, id)).rejects.toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    }
    expect([await open(reader), await open(maker)]).toEqual([[id], [id]])
    await expect(withdraw(maker, id)).rejects.toMatchObject({ status: 404 })
    const anonymous = ownApi(net, 'wrong')
    await expect(ask({}, anonymous)).rejects.toMatchObject({ status: 401 })
    await expect(open(anonymous)).rejects.toMatchObject({ status: 401 })
    expect(await approve(maker, id)).toMatchObject({ state: 'approved', decidedBy: 'maker' })
  })

  it('does not cover the own request, except of an administrator', async () => {
    const { net, ask, admin, policies } = await network()
    const maker = (await delegate(net, 'maker', ['service-policy'])).api
    const own = await ask({}, maker)
    await expect(approve(maker, own.id)).rejects.toMatchObject({
      ...{ status: 401, code: 'UNAUTHORIZED', message: expect.stringContaining('its own request') },
    })
    expect(await policies()).toEqual([])
    expect(await approve(admin, own.id)).toMatchObject({ state: 'approved' })
    expect(await approve(admin, (await ask({}, admin)).id)).toMatchObject({ state: 'approved' })
  })

  it('ends with the permission, and carries posture checks where the approver names them', async () => {
    const { net, ask, admin, policies } = await network()
    const { id: makerId, api: maker } = await delegate(net, 'maker', ['service-policy'])
    const { id } = await ask()
    await net.engine.identities.patch(SYSTEM_CALL, makerId, { permissions: ['service'] })
    await expect(approve(maker, id)).rejects.toMatchObject({ status: 401 })
    await expect(approve(admin, id, { postureCheckRoles: ['@none'] })).rejects.toMatchObject({ status: 400 })
    expect(await shown(admin, id)).toMatchObject({ state: 'open' })
    await approve(admin, id, { postureCheckRoles: ['#corp'] })
    expect(await policies()).toMatchObject([{ postureCheckRoles: ['#corp'] }])
  })
})

describe('the rule of the host', () => {
  const decidedBy = async (beforeGrant: NonNullable<HostHooks['beforeGrant']>) => {
    const logger = recordingLogger()
    const made = await network({ hooks: { beforeGrant }, logger })
    const errors = () => logger.entries.filter(({ level }) => level === 'error')
    return { ...made, errors }
  }

  it('approves, for a shorter time or not, refuses with a note, or leaves it to a person', async () => {
    const asking: unknown[] = []
    const answers = [
      'approve',
      { decision: 'approve', durationMs: MINUTE, note: 'short' },
      'refuse',
      undefined,
    ] as const
    const { net, ask, serviceId, laptopId, policies } = await decidedBy((request) => {
      asking.push(request)
      return asking.length === 5 ? { decision: 'refuse', note: 'not on Fridays' } : answers[asking.length - 1]
    })
    const facts = {
      identityId: laptopId,
      identityName: 'laptop',
      type: 'Dial',
      durationMs: 10 * MINUTE,
      reason: 'INC-7',
    }
    const until = (ms: number) => new Date(net.clock.now() + ms).toISOString()
    expect(await ask()).toMatchObject({ state: 'approved', until: until(10 * MINUTE), decidedBy: null })
    expect(await ask()).toMatchObject({ state: 'approved', until: until(MINUTE), note: 'short' })
    expect(await ask()).toMatchObject({ state: 'refused', note: null })
    expect(await ask()).toMatchObject({ state: 'open' })
    expect(await ask({ service: 'nothing' })).toMatchObject({ state: 'refused', note: 'not on Fridays' })
    expect(asking[0]).toMatchObject({ ...facts, service: 'prod-db', serviceId, requestId: expect.any(String) })
    expect(asking[4]).toMatchObject({ ...facts, service: 'nothing', serviceId: undefined })
    // A rule that knows names is not passed by the id of a service.
    await ask({ service: serviceId })
    expect(asking[5]).toMatchObject({ ...facts, service: 'prod-db', serviceId })
    expect(await policies()).toMatchObject([{ until: until(10 * MINUTE) }, { until: until(MINUTE) }])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('the calendar is away')
      },
      'the calendar is away',
    ],
    ['rejects', () => Promise.reject(new Error('the calendar is away')), 'the calendar is away'],
    ['answers what is no decision', () => true, 'TypeError'],
    ['gives more time than was asked for', () => ({ decision: 'approve', durationMs: 11 * MINUTE }), 'no more than'],
  ])('leaves the request open where it %s, and it is logged', async (_what, rule, said) => {
    // As a host in JavaScript may answer.
    const { ask, errors } = await decidedBy(rule as never)
    const { id, state } = await ask()
    expect(state).toBe('open')
    expect(errors()).toMatchObject([{ fields: { request: id, error: expect.stringContaining(said) } }])
  })

  it('may take 5 s: a later answer changes nothing', async () => {
    let answer = (_decision: 'approve') => {}
    const { net, ask, admin, errors } = await decidedBy(() => new Promise((resolve) => (answer = resolve)))
    const asking = ask()
    const state = async () => (await admin.call('GET /access-requests')).data[0]?.state
    await vi.waitFor(async () => expect(await state()).toBe('open'))
    await net.elapse(5000)
    expect((await asking).state).toBe('open')
    expect(errors()).toMatchObject([{ fields: { hook: 'beforeGrant' } }])
    answer('approve')
    await net.elapse(1)
    expect(await state()).toBe('open')
  })
})

describe('what is told of access requests', () => {
  it('events: made and decided, with who decided', async () => {
    const { net, ask, admin, laptop, laptopId, serviceId, policies } = await network()
    expect(EVENT_NAMES).toEqual(expect.arrayContaining(['access-request.made', 'access-request.decided']))
    const told: unknown[] = []
    net.events.on('access-request.made', (event) => told.push(event))
    net.events.on('access-request.decided', (event) => told.push(event))
    const made = await ask()
    await approve(admin, made.id)
    await withdraw(laptop, (await ask({ service: 'nothing', type: 'Bind' })).id)
    const [policy] = await policies()
    const facts = { requestId: made.id, identityId: laptopId, serviceId, service: 'prod-db', type: 'Dial' }
    expect(told).toMatchObject([
      { ...facts, durationMs: 10 * MINUTE, reason: 'INC-7' },
      { ...facts, state: 'approved', policyId: policy?.id, until: net.clock.now() + 10 * MINUTE },
      { service: 'nothing', serviceId: undefined, type: 'Bind' },
      { state: 'withdrawn', author: laptopId, policyId: undefined },
    ])
    const { events } = (await admin.call('GET /events')).data
    expect(events.map(({ text }) => text)).toEqual(
      expect.arrayContaining([
        "laptop asks for Dial of 'prod-db'",
        "the request of laptop for Dial of 'prod-db' is approved",
      ]),
    )
  })

  it('the audit trail: the request by its identity, the decision and the policy by the approver', async () => {
    const { ask, admin } = await network()
    const { id } = await ask()
    const { policyId } = await approve(admin, id, { note: 'mind the replica' })
    const { entries } = (await admin.call('GET /audit', { query: { entity: id } })).data
    expect(entries.map(({ type, actor, changes }) => [type, actor?.name, Object(changes).state])).toEqual([
      ['access.decided', 'Default Admin', { before: 'open', after: 'approved' }],
      ['access.requested', 'laptop', { after: 'open' }],
    ])
    expect(entries[0]?.changes).toMatchObject({ policyId: { after: policyId }, note: { after: 'mind the replica' } })
    const made = (await admin.call('GET /audit', { query: { entity: policyId ?? '' } })).data.entries
    expect(made).toMatchObject([{ type: 'entity.created', actor: { name: 'Default Admin' } }])
  })

  it('webhooks, by the types of their own', async () => {
    const { received, url } = await receiver()
    const { ask, admin } = await network({ webhooks: { allow: ['127.0.0.1'] } })
    const body = { name: 'chat', endpoint: url, events: ['access.*'] }
    await admin.call('POST /webhooks', { body })
    const { id } = await ask()
    await refuse(admin, id)
    await vi.waitFor(() =>
      expect(received.map(({ event }) => event.type)).toEqual(['access.requested', 'access.decided']),
    )
    expect(received[0]?.event.data).toMatchObject({
      entity: { kind: 'access-requests', id },
      changes: { reason: { after: 'INC-7' } },
    })
  })
})
