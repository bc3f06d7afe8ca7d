/** Milliseconds before the first further try. */
const FIRST_MS = 500
/** Milliseconds beyond which pauses do not grow: a network that is back is noticed this late. */
const LONGEST_MS = 30_000

/**
 * How long to wait before the next try after `failures` of them in a row (1 or more), ms: twice as long each time, up to half a
 * minute, and by `chance` (0 to 1) up to half of that less, so that a thousand endpoints do not come back at once.
 */
export function pauseAfter(failures: number, chance: number): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16))
  return Math.round(whole * (1 - chance / 2))
}

/**
 * When to renew what lasts for `lifetimeMs`, ms from now: after half of it at the earliest and five sixths at the latest, by
 * `chance` (0 to 1), so that renewals of many do not meet and there is time for a second try.
 */
export function renewAfter(lifetimeMs: number, chance: number): number {
  return Math.round(lifetimeMs * (1 / 2 + chance / 3))
}
