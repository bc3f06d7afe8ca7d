import fc from 'fast-check'
import { expect, it } from 'vitest'
// Internals: a pure rule, tried with every input; a controller would let few of them through.
import { foldName, NameOrder } from '../../src/base/name-order.ts'

const write = fc.record({ id: fc.nat({ max: 900 }), name: fc.string({ maxLength: 3 }), isRemoved: fc.boolean() })

it('lists names in order, without regard to case, however they were written', () => {
  fc.assert(
    fc.property(fc.array(write, { maxLength: 3000, size: 'max' }), (writes) => {
      const order = new NameOrder()
      const names = new Map<string, string>()
      for (const { id, name, isRemoved } of writes) {
        const key = `i${id}`
        if (isRemoved) {
          order.remove(key)
          names.delete(key)
        } else {
          order.put(key, name)
          names.set(key, name)
        }
      }
      const expected = [...names]
        .map(([id, name]) => ({ id, name, folded: foldName(name) }))
        .sort((a, b) => (a.folded === b.folded ? (a.id < b.id ? -1 : 1) : a.folded < b.folded ? -1 : 1))
      const listed = []
      for (let place = { folded: '', id: '' }; ; ) {
        const page = order.after(place)
        const last = page.at(-1)
        if (last === undefined) break
        listed.push(...page)
        place = last
      }
      expect(listed).toEqual(expected)
      expect(order.size).toBe(names.size)
      for (const [id, name] of names) expect(order.get(id)?.name).toBe(name)
    }),
    { numRuns: 10 },
  )
})
