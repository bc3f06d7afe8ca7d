import { MINUTE_MS } from '../../../base/time.ts'
/** The rank in which terminators are tried. */
export type Precedence = 'required' | 'default' | 'failed'
export type TerminatorStrategy = 'smartrouting' | 'random' | 'weighted' | 'sticky'

/** A reachable terminator, with the cost of a circuit to it. */
export interface Candidate {
  readonly id: string
  readonly routerId: string
  readonly precedence: Precedence
  /** Static and dynamic cost of the terminator and cost of the path to its router. */
  readonly cost: number
}

/** The facts that a choice may depend on, in addition to the candidates. */
export interface ChoiceFacts {
  /** The terminator that an earlier circuit of the client went to, for `sticky`. */
  readonly stickTo?: string | undefined
  /** At least 0, less than 1. */
  readonly random: number
}

const ORDER: readonly Precedence[] = ['required', 'default', 'failed']

/**
 * Chooses a reachable terminator by the strategy of the service; undefined without candidates. A better precedence always wins. Within it,
 * the choice is the least cost (`smartrouting`), random (`random`), random with a preference for low cost (`weighted`), or the client's
 * previous terminator (`sticky`).
 */
export function chooseTerminator<C extends Candidate>(
  strategy: TerminatorStrategy,
  candidates: readonly C[],
  { stickTo, random }: ChoiceFacts,
): C | undefined {
  const best = bestPrecedence(candidates)
  const cheapest = best.reduce<C | undefined>((least, next) => (isBefore(next, least) ? next : least), undefined)
  switch (strategy) {
    case 'smartrouting':
      return cheapest
    case 'sticky':
      return best.find(({ id }) => id === stickTo) ?? cheapest
    case 'random':
      return best[Math.floor(random * best.length)]
    case 'weighted':
      return weighted(best, random)
  }
}

function bestPrecedence<C extends Candidate>(candidates: readonly C[]): readonly C[] {
  for (const precedence of ORDER) {
    const equals = candidates.filter((candidate) => candidate.precedence === precedence)
    if (equals.length > 0) return equals
  }
  return []
}

function isBefore(candidate: Candidate, other: Candidate | undefined): boolean {
  if (other === undefined || candidate.cost !== other.cost) return other === undefined || candidate.cost < other.cost
  return candidate.id < other.id
}

/** The probability of a candidate is proportional to the other candidates' share of all costs; a cost of 0 counts as 1. */
function weighted<C extends Candidate>(candidates: readonly C[], random: number): C | undefined {
  const costs = candidates.map(({ cost }) => Math.max(1, cost))
  const total = costs.reduce((sum, cost) => sum + cost, 0)
  let left = random * (candidates.length - 1)
  for (const [position, candidate] of candidates.entries()) {
    left -= 1 - (costs[position] ?? 0) / total
    if (left < 0) return candidate
  }
  return candidates.at(-1)
}

/** The recent use of a terminator, by which idle and working terminators are preferred. */
export interface TerminatorUse {
  readonly openCircuits: number
  /** Grows with every failed dial, and fades with time. */
  readonly failureCost: number
  /** Epoch ms of the last failed dial. */
  readonly failedAt: number
  /** The instant of the last fading, epoch ms. */
  readonly fadedAt: number
}

const FAILURE_COST = 20
const SUCCESS_CREDIT = 2
const COST_OF_A_CIRCUIT = 2
const LEAST_CREDIT = 10
const CREDIT_DOUBLES_AFTER_MINUTES = 5
const GREATEST_COST = 65_535

export const UNUSED: TerminatorUse = { openCircuits: 0, failureCost: 0, failedAt: 0, fadedAt: 0 }

/** The cost, 0 to 65535: twice the open circuits, plus the remaining failure cost at `now` (epoch ms). */
export function dynamicCost(use: TerminatorUse, now: number): number {
  return Math.min(GREATEST_COST, COST_OF_A_CIRCUIT * use.openCircuits + faded(use, now).failureCost)
}

/** Changes the use of a terminator by a dial that failed at `now` (epoch ms). */
export function dialFailed(use: TerminatorUse, now: number): TerminatorUse {
  const current = faded(use, now)
  const failureCost = Math.min(GREATEST_COST, current.failureCost + FAILURE_COST)
  return { ...current, failureCost, failedAt: now, fadedAt: now }
}

/** Changes the use of a terminator by a dial that succeeded at `now` (epoch ms): a failure counts for less. */
export function dialSucceeded(use: TerminatorUse, now: number): TerminatorUse {
  const current = faded(use, now)
  const failureCost = Math.max(0, current.failureCost - SUCCESS_CREDIT)
  return { ...current, failureCost, openCircuits: current.openCircuits + 1 }
}

export function circuitEnded(use: TerminatorUse): TerminatorUse {
  return { ...use, openCircuits: Math.max(0, use.openCircuits - 1) }
}

/** Each full minute reduces the failure cost, faster with time since the last failure. */
function faded(use: TerminatorUse, now: number): TerminatorUse {
  let { failureCost, fadedAt } = use
  for (; failureCost > 0 && fadedAt + MINUTE_MS <= now; fadedAt += MINUTE_MS) {
    const minutes = (fadedAt + MINUTE_MS - use.failedAt) / MINUTE_MS
    failureCost = Math.max(0, failureCost - Math.max(LEAST_CREDIT, 2 ** (minutes / CREDIT_DOUBLES_AFTER_MINUTES)))
  }
  return { ...use, failureCost: Math.ceil(failureCost), fadedAt: failureCost > 0 ? fadedAt : now }
}
