import { expect, it } from 'vitest'
// Internals: the queue alone, so that the test decides who waits and who leaves.
import { FairGate } from '../../src/concurrency/gate.ts'

it('lets parties in by turns, one piece of work at a time, also after a failure', async () => {
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
