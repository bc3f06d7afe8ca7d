import fc from 'fast-check'
import { expect, it } from 'vitest'
// Internals: collections of the ground floor, held to plain maps and lists.
import { BoundedMap } from '../../src/base/collections.ts'
import { foldName, NameOrder } from '../../src/base/name-order.ts'

const step = fc.record({ key: fc.integer({ min: 0, max: 9 }), value: fc.nat(), isDeletion: fc.boolean() })

it('a bounded map keeps what was set last', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step), (most, steps) => {
      const map = new BoundedMap<number, number>(most)
      let kept: { readonly key: number; readonly value: number }[] = []
      for (const { key, value, isDeletion } of steps) {
        kept = kept.filter((entry) => entry.key !== key)
        if (isDeletion) map.delete(key)
        else {
          map.set(key, value)
          kept = [...kept, { key, value }].slice(-most)
        }
        expect([...map]).toEqual(kept.map((entry) => [entry.key, entry.value]))
        expect(map.size).toBe(kept.length)
        for (let other = 0; other < 10; other++) {
          expect(map.get(other)).toBe(kept.find((entry) => entry.key === other)?.value)
        }
      }
    }),
  )
})

const write = fc.record({ id: fc.nat({ max: 900 }), name: fc.string({ maxLength: 3 }), isRemoved: fc.boolean() })

it('a name order lists names in order, without regard to case, however they were written', () => {
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
