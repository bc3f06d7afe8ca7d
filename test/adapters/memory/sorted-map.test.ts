import fc from 'fast-check'
import { expect, it } from 'vitest'
// Internals: the order of records in memory, held to a sorted list.
import { SortedMap } from '../../../src/platform/memory/sorted-map.ts'

type Step =
  | { readonly kind: 'set'; readonly key: number }
  | { readonly kind: 'delete'; readonly key: number }
  | { readonly kind: 'clone' }
  | { readonly kind: 'turn'; readonly to: number }

const key = fc.nat(2_000)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: key.map((at) => ({ kind: 'set', key: at }) as const) },
  { weight: 6, arbitrary: key.map((at) => ({ kind: 'delete', key: at }) as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'clone' } as const) },
  { weight: 1, arbitrary: fc.nat(20).map((to) => ({ kind: 'turn', to }) as const) },
)

it('is what a map with sorted keys is, and no clone ever sees what another does', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), fc.nat(2_000), (steps, from) => {
      // Runs of 512 keys are halved and emptied too, so it begins with several of them.
      const start = new SortedMap<number, number>((a, b) => a - b)
      const copies = [{ map: start, oracle: new Map<number, number>() }]
      for (let at = 0; at < 1_500; at += 1) {
        start.set((at * 7) % 2_001, at)
        copies[0]?.oracle.set((at * 7) % 2_001, at)
      }
      let current = 0
      steps.forEach((next, number) => {
        const copy = copies[current]
        if (copy === undefined) throw new Error('no such copy')
        if (next.kind === 'set') {
          copy.map.set(next.key, number)
          copy.oracle.set(next.key, number)
        } else if (next.kind === 'delete') {
          expect(copy.map.delete(next.key)).toBe(copy.oracle.delete(next.key))
        } else if (next.kind === 'clone') {
          copies.push({ map: copy.map.clone(), oracle: new Map(copy.oracle) })
        } else current = next.to % copies.length
      })
      for (const { map, oracle } of copies) {
        const keys = [...oracle.keys()].sort((a, b) => a - b)
        expect([...map.keys()]).toEqual(keys)
        expect([...map.values()]).toEqual(keys.map((at) => oracle.get(at)))
        expect([...map.keys(from)]).toEqual(keys.filter((at) => at >= from))
        expect(map.size).toBe(oracle.size)
        expect([map.get(from), map.has(from)]).toEqual([oracle.get(from), oracle.has(from)])
      }
    }),
    { numRuns: 60 },
  )
})
