import fc from 'fast-check'
import { AccessIndex, type AccessType, type EntityKind, type PolicyKind } from 'portcullis/policy'
import { describe, expect, it } from 'vitest'
// Internals: a pure rule, tried with every input; a controller would let few of them through.
import type { OrderedIds } from '../../src/facts/access/index/index.ts'
import { SlotSet } from '../../src/facts/access/index/slot-set.ts'
import { type ComparableAccess, NaiveAccess } from '../support/naive-access.ts'
import { patience, runs } from '../support/property-runs.ts'
import { expectSame } from '../support/same-answers.ts'

const entityKinds: readonly EntityKind[] = ['identities', 'services', 'edge-routers', 'posture-checks']
const policyKinds: readonly PolicyKind[] = ['service-policies', 'edge-router-policies', 'service-edge-router-policies']
const types: readonly AccessType[] = ['Dial', 'Bind']

type Access = ComparableAccess
type Edit = (access: Access) => void

/** Ids whose code-unit order is neither the order of writing nor that of a dictionary. */
const smallIds = ['b', 'B', 'é', '10', '9']

function edits(ids: readonly string[]): fc.Arbitrary<Edit> {
  const entityKind = fc.constantFrom(...entityKinds)
  const policyKind = fc.constantFrom(...policyKinds)
  const id = fc.constantFrom(...ids)
  const attribute = fc.constantFrom('a', 'b', 'c', 'all')
  const role = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('#a', '#b', '#c', '#rare') },
    { weight: 3, arbitrary: fc.constantFrom(...ids, 'ghost').map((name) => `@${name}`) },
    { weight: 1, arbitrary: fc.constant('#all') },
  )
  const roles = fc.array(role, { maxLength: 3 })
  const putEntity = fc.record({ kind: entityKind, id, roleAttributes: fc.array(attribute, { maxLength: 4 }) }).map(
    ({ kind, ...entity }): Edit =>
      (access) =>
        access.putEntity(kind, entity),
  )
  const removeEntity = fc.tuple(entityKind, id).map(
    ([kind, gone]): Edit =>
      (access) =>
        access.removeEntity(kind, gone),
  )
  const putPolicy = fc
    .record({
      kind: policyKind,
      id: fc.constantFrom('p', 'P', 'q'),
      semantic: fc.constantFrom('AllOf' as const, 'AnyOf' as const),
      type: fc.constantFrom(...types),
      roles: fc.record(
        { identities: roles, services: roles, 'edge-routers': roles, 'posture-checks': roles },
        { requiredKeys: ['identities', 'services', 'edge-routers'] },
      ),
    })
    .map(({ kind, type, ...policy }): Edit => {
      const indexed = kind === 'service-policies' ? { ...policy, type } : policy
      return (access) => access.putPolicy(kind, indexed)
    })
  const removePolicy = fc.tuple(policyKind, fc.constantFrom('p', 'P', 'q')).map(
    ([kind, gone]): Edit =>
      (access) =>
        access.removePolicy(kind, gone),
  )
  return fc.oneof(
    { weight: 5, arbitrary: putEntity },
    { weight: 2, arbitrary: removeEntity },
    { weight: 4, arbitrary: putPolicy },
    { weight: 1, arbitrary: removePolicy },
  )
}

/** A list that is read off, whole and in parts. */
function partsOf(list: OrderedIds): unknown[] {
  return [list.length, list.slice(), list.slice(1), list.slice(1, 3), list.slice(0, 2), list.slice(list.length)]
}

