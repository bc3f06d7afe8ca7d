import fc from 'fast-check'
import { SYSTEM_CALL } from 'portcullis'
import { describe, expect, it } from 'vitest'
import { delegate } from '../support/delegate.ts'
import { patience, runs } from '../support/property-runs.ts'
import { auditRecords } from '../support/stored-records.ts'
import { type World, world } from '../support/world.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const roles = fc.oneof(fc.constant(['#all']), fc.subarray(['#a', '#b']))
const attributes = fc.subarray(['a', 'b'])
const place = fc.constantFrom(0, 1, 2)
const step = fc.oneof(
  fc.record({ what: fc.constantFrom('identity' as const, 'service' as const), attributes }),
  fc.record({
    what: fc.constant('policy' as const),
    place,
    type: fc.constantFrom('Dial' as const, 'Bind' as const),
    semantic: fc.constantFrom('AllOf' as const, 'AnyOf' as const),
    identityRoles: roles,
    serviceRoles: roles,
  }),
  fc.record({ what: fc.constant('delete' as const), place }),
  fc.record({ what: fc.constant('disable' as const), minutes: fc.constantFrom(0, 1, 5) }),
  fc.record({ what: fc.constantFrom('enable' as const, 'wait' as const, 'rename' as const) }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

interface Policy {
  readonly id: string
  readonly type: string
  readonly semantic: string
  readonly identityRoles: readonly string[]
  readonly serviceRoles: readonly string[]
}

/** The beginning of an access, as the oracle wrote it down when it happened. */
interface Begun {
  readonly at: number
  readonly by: 'change' | 'time'
  readonly entityId: string | null
}

/** A network of one pair, and what a naive onlooker wrote down of it after each step. */
class Onlooker {
  readonly policies = new Map<number, Policy>()
  readonly begun = new Map<string, Begun>()
  identity: readonly string[] = []
  service: readonly string[] = []
  disabledUntil: number | undefined

  /** Writes down which policies grant at an instant. */
  look(at: number, entityId: string | null): void {
    for (const id of [...this.begun.keys()])
      if (![...this.policies.values()].some((one) => one.id === id)) this.begun.delete(id)
    const isDisabled = this.disabledUntil !== undefined && at < this.disabledUntil
    for (const policy of this.policies.values()) {
      const grants = !isDisabled && policy.type === 'Dial' && this.#selects(policy)
      if (!grants) this.begun.delete(policy.id)
      else if (!this.begun.has(policy.id))
        this.begun.set(policy.id, { at, by: entityId === null ? 'time' : 'change', entityId })
    }
  }

  longest(): Begun | undefined {
    return [...this.begun.values()].sort((a, b) => a.at - b.at)[0]
  }

  #selects({ semantic, identityRoles, serviceRoles }: Policy): boolean {
    const matches = (wanted: readonly string[], held: readonly string[]) => {
      if (wanted.includes('#all')) return true
      const isHeld = wanted.map((role) => held.includes(role.slice(1)))
      return semantic === 'AllOf' ? isHeld.length > 0 && isHeld.every(Boolean) : isHeld.some(Boolean)
    }
    return matches(identityRoles, this.identity) && matches(serviceRoles, this.service)
  }
}

async function scene() {
  const words = await world()
  const { data } = await words.admin.call('POST /identities', { body: { name: 'ann', type: 'Device', isAdmin: false } })
  return { ...words, ann: data.id, web: await words.service('web'), now: () => words.controller.clock.now() }
}

describe('since when access exists', () => {
  it('is what somebody wrote down who looked at every change', { timeout: patience(120_000) }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14, size: 'max' }), async (steps) => {
        const { controller, admin, ann, web, now } = await scene()
        const onlooker = new Onlooker()
        for (const one of steps) {
          await controller.elapse(20 * SECOND)
          if (onlooker.disabledUntil !== undefined && onlooker.disabledUntil <= now()) {
            const ended = onlooker.disabledUntil
            onlooker.disabledUntil = undefined
            onlooker.look(ended, null)
          }
          onlooker.look(now(), await make(admin, one, onlooker, { ann, web, at: now() }))
        }
        const { allowed, since } = await controller.engine.access.explain(SYSTEM_CALL, 'ann', 'web', 'Dial')
        const longest = onlooker.longest()
        expect(allowed).toBe(longest !== undefined)
        expect(since && { at: since.at, by: since.by, entityId: since.change?.entity.id ?? null }).toEqual(
          longest ?? null,
        )
        await controller.close()
      }),
      runs(60, 12),
    )
  })

  it('is told by whom, to who may ask why, in the words of the trail that it may read', async () => {
    const { controller, admin, ann, policy } = await scene()
    const reads = ['identity', 'service', 'service-policy', 'posture-check', 'router'].map((kind) => `${kind}.read`)
    const { api } = await delegate(controller, 'auditor', reads)
    await policy('dial', { identityRoles: ['#staff'], serviceRoles: ['#all'] })
    await controller.elapse(MINUTE)
    await admin.call('PATCH /identities/{id}', { params: { id: ann }, body: { roleAttributes: ['staff'] } })
    const { since, text } = (await api.call('POST /explain', { body: { identity: 'ann', service: 'web' } })).data
    const at = controller.clock.now()
    expect(since).toMatchObject({
      by: 'change',
      at: new Date(at).toISOString(),
      policy: { name: 'dial' },
      change: {
        type: 'entity.updated',
        entity: { kind: 'identities', id: ann, name: 'ann' },
        actor: { name: 'Default Admin' },
      },
    })
    expect(text.split('\n')[1]).toBe(
      `The policy 'dial' grants it since ${new Date(at).toISOString()}, when the identity 'ann' was changed by 'Default Admin'.`,
    )
    const { entries } = (await api.call('GET /audit', { query: { entity: ann, limit: 1 } })).data
    expect(entries[0]?.id).toBe(since?.change?.id)
    const other = (await api.call('POST /explain', { body: { identity: 'ann', service: 'web', changes: [] } })).data
    expect(other.since).toEqual(since)
    const assumed = { identity: 'ann', service: 'web', at: new Date(at + MINUTE).toISOString() }
    expect((await api.call('POST /explain', { body: assumed })).data.since).toBeNull()
  })

  it('says where the trail reaches back no further: what is older was removed, or told by a digest alone', async () => {
    const { controller, admin, ann, policy } = await scene()
    await policy('dial', { identityRoles: ['#all'], serviceRoles: ['#all'] })
    const begun = controller.clock.now()
    await controller.elapse(MINUTE)
    expect((await controller.engine.access.explain(SYSTEM_CALL, 'ann', 'web', 'Dial')).since).toMatchObject({
      by: 'change',
      at: begun,
    })
    await controller.storage.write(async (tx) => {
      for (const id of await tx.collection(auditRecords).findIds()) await tx.collection(auditRecords).delete(id)
    })
    await admin.call('PATCH /identities/{id}', { params: { id: ann }, body: { name: 'anna' } })
    const first = controller.clock.now()
    await controller.elapse(MINUTE)
    const { since } = await controller.engine.access.explain(SYSTEM_CALL, 'anna', 'web', 'Dial')
    expect(since).toMatchObject({ by: 'before', at: first, change: null, policy: { name: 'dial' } })

    const many = Array.from({ length: 400 }, (_, index) => `a-role-attribute-that-is-long-${'x'.repeat(20)}-${index}`)
    await admin.call('PATCH /identities/{id}', { params: { id: ann }, body: { roleAttributes: many } })
    await admin.call('PATCH /identities/{id}', { params: { id: ann }, body: { roleAttributes: ['few'] } })
    const last = controller.clock.now()
    await controller.elapse(MINUTE)
    const told = await controller.engine.access.explain(SYSTEM_CALL, 'anna', 'web', 'Dial')
    expect(told.since).toMatchObject({ by: 'before', at: last, change: null })
  })

  it('looks at as many records and policies as it has room for, however many there are', async () => {
    const { controller, ann, policy } = await scene()
    for (let count = 0; count < 25; count += 1) {
      await policy(`dial ${count}`, { identityRoles: ['#all'], serviceRoles: ['#all'] })
      await controller.elapse(SECOND)
    }
    for (let count = 0; count < 205; count += 1) {
      await controller.engine.identities.patch(SYSTEM_CALL, ann, { tags: { count } })
      await controller.elapse(SECOND)
    }
    let reads = 0
    const { storage } = controller
    const read = storage.read.bind(storage)
    Object.assign(storage, {
      read: (work: Parameters<typeof read>[0]) =>
        read((tx) => {
          reads += 1
          return work(tx)
        }),
    })
    const { since } = await controller.engine.access.explain(SYSTEM_CALL, 'ann', 'web', 'Dial')
    expect(since).toMatchObject({ by: 'before', policy: { name: 'dial 0' } })
    expect(since?.at).toBeLessThan(controller.clock.now() - 199 * SECOND)
    expect(reads).toBeLessThan(10)
  })
})

