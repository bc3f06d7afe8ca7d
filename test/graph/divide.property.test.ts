import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EntityClass } from '../../src/insight/graph/classes.rules.ts'
import { divide, isWithin } from '../../src/insight/reach/divide.rules.ts'

const DEPARTMENTS = ['engineering', 'finance', 'sales', 'legal', 'hr']
const SITES = ['berlin', 'tokyo', 'london']
const POLICIES = 6

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
const classes = fc.array(someClass, { maxLength: 40 })
const most = fc.integer({ min: 2, max: 12 })

function divided(of: readonly EntityClass[], groups: number) {
  const work = divide(of, groups, (policy) => policy % 2 === 0)
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
        expect(found.length).toBeLessThanOrEqual(groups + 1)
        for (const [at, { attributes }] of of.entries()) {
          const group = found[groupOf[at] ?? -1]
          if (group === undefined) throw new Error('a class is in no group')
          const { isRest, partOf } = group
          // Beside the others of the same larger group.
          const others = found.filter((other) => other.partOf.join() === partOf.join())
          const held = (one: typeof group) => attributes.some((attribute) => one.attributes.includes(attribute))
          expect(isRest ? others.some(held) : held(group)).toBe(!isRest)
        }
      }),
    )
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
