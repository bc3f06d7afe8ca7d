import { describe, expect, it } from 'vitest'
// Internals: the queue alone, so that the test decides who waits and who leaves.
import { LoopTurns } from '../../src/concurrency/loop-turns.ts'

/** Milliseconds of long work in one turn of the event loop. */
const SLICE_MS = 3

/** An event loop by hand: `endTurn` goes on to the next turn, and waits until its work is done. */
function handLoop() {
  let now = 0
  const planned: (() => void)[] = []
  const soon = (work: () => void) => queueMicrotask(() => process.nextTick(work))
  const turns = new LoopTurns({ now: () => now, later: (work) => planned.push(work), soon })
  const endTurn = async () => {
    for (const work of planned.splice(0)) work()
    // Everything that goes on at once has done so when an immediate is called.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    turns,
    planned,
    spend: (ms: number) => {
      now += ms
    },
    endTurn,
    async endAll(works: readonly Promise<unknown>[]) {
      let isOver = false
      const all = Promise.all(works).finally(() => {
        isOver = true
      })
      while (!isOver) await endTurn()
      await all
    },
  }
}

/** Work of some steps of a millisecond each, which looks at its turn after each. */
async function work({ turns, spend }: ReturnType<typeof handLoop>, steps: number, onStep: () => void): Promise<void> {
  const turn = turns.begin()
  for (let step = 0; step < steps; step += 1) {
    spend(1)
    onStep()
    await turn()
  }
}

describe('turns of the event loop', () => {
  it('let a turn do one slice of the work of all callers, however many begin in it', async () => {
    const loop = handLoop()
    let steps = 0
    const callers = Array.from({ length: 16 }, () => work(loop, 10, () => (steps += 1)))
    await new Promise((resolve) => setImmediate(resolve))
    // Each that begins does one step before it first looks, and the first ones do a second one.
    expect(steps).toBeLessThan(16 + SLICE_MS)
    while (steps < 160) {
      const before = steps
      await loop.endTurn()
      expect(steps - before).toBeLessThanOrEqual(SLICE_MS)
    }
    await loop.endAll(callers)
  })

  it('hand the thread to one caller after the other', async () => {
    const loop = handLoop()
    const order: string[] = []
    const callers = ['anna', 'berta', 'carla'].map((name) => work(loop, 9, () => order.push(name)))
    await loop.endAll(callers)
    const slices = order.filter((name, place) => name !== order[place - 1])
    expect(slices.slice(-3)).toEqual(slices.slice(-6, -3))
    expect(new Set(slices.slice(-3)).size).toBe(3)
  })

  it('let short work go before all slices of long work', async () => {
    const loop = handLoop()
    let longSteps = 0
    const long = Array.from({ length: 16 }, () => work(loop, 30, () => (longSteps += 1)))
    await loop.endTurn()
    await loop.endTurn()
    let isDone = false
    const short = work(loop, 2, () => undefined).then(() => {
      isDone = true
    })
    let turns = 0
    for (; !isDone; turns += 1) await loop.endTurn()
    // It waits behind those that have not had a slice yet at most, of which every second turn is.
    expect(turns).toBeLessThanOrEqual(2 * 16)
    expect(longSteps).toBeLessThan(16 * 30)
    await loop.endAll([...long, short])
  })

  it('resume as many pieces in one turn as its slice has time for', async () => {
    const loop = handLoop()
    let resumed = 0
    const callers = Array.from({ length: 100 }, async () => {
      const turn = loop.turns.begin()
      loop.spend(SLICE_MS)
      await turn()
      loop.spend(SLICE_MS / 6)
      resumed += 1
    })
    let turns = 0
    for (; resumed < callers.length; turns += 1) await loop.endTurn()
    expect(turns).toBeLessThanOrEqual(100 / 6 + 2)
    await loop.endAll(callers)
  })

  it('resume only a few in one turn whose steps come after a read that takes longer than the turn', async () => {
    const loop = handLoop()
    let resumed = 0
    const callers = Array.from({ length: 100 }, async () => {
      const turn = loop.turns.begin()
      loop.spend(SLICE_MS)
      await turn()
      resumed += 1
    })
    await loop.endTurn()
    expect(resumed).toBeLessThanOrEqual(8)
    await loop.endAll(callers)
  })

  it('let work of several places of one caller wait once, and go on in all of them together', async () => {
    const loop = handLoop()
    const turn = loop.turns.begin()
    loop.spend(SLICE_MS - 1)
    expect(turn()).toBeUndefined()
    loop.spend(1)
    const waits = [turn(), turn(), turn()]
    expect(waits[0]).toBeInstanceOf(Promise)
    expect(new Set(waits).size).toBe(1)
    await loop.endTurn()
    await waits[0]
    expect(turn()).toBeUndefined()
  })

  it('plan nothing while no work is under way', async () => {
    const loop = handLoop()
    const turn = loop.turns.begin()
    expect(loop.planned).toHaveLength(1)
    await loop.endTurn()
    expect(loop.planned).toHaveLength(0)
    loop.spend(1000)
    expect(turn()).toBeUndefined()
  })
})
