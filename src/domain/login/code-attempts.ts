/** Limits on wrong one-time codes: so many within so many milliseconds. The daily one makes guessing hopeless. */
const CODE_LIMITS = [
  { failures: 10, withinMs: 5 * 60_000 },
  { failures: 50, withinMs: 24 * 60 * 60_000 },
] as const

const LONGEST_MS = Math.max(...CODE_LIMITS.map(({ withinMs }) => withinMs))

/**
 * How long (ms) no code is looked at, given when codes were wrong (epoch ms, oldest first); 0 when one may be tried at
 * `now`.
 */
export function codeLockoutMs(failedAt: readonly number[], now: number): number {
  const waits = CODE_LIMITS.map(({ failures, withinMs }) => {
    const decisive = failedAt.at(-failures)
    return decisive === undefined ? 0 : decisive + withinMs - now
  })
  return Math.max(0, ...waits)
}

/** The failures that still count after another one at `now`. */
export function withFailedCode(failedAt: readonly number[], now: number): readonly number[] {
  return [...failedAt.filter((at) => now - at < LONGEST_MS), now]
}
