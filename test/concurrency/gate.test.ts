import fc from 'fast-check'
import { Gate } from 'portcullis/storage'
import { describe, expect, it } from 'vitest'

describe('a gate', () => {
  it('lets work in one after the other in the order in which it came, also after a failure', async () => {
    const gate = new Gate(1)
    const order: number[] = []
    const works = [1, 2, 3, 4].map((turn) =>
      gate.run(async () => {
        order.push(turn)
        await Promise.resolve()
        if (turn === 2) throw new Error('second')
        return turn
      }),
    )
    const settled = await Promise.allSettled(works)
    expect(order).toEqual([1, 2, 3, 4])
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect(await gate.run(async () => 'free again')).toBe('free again')
  })

  it('never begins work before the caller goes on', async () => {
    const gate = new Gate(2)
    let hasBegun = false
    const done = gate.run(async () => {
      hasBegun = true
    })
    expect(hasBegun).toBe(false)
    await done
    expect(hasBegun).toBe(true)
  })

  it('fills all its places and no more, begins in order, and is idle when all have left', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.nat({ max: 5 }), { maxLength: 20, size: 'max' }),
        async (places, lengths) => {
          const gate = new Gate(places)
          const begun: number[] = []
          let running = 0
          let peak = 0
          const works = lengths.map((length, at) =>
            gate.run(async () => {
              begun.push(at)
              running += 1
              peak = Math.max(peak, running)
              for (let step = 0; step <= length; step += 1) await Promise.resolve()
              running -= 1
            }),
          )
          expect(gate.isOpen).toBe(lengths.length < places)
          await gate.idle()
          expect(running).toBe(0)
          await Promise.all(works)
          expect(peak).toBe(Math.min(places, lengths.length))
          expect(begun).toEqual(lengths.map((_, at) => at))
          expect(gate.isOpen).toBe(true)
        },
      ),
    )
  })

  it('forgets who gives up waiting, and is told when a wait is over', async () => {
    const gate = new Gate(1)
    const began: string[] = []
    const giveUps: ((reason: unknown) => void)[] = []
    let ended = 0
    const patience = (giveUp: (reason: unknown) => void) => {
      giveUps.push(giveUp)
      return () => {
        ended += 1
      }
    }
    const place = Promise.withResolvers<void>()
    const first = gate.run(() => place.promise, patience)
    const second = gate.run(async () => void began.push('second'), patience)
    const third = gate.run(async () => void began.push('third'), patience)
    const refused = expect(second).rejects.toThrow('too long')
    await Promise.resolve()
    expect(giveUps).toHaveLength(2)
    giveUps[0]?.(new Error('too long'))
    await refused
    place.resolve()
    await Promise.all([first, third])
    expect({ began, ended }).toEqual({ began: ['third'], ended: 1 })
    // Too late: its work has been done.
    giveUps[1]?.(new Error('too long'))
    await gate.idle()
  })
})