async function make(
  admin: World['admin'],
  one: Step,
  onlooker: Onlooker,
  { ann, web, at }: { readonly ann: string; readonly web: string; readonly at: number },
): Promise<string> {
  switch (one.what) {
    case 'identity':
      onlooker.identity = one.attributes
      await admin.call('PATCH /identities/{id}', { params: { id: ann }, body: { roleAttributes: one.attributes } })
      return ann
    case 'service':
      onlooker.service = one.attributes
      await admin.call('PATCH /services/{id}', { params: { id: web }, body: { roleAttributes: one.attributes } })
      return web
    case 'policy': {
      const { place: at, what: _, ...body } = one
      const known = onlooker.policies.get(at)
      if (known !== undefined) {
        await admin.call('PATCH /service-policies/{id}', { params: { id: known.id }, body })
        onlooker.policies.set(at, { ...body, id: known.id })
        return known.id
      }
      const { data } = await admin.call('POST /service-policies', { body: { ...body, name: `policy ${at}` } })
      onlooker.policies.set(at, { ...body, id: data.id })
      return data.id
    }
    case 'delete': {
      const known = onlooker.policies.get(one.place)
      if (known === undefined) return ann
      onlooker.policies.delete(one.place)
      await admin.call('DELETE /service-policies/{id}', { params: { id: known.id } })
      return known.id
    }
    case 'disable':
      onlooker.disabledUntil = one.minutes === 0 ? Number.POSITIVE_INFINITY : at + one.minutes * MINUTE
      await admin.call('POST /identities/{id}/disable', { params: { id: ann }, body: { durationMinutes: one.minutes } })
      return ann
    case 'enable':
      onlooker.disabledUntil = undefined
      await admin.call('POST /identities/{id}/enable', { params: { id: ann } })
      return ann
    case 'rename':
      await admin.call('PATCH /services/{id}', { params: { id: web }, body: { tags: { at } } })
      return web
    case 'wait':
      return ann
  }
}