/** Every question about these ids and the policies p, P, q, including ids that do not exist; the answers in one order. */
function askEverything(access: Access, ids: readonly string[]): unknown[] {
  const answers: unknown[] = [access.counts()]
  const asked = [...ids, 'ghost']
  for (const policyKind of policyKinds) {
    for (const policy of ['p', 'P', 'q', 'ghost']) {
      answers.push(access.has(policyKind, policy))
      for (const kind of entityKinds) {
        answers.push(access.selectedBy(policyKind, policy, kind), access.countSelected(policyKind, policy, kind))
        answers.push(partsOf(access.selectedList(policyKind, policy, kind)))
      }
    }
    for (const kind of entityKinds) {
      for (const id of asked) answers.push(access.policiesSelecting(policyKind, kind, id))
    }
  }
  for (const kind of entityKinds) {
    const attributes = access.roleAttributes(kind).sort()
    answers.push(attributes)
    for (const attribute of [...attributes, 'nobody has it']) {
      answers.push(access.holdersOf(kind, attribute), access.countHolders(kind, attribute))
    }
  }
  for (const id of asked) {
    for (const kind of entityKinds) answers.push(access.hasAny(kind), access.has(kind, id), access.rolesOf(kind, id))
    answers.push(
      access.grantsOf(id, asked),
      access.separateGrantsOf(id, asked),
      access.servicesOf(id),
      access.identitiesOf(id),
    )
    for (const type of types) answers.push(access.servicesOf(id, type), access.identitiesOf(id, type))
    answers.push(access.edgeRoutersOfIdentity(id), partsOf(access.identitiesOfEdgeRouter(id)))
    answers.push(partsOf(access.identitiesListOf(id)))
    answers.push(access.edgeRoutersOfService(id), access.servicesOfEdgeRouter(id))
    for (const service of asked) {
      for (const type of types) {
        answers.push(access.allows(id, service, type), access.grantingPolicies(id, service, type))
      }
      answers.push(access.grantingPolicies(id, service), access.accessTypes(id, service))
      answers.push(access.commonEdgeRouters(id, service), access.edgeRoutersBetween(id, service))
    }
  }
  return answers
}

const manyIds = Array.from({ length: 1_300 }, (_, number) => `${(number * 7_919) % 1_301}`)

/** Most of many identities, each with the attributes that its number spells in bits: crowded and rare ones. */
const crowd = fc.record({ stride: fc.integer({ min: 1, max: 9 }), rare: fc.constantFrom(3, 20, 100, 300) }).map(
  ({ stride, rare }): Edit =>
    (access) => {
      for (const [number, id] of manyIds.entries()) {
        const bits = ['a', 'b', 'c'].filter((_, bit) => (Math.floor(number / stride) >>> bit) % 2 === 1)
        access.putEntity('identities', { id, roleAttributes: number % rare === 0 ? [...bits, 'rare'] : bits })
      }
    },
)

/** Far more policies than they have different role lists, as organisations make them that have one for each of their customers. */
const manyPolicies = fc.record({ stride: fc.integer({ min: 1, max: 4 }), long: fc.boolean() }).map(
  ({ stride, long }): Edit =>
    (access) => {
      const lists = [['#a'], ['#a', '#b'], ['#c', '@b'], ['#all'], [], ['#b', '#c'], long ? LONG_LIST : ['@B']]
      const list = (number: number) => lists[Math.floor(number / stride) % lists.length] ?? []
      for (let number = 0; number < 150; number += 1) {
        const roles = {
          identities: list(number),
          services: list(number * 3 + 1),
          'posture-checks': list(number * 5 + 4),
        }
        const semantic = number % 3 === 0 ? 'AllOf' : 'AnyOf'
        const type = number % 2 === 0 ? 'Dial' : 'Bind'
        access.putPolicy('service-policies', { id: `many ${number}`, semantic, type, roles })
      }
    },
)

/** A role list that is longer than those that policies share. */
const LONG_LIST = Array.from({ length: 40 }, (_, number) => `@${number}`)

const fewerPolicies = fc.integer({ min: 2, max: 9 }).map(
  (every): Edit =>
    (access) => {
      for (let number = 0; number < 150; number += 1) {
        if (number % every !== 0) access.removePolicy('service-policies', `many ${number}`)
      }
    },
)

const exodus = fc.integer({ min: 2, max: 60 }).map(
  (every): Edit =>
    (access) => {
      for (const [number, id] of manyIds.entries()) if (number % every !== 0) access.removeEntity('identities', id)
    },
)

