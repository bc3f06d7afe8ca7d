import fc from 'fast-check'
import { expect, it } from 'vitest'
// Internals: the queue alone, so that the test decides who waits and who leaves.
import { createFairCapacity } from '../../src/concurrency/fair-capacity.ts'

/** The act of somebody: comes in, takes more, begins to work or to wait, or leaves. `who` picks one of those present. */
const step = fc.record({
  what: fc.constantFrom('enter', 'enter', 'take', 'take', 'take', 'work', 'wait', 'leave'),
  who: fc.nat(30),
  network: fc.constantFrom('a', 'b', 'c'),
  amount: fc.integer({ min: 1, max: 6 }),
})

interface Present {
  readonly id: number
  readonly network: string
  taken: number
  isWaiting: boolean
  since: number
}

const sum = (present: readonly Present[]) => present.reduce((total, { taken }) => total + taken, 0)

/** The same as a list: who has to go after somebody took more. */
function toGo(present: readonly Present[], own: string, total: number, perNetwork: number): Present | undefined {
  const of = (network: string) => present.filter((one) => one.network === network)
  const first = (some: readonly Present[]) =>
    some.filter(({ isWaiting }) => isWaiting).sort((a, b) => a.since - b.since)[0]
  if (present.length < 2) return undefined
  const ofOwn = first(of(own))
  if (sum(of(own)) > perNetwork && ofOwn !== undefined) return ofOwn
  if (sum(present) <= total) return undefined
  const candidates = ['a', 'b', 'c'].flatMap((network) => first(of(network)) ?? [])
  const heaviest = Math.max(...candidates.map(({ network }) => sum(of(network))))
  return first(candidates.filter(({ network }) => sum(of(network)) === heaviest))
}

it('who takes more than is left gets it from the network that holds most', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 4, max: 12 }), (steps, perNetwork) => {
      const total = 12
      const capacity = createFairCapacity({ total, perNetwork })
      const holders = new Map<number, ReturnType<typeof capacity.enter>>()
      const putOut: number[] = []
      const expected: number[] = []
      let present: Present[] = []
      for (const [at, { what, who, network, amount }] of steps.entries()) {
        const one = present[who % Math.max(present.length, 1)]
        if (what === 'enter') {
          present.push({ id: at, network, taken: 0, isWaiting: true, since: at })
          holders.set(
            at,
            capacity.enter(network, () => putOut.push(at)),
          )
        } else if (one !== undefined) {
          const holder = holders.get(one.id)
          if (what === 'take') {
            one.taken += amount
            for (;;) {
              const victim = toGo(present, one.network, total, perNetwork)
              if (victim === undefined) break
              expected.push(victim.id)
              present = present.filter((other) => other !== victim)
            }
            holder?.take(amount)
          } else if (what === 'leave') {
            present = present.filter((other) => other !== one)
            holder?.leave()
            holder?.take(5)
          } else {
            one.isWaiting = what === 'wait'
            if (what === 'wait') one.since = at
            holder?.[what]()
          }
        }
        expect(putOut).toEqual(expected)
        const nobodyCanGo = present.length < 2 || present.every(({ isWaiting }) => !isWaiting)
        if (what === 'take') expect(sum(present) <= total || nobodyCanGo).toBe(true)
      }
    }),
    { numRuns: 1000 },
  )
})
