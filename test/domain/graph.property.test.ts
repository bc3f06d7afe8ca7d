import fc from 'fast-check'
import { AccessIndex, selects } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
// Internals: a pure rule, tried with every input; a controller would let few of them through.
import {
  type Classified,
  ClassTable,
  ENDS,
  edgesOf,
  type GraphPolicy,
  type GroupedKind,
  type LinkType,
  RolePolicies,
} from '../../src/facts/insight/graph/index.ts'
import { patience, runs } from '../support/property-runs.ts'

const GROUPED_KINDS: readonly GroupedKind[] = ['identities', 'services', 'edge-routers']
const TYPES: readonly LinkType[] = ['Dial', 'Bind', 'edge-router', 'service-edge-router']
const ids = ['one', 'two', 'three', 'four']
const attribute = fc.constantFrom('a', 'b', 'c')
const entity = fc.record({
  kind: fc.constantFrom(...GROUPED_KINDS),
  id: fc.constantFrom(...ids),
  roleAttributes: fc.uniqueArray(attribute),
})
const roles = fc.oneof(
  { weight: 1, arbitrary: fc.constant(['#all']) },
  { weight: 6, arbitrary: fc.subarray(['#a', '#b', '#c', '@one', '@two', '@ghost']) },
)
const policy = fc.record({
  id: fc.uuid(),
  name: fc.string(),
  type: fc.constantFrom(...TYPES),
  semantic: fc.constantFrom('AllOf' as const, 'AnyOf' as const),
  from: roles,
  to: roles,
  isGuarded: fc.boolean(),
})
const network = fc.record({
  entities: fc.uniqueArray(entity, { maxLength: 10, selector: ({ kind, id }) => `${kind} ${id}` }),
  gone: fc.subarray(ids),
  policies: fc.uniqueArray(policy, { maxLength: 5, selector: ({ id }) => id }),
})
type Network = typeof network extends fc.Arbitrary<infer N> ? N : never
/** How many groups the classes of each kind are put into. */
const groupCounts = fc.integer({ min: 1, max: 5 })

function done<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

function classesOf(index: AccessIndex, kind: GroupedKind, policies: Network['policies']): ClassTable {
  const table = new ClassTable(new RolePolicies(policies, kind))
  done(table.put(attributesIn(index, kind)))
  return table
}

function attributesIn(index: AccessIndex, kind: GroupedKind): readonly (readonly [string, readonly string[]])[] {
  const { ids, attributesOf } = index.roster(kind)
  return ids.flatMap((id, slot) => (id === undefined ? [] : [[id, attributesOf(slot)] as const]))
}

/** The links between groups of classes, with the ids of the members of each group. */
function draw({ entities, gone, policies }: Network, groupCount: number) {
  const index = new AccessIndex()
  for (const { kind, ...one } of entities) index.putEntity(kind, one)
  for (const id of gone) index.removeEntity('identities', id)
  const kinds = new Map(
    GROUPED_KINDS.map((kind) => {
      const classified = classesOf(index, kind, policies).current
      const groupOf = Int32Array.from(classified.classes, (_, place) => place % groupCount)
      const members = Array.from({ length: groupCount }, (_, group) =>
        classified.members.flatMap((ids, place) => (groupOf[place] === group ? ids : [])),
      )
      return [kind, { ...classified, groupOf, groupCount, members }] as const
    }),
  )
  const of = (kind: GroupedKind) => kinds.get(kind) ?? expect.fail()
  const edges = TYPES.flatMap((type) => done(edgesOf(type, policies, of(ENDS[type].from), of(ENDS[type].to))))
  return { of, edges }
}

