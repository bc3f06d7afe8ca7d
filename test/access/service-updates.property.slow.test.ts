import fc from 'fast-check'
import { expect, it } from 'vitest'
import { lastChangeAt } from '../support/last-change-at.ts'
import { patience, runs } from '../support/property-runs.ts'
import { type Person, type World, world } from '../support/world.ts'

const SECOND = 1000
const params = (id: string) => ({ params: { id } })

/** The service list of the person with all configs, without the seconds that merely tick away. */
async function seen({ api }: Person): Promise<string> {
  const { data } = await api.call('GET /services', { query: { limit: 500, configTypes: ['all'] } })
  const steady = data.map((service) => ({
    ...service,
    postureQueries: service.postureQueries.map((policy) => ({
      ...policy,
      postureQueries: policy.postureQueries.map(({ timeoutRemaining, timeoutAt, ...query }) =>
        timeoutRemaining > 0 ? { ...query, timeoutAt } : { ...query, timeoutRemaining },
      ),
    })),
  }))
  return JSON.stringify(steady)
}

interface Model extends World {
  readonly people: readonly Person[]
  readonly watchers: readonly Person[]
  readonly services: readonly string[]
  readonly policies: readonly string[]
  readonly checks: Readonly<Record<'domain' | 'mfa', string>>
  readonly colourId: string
  readonly configs: readonly string[]
}

async function model(): Promise<Model> {
  const here = await world()
  const services = [await here.service('web', ['a']), await here.service('db', ['b']), await here.service('vault')]
  const checks = {
    domain: await here.domainCheck('domain', ['strict'], 'corp'),
    mfa: await here.mfaCheck('mfa', ['strict'], { timeoutSeconds: 30, promptOnWake: true }),
  }
  const policies = [
    await here.policy('first', { identityRoles: ['#a'], serviceRoles: ['#a'] }),
    await here.policy('second', { identityRoles: ['#b'], serviceRoles: ['#all'], postureCheckRoles: ['#strict'] }),
    await here.policy('third', { type: 'Bind', identityRoles: ['#a', '#b'], serviceRoles: ['#b'], semantic: 'AllOf' }),
  ]
  const people = [await here.person('alice', ['a']), await here.person('bob', ['b']), await here.person('carol')]
  // bob is there twice: what one endpoint does with its second factor is nothing to the other.
  const again = await here.login('bob', people[1]?.id ?? '')
  const colour = { name: 'colour', schema: {}, target: 'service' as const }
  const colourId = (await here.admin.call('POST /config-types', { body: colour })).data.id
  const config = async (name: string) => {
    const body = { name, configTypeId: colourId, data: { is: name } }
    return (await here.admin.call('POST /configs', { body })).data.id
  }
  const configs = [await config('red'), await config('blue'), await config('green')]
  const curious = [
    await here.login('alice', people[0]?.id ?? '', ['all']),
    await here.login('bob', people[1]?.id ?? '', [colourId]),
  ]
  return { ...here, services, checks, policies, people, colourId, configs, watchers: [...people, again, ...curious] }
}

let routers = 0
const some = fc.subarray(['a', 'b'])
const roles = fc.subarray(['#a', '#b']).chain((list) => fc.constantFrom(list, ['#all']))
const at = fc.nat({ max: 2 })
const watcher = fc.nat({ max: 5 })
type Edit = (here: Model) => Promise<unknown>
const of = <T>(list: readonly T[], position: number): T => {
  const item = list[position]
  if (item === undefined) throw new Error(`nothing at ${position}`)
  return item
}

