/** Ratios of the two trees in the rounds of a workload, judged. */
export interface Judged {
  readonly median: number
  /** The true median is lower than this in one of twenty measurements at most. */
  readonly least: number
}

/** The chance at which a median may seem higher than it is. */
const DOUBT = 0.05

/**
 * Judges ratios without assuming how they are spread: of n rounds each is as likely above the true median as below it, so that
 * all but the lowest few tell a bound. Fewer than five rounds tell none.
 */
export function judged(ratios: readonly number[]): Judged {
  const sorted = [...ratios].sort((one, other) => one - other)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
  let place = -1
  let below = 0
  let chance = 0.5 ** sorted.length
  for (let count = 0; count < sorted.length; count += 1) {
    below += chance
    if (below > DOUBT) break
    place = count
    chance *= (sorted.length - count) / (count + 1)
  }
  return { median, least: sorted[place] ?? 0 }
}
