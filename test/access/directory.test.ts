import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DirectoryChange, type HostDirectory, openOperator, SYSTEM_CALL } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import type { ServiceConnection } from 'portcullis/sdk'
import { createTestController, type TestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { adminToken, ownApi } from '../support/delegate.ts'
import { givePassword } from '../support/identity-state.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { letStaffDial } from '../support/staff-network.ts'

/** Milliseconds for which answers of the directory count in these tests. */
const KEEP = 600_000
type Answer = Awaited<ReturnType<HostDirectory['attributesOf']>>

/** A directory whose entries a test sets by the names of identities. */
class Groups implements HostDirectory {
  readonly keepForMs = KEEP
  readonly entries = new Map<string, unknown>()
  readonly asked: string[] = []
  isAway = false
  tell: (change: DirectoryChange) => Promise<void> = async () => {}

  readonly attributesOf = async ({ name }: { readonly name: string }): Promise<Answer> => {
    this.asked.push(name)
    if (this.isAway) throw new Error('the directory is away')
    // A host without a compiler may answer anything.
    return this.entries.get(name) as Answer
  }
  readonly changed = (listener: (change: DirectoryChange) => Promise<void>) => {
    this.tell = listener
    return () => {
      this.tell = async () => {}
    }
  }
}

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

/** A network where `#staff` may dial the wiki, and an identity of nobody's group. */
async function network(directory: HostDirectory, more: object = {}) {
  const net = await createTestController(await withSharedPki({ directory, logger: quiet, ...more }))
  onTestFinished(() => net.close())
  const create = { type: 'User' as const, isAdmin: false }
  const { id } = await net.engine.identities.create(SYSTEM_CALL, { ...create, name: 'anna', externalId: 'anna@x' })
  const wiki = await letStaffDial(net)
  return { net, id, wiki }
}

const shown = (net: TestController, id: string) => net.engine.identities.get(SYSTEM_CALL, id)
const isAllowed = async (net: TestController, at?: number) =>
  (await net.engine.access.explain(SYSTEM_CALL, 'anna', 'wiki', 'Dial', at === undefined ? {} : { at })).allowed
/** Lets logins under way get as far as they can. */
const settled = (net: TestController) => net.elapse(0)
const login = (net: TestController, id: string) => net.engine.host.startSession(id)

describe('a directory of the host', () => {
  it('gives a delegate nothing under the name of another person', async () => {
    const groups = new Groups()
    groups.entries.set('boss', ['staff'])
    const { net, id } = await network(groups)
    const delegated = { name: 'anna', type: 'User' as const, isAdmin: false, permissions: ['identity'] }
    await net.engine.identities.patch(SYSTEM_CALL, id, delegated)
    const { token } = await login(net, id)
    const delegate = net.management.withToken(token)
    const renamed = (of: string, name: string) =>
      delegate.call('PATCH /identities/{id}', { params: { id: of }, body: { name } })
    await expect(renamed(id, 'boss')).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    await login(net, id)
    expect(await shown(net, id)).toMatchObject({ name: 'anna' })
    expect(await isAllowed(net)).toBe(false)
    const other = await net.engine.identities.create(SYSTEM_CALL, { ...delegated, name: 'other', permissions: [] })
    await renamed(other.id, 'another')
  })

  it.each<[string, unknown, string[] | undefined]>([
    ['a list', ['staff', 'all', 'staff'], ['all', 'staff']],
    ['an empty list', [], undefined],
    ['nothing', undefined, undefined],
    ['an entry', { roleAttributes: ['staff'] }, ['staff']],
    ['an entry that has ended', { roleAttributes: ['staff'], until: new Date(0) }, undefined],
    ['null', null, undefined],
    ['a text', 'staff', undefined],
    ['a role instead of an attribute', ['#staff'], undefined],
    ['an empty attribute', ['staff', ''], undefined],
    ['half a surrogate pair', ['\ud800'], undefined],
    ['more than 500', Array.from({ length: 501 }, (_, n) => `group-${n}`), undefined],
    ['a disabling that is no boolean', { roleAttributes: ['staff'], disabled: 'no' }, undefined],
  ])('answers %s', async (_, answer, expected) => {
    const groups = new Groups()
    const { net, id } = await network(groups)
    groups.entries.set('anna', answer)
    await login(net, id)
    const identity = await shown(net, id)
    expect(identity.directoryAttributes).toEqual(expected)
    expect(identity.roleAttributes).toEqual([])
    expect('directoryUntil' in identity).toBe(expected !== undefined)
    expect(await isAllowed(net)).toBe(expected !== undefined)
  })

  it('is asked at a login, and not about the identity of a router', async () => {
    const groups = new Groups()
    const { net, id } = await network(groups)
    const body = { username: 'anna', password: 'Correct-Horse-1' }
    await givePassword(net, id, body)
    groups.entries.set('anna', ['staff'])
    await net.management.call('POST /authenticate', { query: { method: 'password' }, body })
    expect(groups.asked).toEqual(['anna'])
    expect(await isAllowed(net)).toBe(true)
    await net.engine.edgeRouters.create(SYSTEM_CALL, { name: 'tunneler', isTunnelerEnabled: true })
    await groups.tell('all')
    expect(groups.asked.slice(1).toSorted()).toEqual(['Default Admin', 'anna'])
  })

  it('is logged with the identity where its answer is invalid', async () => {
    const groups = new Groups()
    const errors: unknown[] = []
    const logger = { ...quiet, error: (message: string, fields: object) => errors.push({ message, ...fields }) }
    const { net, id } = await network(groups, { logger })
    groups.entries.set('anna', ['#staff'])
    await login(net, id)
    expect(errors).toMatchObject([{ message: expect.stringContaining('directory'), identity: id }])
  })

  it('is no part of what clients write back, and is asked for in a member of its own', async () => {
    const groups = new Groups()
    groups.entries.set('anna', ['staff'])
    const { net, id } = await network(groups)
    await login(net, id)
    const admin = await net.asAdmin()
    const { data } = await admin.call('GET /identities/{id}', { params: { id } })
    expect(data).toMatchObject({ roleAttributes: [], directoryAttributes: ['staff'] })
    const { name, type, isAdmin, roleAttributes } = { ...data, type: 'User' as const }
    const body = { name, type, isAdmin, roleAttributes: [...(roleAttributes ?? []), 'own'] }
    await admin.call('PUT /identities/{id}', { params: { id }, body })
    expect(await shown(net, id)).toMatchObject({ roleAttributes: ['own'], directoryAttributes: ['staff'] })
    groups.entries.delete('anna')
    await groups.tell({ id })
    const after = await shown(net, id)
    expect(after.roleAttributes).toEqual(['own'])
    expect(after).not.toHaveProperty('directoryAttributes')
    const filter = 'anyOf(directoryAttributes) = "staff"'
    expect((await net.engine.identities.list(SYSTEM_CALL, { filter })).items).toEqual([])
  })

  it('is named by explain, and its attributes are listed', async () => {
    const groups = new Groups()
    groups.entries.set('anna', ['staff'])
    const { net, id } = await network(groups)
    const before = await net.engine.access.explain(SYSTEM_CALL, 'anna', 'wiki', 'Dial')
    expect(before.suggestions[0]?.text).toMatch(
      /^Give 'anna' the role attribute staff, here or in the directory: the policy/,
    )
    await login(net, id)
    const { policies } = await net.engine.access.explain(SYSTEM_CALL, 'anna', 'wiki', 'Dial')
    expect(policies[0]?.identitySide.matched).toEqual([
      { role: '#staff', name: '#staff (directory)', fromDirectory: true },
    ])
    const headers = { 'zt-session': await adminToken(net) }
    const list = new Request('https://controller.test:1280/edge/management/v1/identity-role-attributes', { headers })
    expect(await (await net.fetch(list)).json()).toMatchObject({ data: ['staff'] })
    await net.engine.identities.patch(SYSTEM_CALL, id, { roleAttributes: ['staff'] })
    const own = await net.engine.access.explain(SYSTEM_CALL, 'anna', 'wiki', 'Dial')
    expect(own.policies[0]?.identitySide.matched).toEqual([{ role: '#staff', name: '#staff' }])
  })

  it.each<[string, (id: string) => DirectoryChange]>([
    ['id', (id) => ({ id })],
    ['external id', () => ({ externalId: 'anna@x' })],
    ['all', () => 'all'],
  ])('takes access at once when it reports a change: by %s', async (_, change) => {
    const groups = new Groups()
    groups.entries.set('anna', ['staff'])
    const { net, id, wiki } = await network(groups)
    const caller = await login(net, id)
    const ended: unknown[] = []
    net.events.on('session.ended', ({ reason }) => ended.push(reason))
    await net.engine.sessions.create({ by: 'caller', caller }, { serviceId: wiki, type: 'Dial' })
    groups.entries.set('anna', ['guests'])
    expect(await isAllowed(net)).toBe(true)
    await groups.tell(change(id))
    expect(await isAllowed(net)).toBe(false)
    expect(ended).toHaveLength(1)
    groups.entries.set('anna', ['staff'])
    await groups.tell(change(id))
    expect(await isAllowed(net)).toBe(true)
  })

  it('disables an identity while it says so, and never the last administrator', async () => {
    const groups = new Groups()
    groups.entries.set('anna', ['staff'])
    const { net, id } = await network(groups)
    const { token } = await login(net, id)
    groups.entries.set('anna', { roleAttributes: ['staff'], disabled: true })
    await groups.tell({ id })
    expect(await shown(net, id)).toMatchObject({ disabled: true, directoryDisabledAt: expect.anything() })
    expect(await net.engine.host.resolve(token)).toBeUndefined()
    await expect(login(net, id)).rejects.toMatchObject({ code: 'INVALID_AUTH' })
    groups.entries.set('anna', ['staff'])
    await groups.tell({ id })
    expect(await shown(net, id)).toMatchObject({ disabled: false })
    await login(net, id)
    const { items } = await net.engine.identities.list(SYSTEM_CALL, { filter: 'isDefaultAdmin=true' })
    groups.entries.set(items[0]?.name ?? '', { roleAttributes: [], disabled: true })
    await groups.tell({ id: items[0]?.id ?? '' })
    expect(await shown(net, items[0]?.id ?? '')).toMatchObject({ disabled: false })
  })

  it('is enabled by an administrator until the next answer', async () => {
    const groups = new Groups()
    groups.entries.set('anna', { roleAttributes: [], disabled: true })
    const { net, id } = await network(groups)
    await groups.tell({ id })
    await (await net.asAdmin()).call('POST /identities/{id}/enable', { params: { id } })
    expect(await shown(net, id)).toMatchObject({ disabled: false })
    await groups.tell({ id })
    expect(await shown(net, id)).toMatchObject({ disabled: true })
  })

  it('is asked again before its answer runs out, and keeps what was known while it is away until that ends', async () => {
    const groups = new Groups()
    groups.entries.set('anna', ['staff'])
    const { net, id } = await network(groups)
    await login(net, id)
    await net.elapse(3 * KEEP)
    expect(await isAllowed(net)).toBe(true)
    expect(groups.asked.length).toBeGreaterThan(4)
    expect(groups.asked.length).toBeLessThan(9)
    groups.isAway = true
    await groups.tell({ id })
    const until = Date.parse((await shown(net, id)).directoryUntil ?? '')
    await net.elapse(until - net.clock.now() - 1)
    expect(await isAllowed(net)).toBe(true)
    await net.elapse(1)
    expect(await isAllowed(net)).toBe(false)
    expect(await shown(net, id)).not.toHaveProperty('directoryAttributes')
    groups.isAway = false
    await net.elapse(60_000)
    expect(await isAllowed(net)).toBe(true)
  })

  it('begins access at its own write, as explain says of the past', async () => {
    const groups = new Groups()
    groups.entries.set('anna', ['staff'])
    const { net, id } = await network(groups)
    await net.elapse(1000)
    const givenAt = net.clock.now()
    await login(net, id)
    await net.elapse(1000)
    const body = { identity: 'anna', service: 'wiki', type: 'Dial' as const }
    const { data } = await ownApi(net, await adminToken(net)).call('POST /explain', { body })
    expect(data.since).toMatchObject({ at: new Date(givenAt).toISOString(), by: 'change' })
  })

  it('ends by itself what it gave until an instant', async () => {
    const groups = new Groups()
    const { net, id } = await network(groups)
    groups.entries.set('anna', { roleAttributes: ['staff'], until: net.clock.now() + 1000 })
    await login(net, id)
    await net.elapse(999)
    expect(await isAllowed(net)).toBe(true)
    await net.elapse(1)
    expect(await isAllowed(net)).toBe(false)
  })

  it('ends at the instant also where nothing can be written, and is asked again where it can', async () => {
    const groups = new Groups()
    const inner = memoryStorage()
    let isFull = false
    const write: typeof inner.write = (work) => (isFull ? Promise.reject(new Error('full')) : inner.write(work))
    const { net, id } = await network(groups, { storage: { ...inner, write } })
    groups.entries.set('anna', ['staff'])
    await login(net, id)
    isFull = true
    await net.elapse(KEEP - 1)
    expect(await isAllowed(net)).toBe(true)
    await net.elapse(1)
    expect(await isAllowed(net)).toBe(false)
    isFull = false
    await net.elapse(60_000)
    expect(await isAllowed(net)).toBe(true)
  })

  it('is asked again after a minute where it gave no answer about a change', async () => {
    const groups = new Groups()
    groups.entries.set('anna', ['staff'])
    const { net, id } = await network(groups)
    await login(net, id)
    groups.entries.delete('anna')
    groups.isAway = true
    await groups.tell({ id })
    groups.isAway = false
    await net.elapse(59_999)
    expect([await isAllowed(net), groups.asked.length]).toEqual([true, 2])
    await net.elapse(1)
    expect([await isAllowed(net), groups.asked.length]).toEqual([false, 3])
  })

  it.each(['written', 'read'])(
    'answers a report of a change when it is followed, though nothing can be %s at first',
    async (what) => {
      const inner = memoryStorage()
      let isAway = false
      const away = <T>(work: () => Promise<T>) => (isAway ? Promise.reject(new Error('the disk is full')) : work())
      const storage = {
        ...inner,
        write: (...given: Parameters<typeof inner.write>) => away(() => inner.write(...given)),
        ...(what === 'read' && { read: (...given: Parameters<typeof inner.read>) => away(() => inner.read(...given)) }),
      }
      const groups = new Groups()
      groups.entries.set('anna', ['staff'])
      const { net, id } = await network(groups, { storage })
      await login(net, id)
      groups.entries.delete('anna')
      isAway = true
      const answered: string[] = []
      const reports = [groups.tell({ id }), groups.tell({ id }), groups.tell('all')]
      for (const [at, report] of reports.entries()) void report.then(() => answered.push(`report ${at}`))
      await net.elapse(5000)
      expect(answered).toEqual([])
      isAway = false
      await net.elapse(1000)
      await Promise.all(reports)
      expect(await isAllowed(net)).toBe(false)
      isAway = true
      const last = groups.tell({ id })
      await net.elapse(1000)
      await net.close()
      await last
    },
  )

  it('keeps nobody waiting for more than three seconds', async () => {
    let wasAsked = () => {}
    const asked = new Promise<void>((resolve) => {
      wasAsked = resolve
    })
    const attributesOf = () => {
      wasAsked()
      return new Promise<never>(() => {})
    }
    const { net, id } = await network({ attributesOf })
    let hasBegun = false
    const begun = login(net, id).then(() => {
      hasBegun = true
    })
    await asked
    await net.elapse(2999)
    expect(hasBegun).toBe(false)
    await net.elapse(1)
    await begun
  })

  it('is asked one question at a time about an identity, by however many logins, and the last sees what it says then', async () => {
    const answers: ((attributes: readonly string[]) => void)[] = []
    const attributesOf = () => new Promise<readonly string[]>((resolve) => void answers.push(resolve))
    const { net, id } = await network({ attributesOf })
    const first = login(net, id)
    await expect.poll(() => answers.length).toBe(1)
    const others = Array.from({ length: 200 }, () => login(net, id))
    await settled(net)
    expect(answers).toHaveLength(1)
    answers[0]?.([])
    await first
    await expect.poll(() => answers.length).toBe(2)
    answers[1]?.(['staff'])
    await Promise.all(others)
    expect(answers).toHaveLength(2)
    expect(await isAllowed(net)).toBe(true)
    const later = login(net, id)
    await expect.poll(() => answers.length).toBe(3)
    answers[2]?.([])
    await later
    expect(await isAllowed(net)).toBe(false)
  })

  it('is asked no second time by logins that waited for an answer that did not come', async () => {
    let asked = 0
    const attributesOf = () => {
      asked += 1
      return new Promise<never>(() => {})
    }
    const { net, id } = await network({ attributesOf })
    const logins = Array.from({ length: 200 }, () => login(net, id))
    await expect.poll(() => asked).toBe(1)
    await settled(net)
    await net.elapse(3000)
    await Promise.all(logins)
    expect(asked).toBe(1)
  })

  it.each([
    ['the answer itself is late', 'anna', false],
    ['it waits for the answer about another identity', 'ben', false],
    ['another process was told of the change', 'anna', true],
  ])('gives nothing back by an answer that it took back meanwhile: %s', async (_, slow, byOther) => {
    const groups = new Groups()
    groups.entries.set('anna', ['staff'])
    let isSlow = false
    let reached = () => {}
    let release = () => {}
    const wasAsked = new Promise<void>((resolve) => (reached = resolve))
    const held = new Promise<void>((resolve) => (release = resolve))
    const attributesOf = async (identity: { readonly name: string }) => {
      const answer = await groups.attributesOf(identity)
      if (!isSlow || identity.name !== slow) return answer
      isSlow = false
      reached()
      await held
      return answer
    }
    const storage = { ...memoryStorage(), close: async () => {} }
    const { net, id } = await network({ ...groups, attributesOf }, { storage })
    const told = new Groups()
    const other = await createTestController(await withSharedPki({ storage, directory: told, logger: quiet }))
    onTestFinished(() => other.close())
    await net.engine.identities.create(SYSTEM_CALL, { type: 'User', isAdmin: false, name: 'ben' })
    await login(net, id)
    isSlow = true
    const round = groups.tell('all')
    await wasAsked
    groups.entries.set('anna', [])
    await (byOther ? told : groups).tell({ id })
    expect(await isAllowed(net)).toBe(false)
    groups.asked.length = 0
    release()
    await round
    expect(await isAllowed(net)).toBe(false)
    await net.elapse(0)
    expect(groups.asked.filter((name) => name === 'anna')).toHaveLength(byOther ? 1 : 0)
    expect(await isAllowed(net)).toBe(false)
  })

  it('is asked twice where it reports the same change ten thousand times while it is asked', async () => {
    const groups = new Groups()
    const { net, id } = await network(groups)
    groups.entries.set('anna', ['staff'])
    groups.asked.length = 0
    await Promise.all(Array.from({ length: 10_000 }, () => groups.tell({ id })))
    expect(groups.asked.length).toBeLessThan(10)
    expect(await isAllowed(net)).toBe(true)
    // A host without a compiler may report anything.
    const loop: Record<string, unknown> = {}
    loop.id = loop
    for (const wrong of [loop, null, {}, { id: 7 }, { externalId: null }, 1n]) await groups.tell(wrong as never)
    expect(await isAllowed(net)).toBe(true)
  })

  it('lets a login go on where it throws what has no text, as other code of the host may', async () => {
    const nameless: unknown = Object.create(null)
    const attributesOf = () => Promise.reject(nameless)
    const logged: unknown[] = []
    const logger = { ...quiet, error: (_message: string, fields: object) => logged.push(Reflect.get(fields, 'error')) }
    const hooks = { beforeGrant: () => Promise.reject(nameless) }
    const { net, id } = await network({ attributesOf }, { logger, hooks })
    net.events.on('access-request.made', () => Promise.reject(nameless))
    const { token } = await login(net, id)
    const body = { service: 'wiki', durationMs: 60_000, reason: 'INC-7' }
    const { data } = await ownApi(net, token).call('POST /access-requests', { body })
    expect(data.state).toBe('open')
    expect(logged).toEqual(Array.from({ length: 3 }, () => 'an error without a text'))
  })

  it('is recorded by the audit trail where it changes something, and not where it says the same again', async () => {
    const groups = new Groups()
    groups.entries.set('anna', ['staff'])
    const storage = { ...memoryStorage(), close: async () => {} }
    const { net, id } = await network(groups, { storage })
    const operator = await openOperator({ storage, logger: quiet })
    onTestFinished(() => operator.close())
    await login(net, id)
    const records = async () => {
      const { data } = await ownApi(net, await adminToken(net)).call('GET /audit', { query: { entity: id } })
      return data.entries.filter(({ type }) => type === 'entity.updated')
    }
    expect(await records()).toMatchObject([{ actor: null, changes: { directoryAttributes: { after: ['staff'] } } }])
    const told: unknown[] = []
    net.events.on('entity.changed', ({ kind }) => told.push(kind))
    await net.elapse(2 * KEEP)
    expect(await records()).toHaveLength(1)
    expect(told).not.toContain('identities')
    expect((await operator.unexplained()).entities).toEqual([])
    groups.entries.delete('anna')
    await groups.tell('all')
    expect(await records()).toHaveLength(2)
  })

  it('cuts a running circuit', async () => {
    const groups = new Groups()
    groups.entries.set('anna', ['staff'])
    const model = {
      identities: ['anna', 'host'].map((name) => ({ name, type: 'Device' as const, isAdmin: false })),
      services: [{ name: 'wiki' }],
      servicePolicies: [
        { name: 'dial', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#staff'], serviceRoles: ['#all'] },
        { name: 'bind', type: 'Bind', semantic: 'AnyOf', identityRoles: ['@host'], serviceRoles: ['#all'] },
      ],
    } as const
    const options = { router: true as const, model, directory: groups, logger: quiet }
    const net = await createTestController(await withSharedPki(options))
    onTestFinished(() => net.close())
    await net.as('host').host('wiki', (connection: ServiceConnection) => void connection.on('error', () => {}))
    const connection = await net.as('anna').dial('wiki')
    const closed = new Promise((resolve) => connection.on('error', () => {}).on('close', resolve))
    groups.entries.set('anna', ['guests'])
    await groups.tell('all')
    await closed
    await expect(net.as('anna').dial('wiki')).rejects.toThrow()
  })

  it.each(['memory', 'sqlite'])('holds in every process over one storage, also in one without it: %s', async (kind) => {
    const file = join(newFolder(), 'network.sqlite')
    const memory = { ...memoryStorage(), close: async () => {} }
    const open = async () => (kind === 'memory' ? memory : sqliteStorage(file))
    const groups = new Groups()
    groups.entries.set('anna', ['staff'])
    const { net, id } = await network(groups, { storage: await open() })
    const other = await createTestController(await withSharedPki({ storage: await open(), logger: quiet }))
    onTestFinished(() => other.close())
    await login(net, id)
    expect(await isAllowed(other)).toBe(true)
    groups.entries.set('anna', [])
    await groups.tell({ id })
    expect(await isAllowed(other)).toBe(false)
    groups.entries.set('anna', ['staff'])
    await groups.tell({ id })
    expect(await isAllowed(other)).toBe(true)
    await net.close()
    await other.elapse(KEEP - 1)
    expect(await isAllowed(other)).toBe(true)
    await other.elapse(1)
    expect(await isAllowed(other)).toBe(false)
  })
})

/** A folder that goes with the test. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-directory-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
