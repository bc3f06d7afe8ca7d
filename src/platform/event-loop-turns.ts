import type { Turns } from '../ports/turns.ts'

/** How long work may hold the event loop at once, in ms. */
const SLICE_MS = 3

/** Node lets input in before it calls back; a timer, which every host has, waits a millisecond at least. */
function callLater(work: () => void): void {
  if ('setImmediate' in globalThis) setImmediate(work)
  else setTimeout(work, 0)
}

/** Turns of the host's event loop. */
export const eventLoopTurns: Turns = {
  begin() {
    let since = performance.now()
    return () => (performance.now() - since < SLICE_MS ? undefined : nextTurn())

    async function nextTurn(): Promise<void> {
      await new Promise<void>((resolve) => callLater(resolve))
      since = performance.now()
    }
  },
}
