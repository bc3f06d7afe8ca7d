/** Which terminators are tried first. */
export type Precedence = 'required' | 'default' | 'failed'
export type TerminatorStrategy = 'smartrouting' | 'random' | 'weighted' | 'sticky'

/** A terminator that can be reached, with what a circuit over it costs. */
export interface Candidate {
  readonly id: string
  readonly routerId: string
  readonly precedence: Precedence
  /** Static and dynamic cost of the terminator and cost of the path to its router. */
  readonly cost: number
}

/** What a choice may depend on besides the candidates. */
export interface ChoiceFacts {
  /** The terminator that an earlier circuit of the client went to, for `sticky`. */
  readonly stickTo?: string | undefined
  /** At least 0, less than 1. */
  readonly random: number
}

const ORDER: readonly Precedence[] = ['required', 'default', 'failed']

/**
 * Chooses by the strategy of the service among its reachable terminators; undefined when there is none. A better precedence
 * always wins. Among the best: the least cost (`smartrouting`), any (`random`), cheap ones more often (`weighted`), or the
 * one that the client had before (`sticky`).
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

/** Each is chosen in proportion to the share of all costs that is not its own; no cost counts as 1. */
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