describe('the access index answers as the matching rule does', () => {
  it(
    'after every step of any sequence of edits',
    () => {
      const start = fc.array(edits(smallIds), { maxLength: 40, size: 'max' })
      const sequence = fc.array(edits(smallIds), { minLength: 1, maxLength: 10, size: 'max' })
      fc.assert(
        fc.property(start, sequence, (beginnings, steps) => {
          const index = new AccessIndex()
          const naive = new NaiveAccess()
          for (const edit of beginnings) {
            edit(index)
            edit(naive)
          }
          for (const edit of steps) {
            edit(index)
            edit(naive)
            expectSame(askEverything(index, smallIds), askEverything(naive, smallIds))
          }
        }),
        runs(3_000, 750),
      )
    },
    patience(600_000),
  )

  it(
    'when many policies grant the same',
    () => {
      const few = fc.array(edits(smallIds), { maxLength: 15, size: 'max' })
      fc.assert(
        fc.property(fc.tuple(few, manyPolicies, few, fewerPolicies, few), ([before, many, between, fewer, after]) => {
          const index = new AccessIndex()
          const naive = new NaiveAccess()
          for (const edit of [...before, many, ...between, fewer, ...after]) {
            edit(index)
            edit(naive)
            const services = [...smallIds, 'ghost']
            for (const id of smallIds) {
              const answers = (access: Access) => [
                access.grantsOf(id, services),
                access.separateGrantsOf(id, services),
                types.map((type) => [access.servicesOf(id, type), access.identitiesOf(id, type)]),
                services.map((service) => access.accessTypes(id, service)),
              ]
              expectSame(answers(index), answers(naive))
            }
          }
        }),
        runs(100, 5),
      )
    },
    patience(600_000),
  )

  it(
    'when a crowd joins and leaves',
    () => {
      const few = edits(manyIds.slice(0, 4))
      const steps = fc.tuple(
        fc.array(few, { maxLength: 12, size: 'max' }),
        crowd,
        fc.array(few, { maxLength: 6 }),
        exodus,
        crowd,
      )
      fc.assert(
        fc.property(steps, ([before, first, between, leave, second]) => {
          const index = new AccessIndex()
          const naive = new NaiveAccess()
          for (const edit of [...before, first, ...between, leave, second]) {
            edit(index)
            edit(naive)
            const asked = manyIds.slice(0, 2)
            expectSame(askEverything(index, asked), askEverything(naive, asked))
          }
        }),
        runs(40, 8),
      )
    },
    patience(600_000),
  )
})

describe('a slot set behaves as a set of numbers', () => {
  const slot = fc.oneof(fc.nat({ max: 90 }), fc.nat({ max: 3_000 }))
  const slots = fc.oneof(
    fc.array(slot, { maxLength: 10 }),
    fc.array(slot, { minLength: 50, maxLength: 300, size: 'max' }),
  )
  const step = fc.record({ does: fc.constantFrom('add', 'delete', 'addAll', 'retainAll', 'removeAll', 'clear'), slots })

  const setOf = (members: readonly number[]): SlotSet => {
    const set = new SlotSet()
    for (const member of members) set.add(member)
    return set
  }

  it(
    'through additions, deletions, unions and intersections',
    () => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 12, size: 'max' }), (steps) => {
          const set = new SlotSet()
          let model = new Set<number>()
          for (const { does, slots: given } of steps) {
            if (does === 'add') for (const one of given) set.add(one)
            if (does === 'delete') for (const one of given) set.delete(one)
            if (does === 'addAll') set.addAll(setOf(given))
            if (does === 'retainAll') set.retainAll(setOf(given))
            if (does === 'add' || does === 'addAll') model = new Set([...model, ...given])
            if (does === 'delete') model = new Set([...model].filter((one) => !given.includes(one)))
            if (does === 'removeAll') set.removeAll(setOf(given))
            if (does === 'clear') set.clear()
            if (does === 'removeAll') model = new Set([...model].filter((one) => !given.includes(one)))
            if (does === 'clear') model = new Set()
            if (does === 'retainAll') model = new Set([...model].filter((one) => given.includes(one)))
            expect(set.size).toBe(model.size)
            expect(set.intersects(setOf(given))).toBe(given.some((one) => model.has(one)))
            expect(set.countWithout(setOf(given))).toBe([...model].filter((one) => !given.includes(one)).length)
            expect(set.slots().sort((a, b) => a - b)).toEqual([...model].sort((a, b) => a - b))
            for (const one of [...given, 0, 31, 32, 5_000]) expect(set.has(one)).toBe(model.has(one))
          }
        }),
        runs(2_000, 500),
      )
    },
    patience(600_000),
  )
})
