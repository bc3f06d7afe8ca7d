import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
// Internals: the grouping of the access map alone, compared with an oracle over random networks.
import { ClassTable, type EntityClass } from '../../src/facts/insight/graph/classes.rules.ts'
import { type GraphPolicy, type GroupedKind, RolePolicies } from '../../src/facts/insight/graph/role-policies.rules.ts'
import { divide, isWithin } from '../../src/facts/insight/reach/divide.rules.ts'
import { Partition } from '../../src/insight/reach/partition.ts'

const DEPARTMENTS = ['engineering', 'finance', 'sales', 'legal', 'hr']
const SITES = ['berlin', 'tokyo', 'london']
const POLICIES = 6
/** The most parts that a large rest is divided into where the others leave no room. */
const PLACES_OF_REST = 4

/** A class as companies have them: a department, perhaps a site and what else somebody is given, and some policies. */
const someClass = fc.record({
  attributes: fc
    .tuple(
      fc.option(fc.constantFrom(...DEPARTMENTS), { nil: undefined }),
      fc.option(fc.constantFrom(...SITES), { nil: undefined }),
      fc.subarray(['on-call', 'laptops', 'admins']),
    )
    .map(([department, site, others]) => [department, site, ...others].filter((one) => one !== undefined).sort()),
  policies: fc.subarray([...Array(POLICIES).keys()]),
  count: fc.integer({ min: 1, max: 500 }),
})
const classes = fc.array(someClass, { maxLength: 40, size: 'max' })
const most = fc.integer({ min: 2, max: 12 })

/** A company whose people have a department, a site, a contract, a device and sometimes a privilege, each more often the first. */
function company(size: number): readonly EntityClass[] {
  let seed = 42
  const random = () => {
    seed = (seed * 1664525 + 1013904223) >>> 0
    return seed / 2 ** 32
  }
  const often = (names: readonly string[]) => names[Math.floor(random() ** 1.6 * names.length)] ?? ''
  const some = (kind: string, count: number) => Array.from({ length: count }, (_, at) => `${kind}-${at}`)
  const [departments, sites] = [some('department', 10), some('site', 6)]
  const found = new Map<string, { attributes: readonly string[]; policies: readonly number[]; count: number }>()
  for (let person = 0; person < size; person += 1) {
    const privileges = some('privilege', 4).filter(() => random() < 0.05)
    const held = [often(departments), often(sites), often(['staff', 'contractors']), often(['laptops', 'phones'])]
    const attributes = (random() < 0.02 ? [] : [...held, ...privileges]).sort()
    const known = found.get(attributes.join()) ?? { attributes, policies: [], count: 0 }
    const policies = departments.flatMap((one, at) => (attributes.includes(one) ? [at, at + 10] : []))
    found.set(attributes.join(), { attributes, policies, count: known.count + 1 })
  }
  return [...found.values()]
}

