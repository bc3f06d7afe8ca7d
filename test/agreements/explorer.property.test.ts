import fc from 'fast-check'
import { expect, it, onTestFinished, vi } from 'vitest'
import { patience, runs } from '../support/property-runs.ts'
import { anyFaultAt, faultsAt } from './placed-fault.ts'
import { PlayedPage } from './played-page.ts'

const MINUTE_MS = 60_000
/** Milliseconds within which each request goes on: a turn, an answer, and what other tabs are given to hear of it. */
const SETTLED_MS = 30_000
const anyDeed = fc.constantFrom('requests', 'waits', 'waits long', 'another tab renews', 'another tab sleeps')

it(
  'a page of the explorer goes on or is told that it cannot, whatever exchange of tokens fails or hangs, and whichever tab sleeps',
  async () => {
    vi.useFakeTimers()
    onTestFinished(() => {
      vi.useRealTimers()
      vi.unstubAllGlobals()
      vi.restoreAllMocks()
      vi.resetModules()
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyDeed, { minLength: 1, maxLength: 6 }),
        fc.array(anyFaultAt(['token']), { minLength: 0, maxLength: 4 }),
        async (deeds, faults) => {
          const page = await PlayedPage.open()
          page.faultOf = faultsAt(faults)
          await vi.advanceTimersByTimeAsync(29.5 * MINUTE_MS)
          for (const deed of deeds) {
            if (deed === 'another tab renews') page.othersHaveTheTurn(2000)
            if (deed === 'another tab sleeps') page.othersHaveTheTurn(Number.POSITIVE_INFINITY)
            if (deed === 'requests') {
              const outcome = page.request()
              await vi.advanceTimersByTimeAsync(SETTLED_MS)
              expect(outcome()).toBeDefined()
            }
            await vi.advanceTimersByTimeAsync(deed === 'waits long' ? 29 * MINUTE_MS : 1000)
          }
          page.faultOf = () => undefined
          const outcome = page.request()
          await vi.advanceTimersByTimeAsync(SETTLED_MS)
          const expected = page.isOver && !page.wasSigned ? 'refused' : 'signed'
          expect(outcome()).toBe(expected)
        },
      ),
      {
        ...runs(300, 12),
        // A tab that slept with its turn kept each other one from a request for ever, once its token had ended.
        examples: [[['another tab sleeps', 'waits long', 'requests'], []]],
      },
    )
  },
  patience(120_000),
)
