/** Milliseconds for which the event loop may be held at once. */
const SLICE_MS = 3

const WAITING: (() => void)[] = []

/** Does some work in a later turn of the event loop: as much of what waits as fits a slice, the rest in the next one. */
export function inSlices(work: () => void): void {
  WAITING.push(work)
  if (WAITING.length === 1) setImmediate(serve)
}

function serve(): void {
  const begun = performance.now()
  let done = 0
  try {
    for (const work of WAITING) {
      if (performance.now() - begun >= SLICE_MS) break
      done += 1
      work()
    }
  } finally {
    WAITING.splice(0, done)
    if (WAITING.length > 0) setImmediate(serve)
  }
}