describe('a graph of groups', () => {
  it(
    'links as many pairs of members as its policies do, each once',
    () => {
      fc.assert(
        fc.property(network, groupCounts, (there, groupCount) => {
          const { of, edges } = draw(there, groupCount)
          const entityOf = (kind: GroupedKind, id = '') =>
            there.entities.find((one) => one.kind === kind && one.id === id) ?? expect.fail()
          for (const type of TYPES) {
            const ends = ENDS[type]
            const links = (one: GraphPolicy, from: string | undefined, to: string | undefined) =>
              one.type === type &&
              selects({ roles: one.from, semantic: one.semantic }, entityOf(ends.from, from)) &&
              selects({ roles: one.to, semantic: one.semantic }, entityOf(ends.to, to))
            for (const [from, sources] of of(ends.from).members.entries()) {
              for (const [to, targets] of of(ends.to).members.entries()) {
                const pairs = sources.flatMap((source) => targets.map((target) => [source, target] as const))
                const linked = pairs.filter(([a, b]) => there.policies.some((one) => links(one, a, b)))
                const linking = there.policies.filter((one) => pairs.some(([a, b]) => links(one, a, b)))
                const edge = edges.find((one) => one.type === type && one.from === from && one.to === to)
                expect(edge?.pairs ?? 0).toBe(linked.length)
                expect(edge?.policyCount ?? 0).toBe(linking.length)
                expect(edge?.policies.map((place) => there.policies[place])?.length ?? 0).toBe(linking.length)
                if (edge !== undefined) expect(edge.isGuarded).toBe(linking.every(({ isGuarded }) => isGuarded))
              }
            }
          }
        }),
        runs(100),
      )
    },
    patience(10_000),
  )
})

/** Something that happens to a table of identities: some have other role attributes or are gone, or other policies select. */
const change = fc.oneof(
  fc
    .array(fc.tuple(fc.constantFrom(...ids), fc.option(fc.uniqueArray(attribute), { nil: undefined })), {
      maxLength: 4,
    })
    .map((entities) => ({ entities })),
  fc.uniqueArray(policy, { maxLength: 5, selector: ({ id }) => id }).map((policies) => ({ policies })),
)

/** Who stands together, by role attributes and policies; the order of classes and empty ones tell nothing. */
function together({ classes, members, placeOf }: Classified) {
  for (const [place, own] of members.entries()) for (const id of own) expect(placeOf.get(id)).toBe(place)
  expect(placeOf.size).toBe(members.flat().length)
  return classes
    .map(({ attributes, policies, count }, place) => ({
      attributes,
      policies,
      count,
      members: members[place]?.toSorted(),
    }))
    .filter(({ count }) => count > 0)
    .map((one) => JSON.stringify(one))
    .sort()
}

describe('classes of entities that change', () => {
  it(
    'are those of a table that is made anew, and leave earlier states as they were',
    () => {
      fc.assert(
        fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
          const present = new Map<string, readonly string[]>()
          let selecting = new RolePolicies([], 'identities')
          const table = new ClassTable(selecting)
          for (const one of changes) {
            const before = table.current
            const was = together(before)
            if ('policies' in one) {
              selecting = new RolePolicies(one.policies, 'identities')
              done(table.select(selecting))
            } else {
              done(table.put(one.entities))
              for (const [id, held] of one.entities) {
                if (held === undefined) present.delete(id)
                else present.set(id, held)
              }
            }
            const anew = new ClassTable(selecting)
            done(anew.put(present))
            expect(together(table.current)).toEqual(together(anew.current))
            expect(before.classes.map(({ count }) => count)).toEqual(before.members.map(({ length }) => length))
            if (table.current === before) expect(together(table.current)).toEqual(was)
          }
        }),
        runs(200),
      )
    },
    patience(10_000),
  )

  it('are the same state where nothing tells anybody apart otherwise, and are counted as sparse when most are empty', () => {
    const table = new ClassTable(new RolePolicies([], 'identities'))
    done(table.put([['one', ['a', 'b']]]))
    const { current } = table
    done(table.put([['one', ['b', 'a']]]))
    expect(table.current).toBe(current)
    for (let round = 0; round < 600; round += 1) done(table.put([['one', [`only-${round}`]]]))
    expect(table.isSparse).toBe(true)
  })
})
