import fc from 'fast-check'
import { expect, it } from 'vitest'
// Internals: a pure rule, tried with every input; a controller would let few of them through.
import { BoundedMap } from '../../src/base/collections.ts'

const step = fc.record({ key: fc.integer({ min: 0, max: 9 }), value: fc.nat(), isDeletion: fc.boolean() })

it('keeps what was set last', () => {
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
