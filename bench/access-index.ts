import { AccessIndex, type EntityKind, type IndexedPolicy } from '../src/facts/access/index/index.ts'
import type { BenchRow } from './row.ts'
import { seeded } from './seeded.ts'

const IDENTITIES = 100_000
const SERVICES = 2_000
const EDGE_ROUTERS = 500
/** The attributes of OpenZiti's own "large" scenario: each is spread over one entity in this number. */
const SPREAD = [2, 2, 3, 4, 5, 8, 10, 10]

/** Measures the access index at 100,000 identities, 2,000 services, 500 edge routers and 250/250/100 policies, seed fixed. */
export async function benchAccessIndex(): Promise<BenchRow[]> {
  const random = seeded(1)
  const index = new AccessIndex()
  const loading = elapsed(() => fill(index, random))
  const pick = (count: number): number => Math.floor(random() * count)
  const identity = (): string => identities.id(pick(IDENTITIES))
  const service = (): string => services.id(pick(SERVICES))
  const attributeChange = (): void =>
    index.putEntity('identities', { id: identity(), roleAttributes: attributesOf(random) })

  const coldServices = elapsed(() => index.servicesOf(identity(), 'Dial'))
  const coldIdentities = elapsed(() => index.identitiesOf(service(), 'Dial'))
  for (let i = 0; i < SERVICES; i += 1) index.identitiesOf(services.id(i), i % 2 === 0 ? 'Dial' : 'Bind')
  const unionOfServices = {
    name: 'OR 8 bitsets and list every id: services',
    value: orCeiling(SPREAD.length, SERVICES) + listCeiling(SERVICES),
  }
  const unionOfIdentities = {
    name: 'OR 8 bitsets and list every id: identities',
    value: orCeiling(SPREAD.length, IDENTITIES) + listCeiling(IDENTITIES),
  }
  const listIdentities = { name: 'list every id: identities', value: listCeiling(IDENTITIES) }
  const ms = 'ms'
  return [
    { name: 'fill the index, once', value: loading, unit: ms, target: 'bulk import ≤5 s in memory (W9)' },
    { name: 'what may this identity dial, first question', value: coldServices, unit: ms, target: '≤10 ms' },
    { name: 'who may dial this service, first question', value: coldIdentities, unit: ms, target: '≤10 ms (W6)' },
    {
      name: 'what may this identity dial',
      ...timed(2_000, () => index.servicesOf(identity(), 'Dial')),
      ceiling: unionOfServices,
      target: '≤0.2 ms',
    },
    {
      name: 'who may dial this service',
      ...timed(200, () => index.identitiesOf(service(), 'Dial')),
      ceiling: unionOfIdentities,
      target: '≤10 ms (W6)',
    },
    {
      name: 'may this identity dial this service',
      ...timed(20_000, () => index.allows(identity(), service(), 'Dial')),
    },
    {
      name: 'which policies grant it, over which edge routers',
      ...timed(5_000, () => [
        index.grantingPolicies(identity(), service()),
        index.commonEdgeRouters(identity(), service()),
      ]),
      target: '≤0.2 ms (W5)',
    },
    { name: 'one identity changes its attributes', ...timed(5_000, attributeChange), target: '≤1 ms' },
    {
      name: 'one identity changes its attributes, and asks what it may dial',
      ...timed(2_000, () => {
        const id = identity()
        index.putEntity('identities', { id, roleAttributes: attributesOf(random) })
        index.servicesOf(id, 'Dial')
      }),
      target: '≤1 ms',
    },
    {
      name: 'one identity is deleted and created again',
      ...timed(5_000, () => {
        const id = identity()
        index.removeEntity('identities', id)
        index.putEntity('identities', { id, roleAttributes: attributesOf(random) })
      }),
      target: '≤1 ms',
    },
    {
      name: 'a policy on #all is created, and answers with every identity',
      ...timed(50, () => {
        index.putPolicy('service-policies', everyone)
        return index.selectedBy('service-policies', everyone.id, 'identities')
      }),
      ceiling: listIdentities,
      target: '≤20 ms (W8)',
    },
    {
      name: 'an AllOf policy on two attributes is created, and answers with its identities',
      ...timed(50, () => {
        index.putPolicy('service-policies', both)
        return index.selectedBy('service-policies', both.id, 'identities')
      }),
      ceiling: listIdentities,
      target: '≤10 ms',
    },
  ]
}

const identities = {
  kind: 'identities',
  count: IDENTITIES,
  id: (number: number): string => `i${scatter(number)}`,
} as const
const services = { kind: 'services', count: SERVICES, id: (number: number): string => `s${scatter(number)}` } as const
const edgeRouters = {
  kind: 'edge-routers',
  count: EDGE_ROUTERS,
  id: (number: number): string => `r${scatter(number)}`,
} as const

