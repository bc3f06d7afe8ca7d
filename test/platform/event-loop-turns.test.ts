import { beforeEach, expect, it, vi } from 'vitest'
import { EVENT_LOOP_TURNS } from '../../src/platform/system-runtime.ts'

/** Milliseconds after which work lets others have the loop. */
const SLICE_MS = 3

let now = 0

beforeEach(() => {
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now)
  return () => spy.mockRestore()
})

it('work that goes on in several places shares a slice, waits once, and goes on in all of them together', async () => {
  const turn = EVENT_LOOP_TURNS.begin()
  now += SLICE_MS - 1
  expect(turn()).toBeUndefined()
  now += 1
  const waits = [turn(), turn(), turn()]
  expect(waits[0]).toBeInstanceOf(Promise)
  expect(new Set(waits).size).toBe(1)
  await waits[0]
  expect(turn()).toBeUndefined()
})
