import fc from 'fast-check'
import { expect, it } from 'vitest'
// Internals: the queues alone, so that the test decides who waits and who leaves.
import { createFairCapacity } from '../../src/concurrency/fair-capacity.ts'
import { FairGate } from '../../src/concurrency/gate.ts'

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
    fc.property(
      fc.array(step, { maxLength: 60, size: 'max' }),
      fc.integer({ min: 4, max: 12 }),
      (steps, perNetwork) => {
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
      },
    ),
    { numRuns: 1000 },
  )
})

it('a fair gate lets parties in by turns, one piece of work at a time, also after a failure', async () => {
  const gate = new FairGate(1)
  const order: string[] = []
  let atOnce = 0
  const work = (party: string, name: string) =>
    gate.run(party, 1, async () => {
      atOnce += 1
      expect(atOnce).toBe(1)
      order.push(name)
      await Promise.resolve()
      atOnce -= 1
      if (name === 'a2') throw new Error('second')
      return name
    })
  const all = Promise.allSettled([
    ...['a1', 'a2', 'a3', 'a4'].map((name) => work('a', name)),
    ...['b1', 'b2'].map((name) => work('b', name)),
    work('c', 'c1'),
  ])
  expect(gate.waiting).toBe(6)
  const settled = await all
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  expect(settled.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, true, true, true, true])
  expect([gate.waiting, gate.isIdle]).toEqual([0, true])
  expect(await work('d', 'free again')).toBe('free again')
})

it('lets so much weight run at once, what is heavier alone, and nothing overtakes', async () => {
  const gate = new FairGate(10)
  const running = new Map<string, number>()
  const seen: string[] = []
  const work = (name: string, weight: number) =>
    gate.run(name, weight, async () => {
      running.set(name, weight)
      seen.push([...running.keys()].join('+'))
      await new Promise((resolve) => setTimeout(resolve, 1))
      running.delete(name)
    })
  await Promise.all([work('a', 4), work('b', 6), work('c', 1), work('heavy', 50), work('d', 1), work('e', 9)])
  expect(seen.slice(0, 2)).toEqual(['a', 'a+b'])
  expect(seen).toContain('heavy')
  expect(seen.indexOf('heavy')).toBeLessThan(seen.findIndex((names) => names.startsWith('d')))
  expect(gate.isIdle).toBe(true)
})
