import { vi } from 'vitest'

/** Longest wait (ms) where a test names none: what takes milliseconds on a machine of one's own takes seconds on a busy one. */
const PATIENCE_MS = 15_000

const { waitFor } = vi

// Workers run many files, each of which has this executed again.
if (waitFor.name !== 'waitPatiently') {
  vi.waitFor = function waitPatiently(check, options = PATIENCE_MS) {
    return waitFor(check, options)
  }
}
