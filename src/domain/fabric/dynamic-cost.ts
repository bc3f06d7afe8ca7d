/** What is remembered of the use of a terminator, to prefer those that are idle and that work. */
export interface TerminatorUse {
  readonly openCircuits: number
  /** Grows with every failed dial and fades. */
  readonly failureCost: number
  /** Epoch ms of the last failed dial. */
  readonly failedAt: number
  /** Epoch ms up to which fading is counted. */
  readonly fadedAt: number
}

const MINUTE_MS = 60_000
const FAILURE_COST = 20
const SUCCESS_CREDIT = 2
const COST_OF_A_CIRCUIT = 2
const LEAST_CREDIT = 10
const CREDIT_DOUBLES_AFTER_MINUTES = 5
const GREATEST_COST = 65_535

export const UNUSED: TerminatorUse = { openCircuits: 0, failureCost: 0, failedAt: 0, fadedAt: 0 }

/** 0 to 65535: twice the open circuits, and what is left of failures at `now` (epoch ms). */
export function dynamicCost(use: TerminatorUse, now: number): number {
  return Math.min(GREATEST_COST, COST_OF_A_CIRCUIT * use.openCircuits + faded(use, now).failureCost)
}

/** What a dial that failed at `now` (epoch ms) makes of the use of a terminator. */
export function dialFailed(use: TerminatorUse, now: number): TerminatorUse {
  const current = faded(use, now)
  const failureCost = Math.min(GREATEST_COST, current.failureCost + FAILURE_COST)
  return { ...current, failureCost, failedAt: now, fadedAt: now }
}

/** What a dial that succeeded at `now` (epoch ms) makes of it: a failure counts for less. */
export function dialSucceeded(use: TerminatorUse, now: number): TerminatorUse {
  const current = faded(use, now)
  const failureCost = Math.max(0, current.failureCost - SUCCESS_CREDIT)
  return { ...current, failureCost, openCircuits: current.openCircuits + 1 }
}

export function circuitEnded(use: TerminatorUse): TerminatorUse {
  return { ...use, openCircuits: Math.max(0, use.openCircuits - 1) }
}

/** Every whole minute takes some of the failure cost away, more with the time since the last failure. */
function faded(use: TerminatorUse, now: number): TerminatorUse {
  let { failureCost, fadedAt } = use
  for (; failureCost > 0 && fadedAt + MINUTE_MS <= now; fadedAt += MINUTE_MS) {
    const minutes = (fadedAt + MINUTE_MS - use.failedAt) / MINUTE_MS
    failureCost = Math.max(0, failureCost - Math.max(LEAST_CREDIT, 2 ** (minutes / CREDIT_DOUBLES_AFTER_MINUTES)))
  }
  return { ...use, failureCost: Math.ceil(failureCost), fadedAt: failureCost > 0 ? fadedAt : now }
}
