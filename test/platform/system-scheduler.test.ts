import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import { createScheduler } from '../../src/platform/system-runtime.ts'

const DAY = 24 * 60 * 60 * 1000

describe('timers of the host', () => {
  it('go off at their instant, not before it by the clock', async () => {
    const scheduler = createScheduler({ now: () => Date.now() })
    const at = Date.now() + 25
    const wentOffAt = await new Promise<number>((resolve) => {
      scheduler.at(at, async () => resolve(Date.now()))
    })
    expect(wentOffAt).toBeGreaterThanOrEqual(at)
  })

  it('go off soon when their instant is past', async () => {
    const scheduler = createScheduler({ now: () => 1000 })
    await new Promise<void>((resolve) => {
      scheduler.at(0, async () => resolve())
    })
  })

  it.each([
    ['more than 24.8 days away', 25 * DAY],
    ['a century away', 36_525 * DAY],
  ])('do not go off early when they are %s', async (_, distance) => {
    const scheduler = createScheduler({ now: () => 0 })
    let isOff = false
    const cancel = scheduler.at(distance, async () => {
      isOff = true
    })
    await sleep(20)
    cancel()
    expect(isOff).toBe(false)
  })

  it('never go off once cancelled', async () => {
    let isOff = false
    createScheduler({ now: () => 0 }).at(5, async () => {
      isOff = true
    })()
    await sleep(20)
    expect(isOff).toBe(false)
  })
})