const edits: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(at, some).map(
    ([n, roleAttributes]): Edit =>
      (here) =>
        here.admin.call('PATCH /identities/{id}', { ...params(of(here.people, n).id), body: { roleAttributes } }),
  ),
  fc.tuple(at, some).map(
    ([n, roleAttributes]): Edit =>
      (here) =>
        here.admin.call('PATCH /services/{id}', { ...params(of(here.services, n)), body: { roleAttributes } }),
  ),
  at.map(
    (n): Edit =>
      (here) =>
        here.admin.call('PATCH /services/{id}', { ...params(of(here.services, n)), body: { tags: { at: String(n) } } }),
  ),
  fc.tuple(at, roles, roles).map(
    ([n, identityRoles, serviceRoles]): Edit =>
      (here) =>
        here.admin.call('PATCH /service-policies/{id}', {
          ...params(of(here.policies, n)),
          body: { identityRoles, serviceRoles },
        }),
  ),
  fc
    .tuple(at, fc.constantFrom('Dial' as const, 'Bind' as const), fc.constantFrom('AnyOf' as const, 'AllOf' as const))
    .map(
      ([n, type, semantic]): Edit =>
        (here) =>
          here.admin.call('PATCH /service-policies/{id}', {
            ...params(of(here.policies, n)),
            body: { type, semantic },
          }),
    ),
  fc.tuple(at, fc.boolean()).map(
    ([n, isStrict]): Edit =>
      (here) =>
        here.admin.call('PATCH /service-policies/{id}', {
          ...params(of(here.policies, n)),
          body: { postureCheckRoles: isStrict ? ['#strict'] : [] },
        }),
  ),
  fc.constantFrom('corp', 'home').map(
    (domain): Edit =>
      (here) =>
        here.admin.call('PATCH /posture-checks/{id}', {
          ...params(here.checks.domain),
          body: { typeId: 'DOMAIN', domains: [domain] },
        }),
  ),
  fc.tuple(watcher, fc.constantFrom('corp', 'home')).map(
    ([n, domain]): Edit =>
      (here) =>
        of(here.watchers, n).api.call('POST /posture-response', {
          body: { id: here.checks.domain, typeId: 'DOMAIN', domain },
        }),
  ),
  watcher.map(
    (n): Edit =>
      (here) =>
        here.passMfa(of(here.watchers, n)),
  ),
  watcher.map(
    (n): Edit =>
      (here) =>
        of(here.watchers, n).api.call('POST /posture-response', {
          body: { id: '0', typeId: 'ENDPOINT_STATE', woken: true },
        }),
  ),
  fc.integer({ min: 1, max: 40 }).map(
    (seconds): Edit =>
      ({ controller }) =>
        controller.elapse(seconds * SECOND),
  ),
  fc.tuple(at, fc.constantFrom('red', 'blue')).map(
    ([n, is]): Edit =>
      (here) =>
        here.admin.call('PATCH /configs/{id}', { ...params(of(here.configs, n)), body: { data: { is } } }),
  ),
  // A service has at most one config of a type.
  fc.tuple(at, fc.constantFrom([], [0], [1], [2])).map(
    ([n, chosen]): Edit =>
      (here) =>
        here.admin.call('PATCH /services/{id}', {
          ...params(of(here.services, n)),
          body: { configs: chosen.map((position) => of(here.configs, position)) },
        }),
  ),
  fc.tuple(at, at, at, fc.boolean()).map(
    ([n, service, config, isGiven]): Edit =>
      (here) => {
        const pair = { serviceId: of(here.services, service), configId: of(here.configs, config) }
        const input = { ...params(of(here.people, n).id), body: [pair] }
        return isGiven
          ? here.admin.call('POST /identities/{id}/service-configs', input)
          : here.admin.call('DELETE /identities/{id}/service-configs', input)
      },
  ),
  fc.constantFrom('colour', 'tint').map(
    (name): Edit =>
      (here) =>
        here.admin.call('PATCH /config-types/{id}', { ...params(here.colourId), body: { name } }),
  ),
  // Changes that nobody sees in a service list.
  at.map(
    (n): Edit =>
      async (here) => {
        const router = of((await here.admin.call('GET /edge-routers')).data, 0).id
        const address = `address ${Math.random()}`
        const body = { service: of(here.services, n), router, binding: 'transport', address }
        await here.admin.call('POST /terminators', { body })
      },
  ),
  fc.constant<Edit>((here) => {
    routers += 1
    return here.admin.call('POST /edge-routers', { body: { name: `router ${routers}` } })
  }),
)

it(
  'the API sessions whose service list changed are those whose lastChangeAt moved',
  async () => {
    let [changed, unchanged] = [0, 0]
    await fc.assert(
      fc.asyncProperty(fc.array(edits, { minLength: 5, maxLength: 12 }), async (sequence) => {
        const here = await model()
        const before = await Promise.all(here.watchers.map(async (who) => [await seen(who), await lastChangeAt(who)]))
        for (const edit of sequence) {
          await edit(here)
          for (const [position, who] of here.watchers.entries()) {
            const now = [await seen(who), await lastChangeAt(who)]
            const [view, instant] = of(before, position)
            if (now[0] === view) unchanged += 1
            else changed += 1
            expect(now[1] !== instant, `${view}\n${now[0]}`).toBe(now[0] !== view)
            expect(String(now[1]) >= String(instant)).toBe(true)
            before[position] = now
          }
        }
        await here.controller.close()
      }),
      runs(30),
    )
    // The edits are chosen so that both happen often.
    expect(Math.min(changed, unchanged)).toBeGreaterThan(50)
  },
  patience(120_000),
)