function divided(of: readonly EntityClass[], groups: number) {
  const work = divide(of, { most: groups, isOfType: (policy) => policy % 2 === 0 })
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

describe('dividing a scope into groups', () => {
  it('puts each class into the one group whose scope it fulfils, and counts it there', () => {
    fc.assert(
      fc.property(classes, most, (of, groups) => {
        const { groups: found, groupOf, count } = divided(of, groups)
        const counts = found.map(() => 0)
        for (const [at, { attributes, count: size }] of of.entries()) {
          const fulfilled = [...found.keys()].filter((place) => isWithin(attributes, found[place]?.steps ?? []))
          expect(fulfilled).toEqual([groupOf[at]])
          counts[fulfilled[0] ?? -1] = (counts[fulfilled[0] ?? -1] ?? 0) + size
        }
        expect(found.map((group) => group.count)).toEqual(counts)
        expect(count).toBe(of.reduce((sum, one) => sum + one.count, 0))
      }),
    )
  })

  it('makes no more groups than it was asked for, beside one rest that has none of what the others have', () => {
    fc.assert(
      fc.property(classes, most, (of, groups) => {
        const { groups: found, groupOf } = divided(of, groups)
        expect(found.length).toBeLessThanOrEqual(groups + PLACES_OF_REST + 1)
        for (const [at, { attributes }] of of.entries()) {
          const group = found[groupOf[at] ?? -1]
          if (group === undefined) throw new Error('a class is in no group')
          const { isRest } = group
          const others = found.filter((other) => other !== group)
          const held = (one: typeof group) => attributes.some((attribute) => one.attributes.includes(attribute))
          expect(isRest ? others.some(held) : held(group)).toBe(!isRest)
        }
      }),
    )
  })

  it('leaves no tenth in a rest, in whatever group of a company is opened, unless all of it have the same', () => {
    const opened: string[] = []
    const open = (of: readonly EntityClass[], path: string) => {
      const { groups, count } = divided(of, 12)
      opened.push(path)
      for (const { isRest, attributes, count: size } of groups) {
        const isVague = isRest && groups.length > 1 && attributes.length === 0
        expect([path, isVague && size > count / 10]).toEqual([path, false])
      }
      if (groups.length === 1) return
      for (const { steps, attributes } of groups) {
        open(
          of.filter((one) => isWithin(one.attributes, steps)),
          `${path} > ${attributes.join('+') || 'rest'}`,
        )
      }
    }
    open(company(500), 'everybody')
    open(company(3000), 'everybody')
    expect(opened.length).toBeGreaterThan(200)
  })

  it('divides a group that is opened into groups that hold all of it', () => {
    fc.assert(
      fc.property(classes, most, (of, groups) => {
        for (const { steps, count } of divided(of, groups).groups) {
          const members = of.filter(({ attributes }) => isWithin(attributes, steps))
          const inner = divided(members, groups)
          expect(inner.groups.reduce((sum, group) => sum + group.count, 0)).toBe(count)
        }
      }),
    )
  })
})

const PEOPLE = [
  ['anna', ['staff', 'berlin']],
  ['ben', ['staff']],
  ['guest', []],
] as const

function policy(id: string, from: readonly string[], more: Partial<GraphPolicy> = {}): GraphPolicy {
  return { id, name: id, type: 'Dial', semantic: 'AnyOf', from, to: ['#books'], isGuarded: false, ...more }
}

function done<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/** A network whose identities have the classes of a table, as of some policies. */
function network(policies: readonly GraphPolicy[], table: ClassTable, before?: Partition): Partition {
  const kinds = new Map([['identities' as GroupedKind, table.current]])
  return new Partition({ policies, place: { revision: 1 } }, kinds, before)
}

function tableOf(policies: readonly GraphPolicy[]): ClassTable {
  const table = new ClassTable(new RolePolicies(policies, 'identities'))
  done(table.put(PEOPLE))
  return table
}

describe('what is kept of a view when policies change', () => {
  it('is the classes that they select as before, and the groups made of these', () => {
    const before = [policy('one', ['#staff']), policy('two', ['#berlin'])]
    const table = tableOf(before)
    const first = network(before, table)
    const classes = table.current
    const after = [policy('one', ['#staff'], { to: ['#other'] }), policy('two', ['#berlin'])]
    done(table.select(new RolePolicies(after, 'identities')))
    expect(table.current).toBe(classes)
    expect(network(after, table, first).sides.get('identities')).toBe(first.sides.get('identities'))
  })

  it('is no group where a policy grants another kind of access, or selects others', () => {
    const before = [policy('one', ['#staff']), policy('two', ['#berlin'])]
    const table = tableOf(before)
    const first = network(before, table)
    const bind = [policy('one', ['#staff'], { type: 'Bind' }), policy('two', ['#berlin'])]
    done(table.select(new RolePolicies(bind, 'identities')))
    expect(network(bind, table, first).sides.get('identities')).not.toBe(first.sides.get('identities'))
    const others = [policy('one', ['#berlin']), policy('two', ['#berlin'])]
    done(table.select(new RolePolicies(others, 'identities')))
    expect(network(others, table, first).sides.get('identities')).not.toBe(first.sides.get('identities'))
  })

  it('selects by more policies than a word has bits, in order and each once', () => {
    const many = Array.from({ length: 100 }, (_, at) =>
      policy(`p${at}`, at % 3 === 0 ? ['#staff', '#berlin'] : ['#no']),
    )
    const all = [...many, policy('everybody', ['#all']), policy('both', ['#staff', '#berlin'], { semantic: 'AllOf' })]
    const selecting = (attributes: readonly string[]) => new RolePolicies(all, 'identities').selecting(attributes)
    const thirds = Array.from({ length: 34 }, (_, at) => at * 3)
    expect(selecting(['staff', 'berlin'])).toEqual([...thirds, 100, 101])
    expect(selecting(['berlin'])).toEqual([...thirds, 100])
    expect(selecting([])).toEqual([100])
  })
})
