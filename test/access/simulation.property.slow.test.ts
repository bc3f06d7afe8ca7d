import fc from 'fast-check'
import { type SimulatedChange, type SimulationResult, SYSTEM_CALL } from 'portcullis'
import { createTestController, type TestController } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { NaiveAccess } from '../support/naive-access.ts'
import { patience, runs } from '../support/property-runs.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { identities, servicePolicies, services } from '../support/stored-records.ts'

const attributes = fc.subarray(['a', 'b'])
const semantic = fc.constantFrom('AllOf' as const, 'AnyOf' as const)
const type = fc.constantFrom('Dial' as const, 'Bind' as const)
const kind = fc.constantFrom('identities' as const, 'services' as const, 'service-policies' as const)
const roles = fc.oneof(fc.constant(['#all']), fc.subarray(['#a', '#b', '@one', '@two', '@three']))
const step = fc.record({
  kind,
  action: fc.constantFrom('create', 'update', 'delete'),
  target: fc.nat(),
  attributes,
  semantic,
  type,
  identityRoles: roles,
  serviceRoles: roles,
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Carries steps out for real and writes down what was done, in the words of a simulation. */
class Network {
  readonly done: SimulatedChange[] = []
  readonly #controller: TestController
  /** Ids by kind, in the order of creation. */
  readonly #ids: Record<Step['kind'], string[]> = { identities: [], services: [], 'service-policies': [] }
  #created = 0

  constructor(controller: TestController) {
    this.#controller = controller
  }

  async take(step: Step): Promise<void> {
    const known = this.#ids[step.kind]
    const id = known[step.target % Math.max(known.length, 1)]
    if (step.action === 'create' || id === undefined) await this.#create(step)
    else if (step.action === 'update') await this.#update(step, id)
    else await this.#delete(step.kind, id)
  }

  async #create({ kind, ...step }: Step): Promise<void> {
    this.#created += 1
    const base = { name: `${kind} ${this.#created}`, tags: {} }
    const service = this.#controller.engine
    const roleAttributes = step.attributes
    if (kind === 'identities') {
      const body = { ...IDENTITY, ...base, roleAttributes }
      this.#keep(kind, (await service.identities.create(SYSTEM_CALL, body)).id, body)
    } else if (kind === 'services') {
      const body = { ...SERVICE, ...base, roleAttributes }
      this.#keep(kind, (await service.services.create(SYSTEM_CALL, body)).id, body)
    } else {
      const { semantic, type } = step
      const body = { ...base, semantic, type, postureCheckRoles: [], ...this.#rolesOf(step) }
      this.#keep(kind, (await service.servicePolicies.create(SYSTEM_CALL, body)).id, body)
    }
  }

  #keep<K extends Step['kind']>(kind: K, id: string, body: unknown): void {
    this.#ids[kind].push(id)
    // Kind and body were chosen together.
    this.done.push({ kind, action: 'create', id, body } as SimulatedChange)
  }

  async #update({ kind, ...step }: Step, id: string): Promise<void> {
    const { engine } = this.#controller
    const body = { roleAttributes: step.attributes }
    if (kind === 'identities') {
      await engine.identities.patch(SYSTEM_CALL, id, body)
      this.done.push({ kind, action: 'update', id, body })
    } else if (kind === 'services') {
      await engine.services.patch(SYSTEM_CALL, id, body)
      this.done.push({ kind, action: 'update', id, body })
    } else {
      const policy = { type: step.type, semantic: step.semantic, ...this.#rolesOf(step) }
      await engine.servicePolicies.patch(SYSTEM_CALL, id, policy)
      this.done.push({ kind, action: 'update', id, body: policy })
    }
  }

  async #delete(kind: Step['kind'], id: string): Promise<void> {
    const { engine } = this.#controller
    if (kind === 'identities') await engine.identities.delete(SYSTEM_CALL, id)
    else if (kind === 'services') await engine.services.delete(SYSTEM_CALL, id)
    else await engine.servicePolicies.delete(SYSTEM_CALL, id)
    this.#ids[kind] = this.#ids[kind].filter((other) => other !== id)
    this.done.push({ kind, action: 'delete', id })
  }

  /** `@one`, `@two` and `@three` are the first entities of a kind; entries beside `#all` are refused. */
  #rolesOf(step: Pick<Step, 'identityRoles' | 'serviceRoles'>) {
    const named = (roles: readonly string[], ids: readonly string[]) =>
      roles.flatMap((role) => {
        const position = ['@one', '@two', '@three'].indexOf(role)
        if (position < 0) return [role]
        return ids[position] === undefined ? [] : [`@${ids[position]}`]
      })
    return {
      identityRoles: named(step.identityRoles, this.#ids.identities),
      serviceRoles: named(step.serviceRoles, this.#ids.services),
    }
  }
}

const IDENTITY = {
  enrollment: undefined,
  type: 'User' as const,
  isAdmin: false,
  externalId: null,
  authPolicyId: 'default',
  appData: {},
  defaultHostingCost: 0,
  defaultHostingPrecedence: 'default' as const,
  serviceHostingCosts: {},
  serviceHostingPrecedences: {},
  permissions: [],
}
const SERVICE = {
  configs: [],
  maxIdleTimeMillis: 0,
  terminatorStrategy: 'smartrouting' as const,
  encryptionRequired: false,
}

/** Everything that is granted, by the rule applied to every pair. */
async function granted({ storage }: TestController): Promise<ReadonlySet<string>> {
  return storage.read(async (tx) => {
    const naive = new NaiveAccess()
    const people = (await tx.collection(identities).find()).items
    const offered = (await tx.collection(services).find()).items
    for (const record of people) naive.putEntity('identities', record)
    for (const record of offered) naive.putEntity('services', record)
    for (const { id, type, semantic, identityRoles, serviceRoles } of (await tx.collection(servicePolicies).find())
      .items) {
      const roles = { identities: identityRoles, services: serviceRoles }
      naive.putPolicy('service-policies', { id, semantic, roles, ...(type === 'Invalid' ? {} : { type }) })
    }
    return new Set(
      offered.flatMap((service) =>
        (['Bind', 'Dial'] as const).flatMap((type) =>
          naive.identitiesOf(service.id, type).map((identity) => JSON.stringify([service.id, type, identity])),
        ),
      ),
    )
  })
}

async function allPages(controller: TestController, changes: readonly SimulatedChange[], limit: number) {
  const first = await controller.engine.access.simulate(SYSTEM_CALL, changes, { limit })
  const pairs: SimulationResult['pairs'][number][] = [...first.pairs]
  for (let cursor = first.nextCursor; cursor !== null; ) {
    const page = await controller.engine.access.simulate(SYSTEM_CALL, changes, { limit, cursor })
    expect(page.pairs.length).toBeLessThanOrEqual(limit)
    expect(page.counts).toBeNull()
    pairs.push(...page.pairs)
    cursor = page.nextCursor
  }
  return { pairs, counts: first.counts }
}

const steps = fc.array(step, { maxLength: 8 })

it('a simulation says what carrying the changes out would do, and does nothing', {
  timeout: patience(60_000),
}, async () => {
  await fc.assert(
    fc.asyncProperty(steps, steps, steps, fc.integer({ min: 1, max: 6 }), async (setup, earlier, later, limit) => {
      // Two networks with the same ids: one is only asked, in the other the same happens.
      const asked = await createTestController(await withSharedPki())
      const real = await createTestController(await withSharedPki())
      const [here, there] = [new Network(asked), new Network(real)]
      for (const one of [...setup, ...earlier]) {
        await here.take(one)
        await there.take(one)
        // Keeps the copy that changes are tried on at work between writes.
        await asked.engine.access.simulate(SYSTEM_CALL, [])
      }
      const before = await granted(real)
      const done = there.done.length
      for (const one of later) await there.take(one)
      const after = await granted(real)
      const changes = there.done.slice(done)

      const { pairs, counts } = await allPages(asked, changes, limit)
      const said = pairs.map(({ service, type, identity, change }) => [
        JSON.stringify([service.id, type, identity.id]),
        change,
      ])
      const expected = [
        ...[...after].filter((pair) => !before.has(pair)).map((pair) => [pair, 'gained']),
        ...[...before].filter((pair) => !after.has(pair)).map((pair) => [pair, 'lost']),
      ]
      const sorted = (list: readonly (readonly unknown[])[]) => list.map((item) => JSON.stringify(item)).sort()
      expect(sorted(said)).toEqual(sorted(expected))
      expect(new Set(sorted(said)).size).toBe(said.length)
      const count = (type: string, change: string) =>
        pairs.filter((pair) => pair.type === type && pair.change === change).length
      expect(counts).toEqual({
        dial: { gained: count('Dial', 'gained'), lost: count('Dial', 'lost') },
        bind: { gained: count('Bind', 'gained'), lost: count('Bind', 'lost') },
      })
      // Nothing was written, and the copy is as it was.
      expect(await granted(asked)).toEqual(before)
      expect((await asked.engine.access.simulate(SYSTEM_CALL, [])).pairs).toEqual([])
      expect((await allPages(asked, changes, 500)).pairs).toEqual(pairs)
      await asked.close()
      await real.close()
    }),
    runs(40),
  )
})
