import {
  type Candidate,
  chooseTerminator,
  dynamicCost,
  type Path,
  type TerminatorStrategy,
  type Topology,
} from '../../../domain/fabric/index.ts'
import type { CircuitFailure } from '../../../ports/events.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import type { terminators } from '../../../resources/routers/terminators.ts'
import type { OpenCircuits } from './open-circuits.ts'

export type Terminator = RecordOf<typeof terminators>

/** The terminator that a circuit is laid to, and how it gets there; or why there is none. */
export type Selection =
  | { readonly terminator: Terminator; readonly path: Path }
  | {
      readonly failure: Extract<
        CircuitFailure,
        'no-terminators' | 'no-online-terminators' | 'no-terminators-here' | 'no-path'
      >
    }

interface Question {
  readonly from: string
  readonly strategy: TerminatorStrategy
  readonly stickTo: string | undefined
  /** At least 0, less than 1. */
  readonly random: number
  /** Epoch ms. */
  readonly now: number
}

/** Chooses among the terminators of a service by its strategy, the routers of now and the use of each. */
export function selectTerminator(
  known: readonly Terminator[],
  topology: Topology,
  circuits: OpenCircuits,
  isConnectedElsewhere: (routerId: string) => boolean,
  { from, strategy, stickTo, random, now }: Question,
): Selection {
  if (known.length === 0) return { failure: 'no-terminators' }
  const online = known.filter(({ routerId }) => topology.has(routerId))
  if (online.length === 0) {
    const isElsewhere = known.some(({ routerId }) => isConnectedElsewhere(routerId))
    return { failure: isElsewhere ? 'no-terminators-here' : 'no-online-terminators' }
  }
  // Random choice is meant to know nothing of use.
  const useCost = (id: string) => (strategy === 'random' ? 0 : dynamicCost(circuits.useOf(id), now))
  const candidates = online.flatMap((terminator): readonly (Candidate & { readonly terminator: Terminator })[] => {
    const pathCost = topology.costBetween(from, terminator.routerId)
    if (pathCost === undefined) return []
    const { id, routerId, precedence } = terminator
    return [{ id, routerId, precedence, cost: terminator.cost + useCost(id) + pathCost, terminator }]
  })
  const chosen = chooseTerminator(strategy, candidates, { stickTo, random })
  const path = chosen && topology.pathBetween(from, chosen.routerId)
  return chosen === undefined || path === undefined ? { failure: 'no-path' } : { terminator: chosen.terminator, path }
}
