import { expect, it } from 'vitest'
import { FairGate } from '../../src/concurrency/fair-gate.ts'

it('lets parties in by turns, one piece of work at a time, also after a failure', async () => {
  const gate = new FairGate()
  const order: string[] = []
  let atOnce = 0
  const work = (party: string, name: string) =>
    gate.run(party, async () => {
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
  expect(gate.size).toBe(7)
  const settled = await all
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  expect(settled.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, true, true, true, true])
  expect(gate.size).toBe(0)
  expect(await work('d', 'free again')).toBe('free again')
})
