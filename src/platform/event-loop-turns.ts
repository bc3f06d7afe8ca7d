import type { Turns } from '../ports/turns.ts'

/** How long work may hold the event loop at once, in ms. */
const SLICE_MS = 3

/** Turns of the host's event loop. */
export const eventLoopTurns: Turns = {
  begin() {
    let since = performance.now()
    return () => (performance.now() - since < SLICE_MS ? undefined : nextTurn())

    async function nextTurn(): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, 0))
      since = performance.now()
    }
  },
}
