import { beforeEach, expect, it, vi } from 'vitest'
import { EVENT_LOOP_TURNS } from '../../src/platform/system-runtime.ts'

/** Milliseconds that work may hold the loop for, and that one piece of the work of these tests takes. */
const SLICE_MS = 3
const PIECE_MS = 1

/** The time that the pieces of these tests take passes, and none else. */
let now = 0
let sinceTurn = 0
let longest = 0

beforeEach(() => {
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now)
  return () => spy.mockRestore()
})

function piece(): void {
  now += PIECE_MS
  sinceTurn += PIECE_MS
  longest = Math.max(longest, sinceTurn)
}

/** Looks whether the loop turns until the work is over. */
async function watched(work: readonly Promise<void>[]): Promise<number> {
  let isOver = false
  longest = 0
  const look = () => {
    sinceTurn = 0
    if (!isOver) setImmediate(look)
  }
  look()
  await Promise.all(work)
  isOver = true
  return longest
}

async function longWork(pieces: number): Promise<void> {
  const turn = EVENT_LOOP_TURNS.begin()
  for (let count = 0; count < pieces; count += 1) {
    piece()
    await turn()
  }
}

it('work that is done at once shares a slice: together it holds the loop hardly longer than one alone', async () => {
  const alone = await watched([longWork(40)])
  expect(alone).toBeGreaterThanOrEqual(SLICE_MS)
  const together = await watched(Array.from({ length: 16 }, () => begunLater()))
  expect(together).toBeLessThanOrEqual(alone + PIECE_MS)
})

/** Work that begins in a turn of its own, as that of a request does. */
async function begunLater(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  await EVENT_LOOP_TURNS.begin()()
  return longWork(20)
}

it('who waits for a slice goes on in the order of arrival', async () => {
  const turn = EVENT_LOOP_TURNS.begin()
  for (let count = 0; count < SLICE_MS / PIECE_MS; count += 1) piece()
  const order: number[] = []
  const waiting = Array.from({ length: 8 }, async (_, number) => {
    await EVENT_LOOP_TURNS.begin()()
    order.push(number)
    // Whoever goes on uses the slice up.
    for (let count = 0; count < SLICE_MS / PIECE_MS; count += 1) piece()
  })
  await Promise.all([turn(), ...waiting])
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

it('work that goes on in several places waits once, and goes on in all of them together', async () => {
  const turn = EVENT_LOOP_TURNS.begin()
  for (let count = 0; count < SLICE_MS / PIECE_MS; count += 1) piece()
  const waits = [turn(), turn(), turn()]
  expect(waits[0]).toBeInstanceOf(Promise)
  expect(new Set(waits).size).toBe(1)
  await waits[0]
  expect(turn()).toBeUndefined()
})
