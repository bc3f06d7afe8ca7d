/** The bytes that one party may still cause, and how much of it was left out since it was last told. */
export interface Budget {
  readonly bytes: number
  /** Epoch ms to which `bytes` belongs. */
  readonly at: number
  readonly leftOut: number
  /** Epoch ms since which something was left out; 0 while nothing was. */
  readonly since: number
}

/** How many bytes a party may cause in an hour; as many at once. */
export interface Allowance {
  readonly bytesPerHour: number
}

const HOUR_MS = 3_600_000

/** A party that caused nothing yet. */
export function fullBudget({ bytesPerHour }: Allowance, now: number): Budget {
  return { bytes: bytesPerHour, at: now, leftOut: 0, since: 0 }
}

/**
 * Takes `bytes` from a budget at `now` (epoch ms). Where they are not there nothing is taken, and one more is counted as
 * left out.
 */
export function spend(
  budget: Budget,
  { bytesPerHour }: Allowance,
  bytes: number,
  now: number,
): { readonly isAllowed: boolean; readonly budget: Budget } {
  const regained = (Math.max(0, now - budget.at) / HOUR_MS) * bytesPerHour
  const available = Math.min(bytesPerHour, budget.bytes + regained)
  const isAllowed = bytes <= available
  return {
    isAllowed,
    budget: isAllowed
      ? { bytes: available - bytes, at: now, leftOut: 0, since: 0 }
      : { bytes: available, at: now, leftOut: budget.leftOut + 1, since: budget.since || now },
  }
}