const everyone: IndexedPolicy = {
  id: 'everyone',
  type: 'Dial',
  semantic: 'AnyOf',
  roles: { identities: ['#all'], services: ['#a7'] },
}
const both: IndexedPolicy = {
  id: 'both',
  type: 'Dial',
  semantic: 'AllOf',
  roles: { identities: ['#a0', '#a2'], services: ['#a7'] },
}

function fill(index: AccessIndex, random: () => number): void {
  for (const { kind, count, id } of [identities, services, edgeRouters]) {
    for (let i = 0; i < count; i += 1) index.putEntity(kind, { id: id(i), roleAttributes: attributesOf(random) })
  }
  for (let i = 0; i < 250; i += 1) {
    const type = i % 2 === 0 ? 'Dial' : 'Bind'
    index.putPolicy('service-policies', { ...policy(i, 250, 'identities', 'services', random), type })
    index.putPolicy('edge-router-policies', policy(i, 250, 'identities', 'edge-routers', random))
    if (i < 100) index.putPolicy('service-edge-router-policies', policy(i, 100, 'services', 'edge-routers', random))
  }
}

/** One policy on `#all` and one on a single entity each way; the others name one to four attributes, a quarter of them AllOf. */
function policy(
  number: number,
  count: number,
  one: EntityKind,
  other: EntityKind,
  random: () => number,
): IndexedPolicy {
  const idOf = { identities, services, 'edge-routers': edgeRouters, 'posture-checks': services }
  const some = (): string[] => {
    const size = 1 + Math.floor(random() * 4)
    return Array.from({ length: size }, () => `#a${Math.floor(random() * SPREAD.length)}`)
  }
  const named = (kind: EntityKind, special: number): string[] => {
    if (number === special) return ['#all']
    return number === special + 1 ? [`@${idOf[kind].id(7)}`] : some()
  }
  return {
    id: `p${scatter(number)}`,
    semantic: number % 4 === 3 ? 'AllOf' : 'AnyOf',
    roles: { [one]: named(one, 0), [other]: named(other, count >> 1) },
  }
}

function attributesOf(random: () => number): string[] {
  return SPREAD.flatMap((oneIn, number) => (random() * oneIn < 1 ? [`a${number}`] : []))
}

/** Distinct text for distinct numbers, in no order: ids are written in another order than they sort. */
function scatter(number: number): string {
  return (Math.imul(number, 0x9e3779b1) >>> 0).toString(36).padStart(7, '0')
}

function elapsed(work: () => unknown): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

/** The median of five rounds, each the mean of some runs, in ms; a round before them warms up. */
function timed(runs: number, work: () => unknown): { value: number; unit: string } {
  const round = (): number =>
    elapsed(() => {
      for (let i = 0; i < runs; i += 1) work()
    }) / runs
  round()
  const rounds = Array.from({ length: 5 }, round).sort((a, b) => a - b)
  return { value: rounds[2] ?? 0, unit: 'ms' }
}

/** The least that a union of bitsets over the entities can cost, in ms: the words and the loop, nothing else. */
function orCeiling(sets: number, entities: number): number {
  const words = Math.ceil(entities / 32)
  const bitsets = Array.from({ length: sets }, (_, i) => new Uint32Array(words).fill(i))
  const union = new Uint32Array(words)
  return timed(200, () => {
    for (const bitset of bitsets) for (let i = 0; i < words; i += 1) union[i] = (union[i] ?? 0) | (bitset[i] ?? 0)
  }).value
}

/** The least that an answer with that number of ids can cost, in ms: one array, filled in a plain loop. */
function listCeiling(entities: number): number {
  const ids = Array.from({ length: entities }, (_, number) => scatter(number))
  return timed(50, () => {
    const answer = new Array<string>(entities)
    for (let i = 0; i < entities; i += 1) answer[i] = ids[i] ?? ''
    return answer
  }).value
}

if (import.meta.main) {
  console.log(`${process.version} ${process.platform} ${process.arch}`)
  console.table(
    (await benchAccessIndex()).map(({ name, value, unit, ceiling, target }) => ({
      name,
      value: `${value.toPrecision(3)} ${unit}`,
      ceiling: ceiling === undefined ? '' : `${ceiling.value.toPrecision(3)} ${unit}: ${ceiling.name}`,
      'value/ceiling': ceiling === undefined ? '' : (value / ceiling.value).toPrecision(2),
      target: target ?? '',
    })),
  )
}
