import type { Decision } from '../../facts/access/decision.rules.ts'
import type { CircuitFailure } from '../../facts/access/explain/service-reach.rules.ts'
import {
  type Candidate,
  chooseTerminator,
  dynamicCost,
  type Path,
  type TerminatorStrategy,
  type Topology,
} from '../../facts/fabric/rules/index.ts'
import type { terminators } from '../../facts/services/terminator.resource.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import type { Random } from '../../ports/runtime.ts'
import type { OpenCircuits } from './open-circuits.ts'

export type Terminator = RecordOf<typeof terminators>

/** The terminator and the path of a circuit, or the reason why there is no terminator for it. */
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

/** Reads rights and routers in the snapshot of the choice. */
export interface Fitness {
  /** Whether the hosts of terminators may bind now, in the order of the question; undefined for a terminator of an operator. */
  rightsOf(known: readonly Terminator[]): Promise<readonly (Decision | undefined)[]>
  /** The routers among these that may no longer be connected. */
  shutOut(routerIds: readonly string[]): Promise<readonly string[]>
  topologyWithout(routerIds: ReadonlySet<string>): Topology
}

/** A choice that holds by the present facts: the host may bind, until an instant (epoch ms), and the routers carry traffic. */
export type FitSelection =
  | (Extract<Selection, { readonly path: Path }> & { readonly host: Decision | undefined })
  | (Extract<Selection, { readonly failure: unknown }> & { readonly hasUnfit: boolean })

/** The choices that are judged singly; then all others are judged together. */
const CHOICES = 4

/**
 * Chooses among the terminators whose host may bind now, on a path over routers that may carry traffic now. Only a chosen terminator is
 * judged, because most terminators are fit.
 */
export async function selectFit(
  known: readonly Terminator[],
  fitness: Fitness,
  choose: (known: readonly Terminator[], topology: Topology) => Selection,
): Promise<FitSelection> {
  const shutOut = new Set<string>()
  let left = known
  for (let choices = 0; ; choices += 1) {
    const selection = choose(left, fitness.topologyWithout(shutOut))
    if ('failure' in selection) return { ...selection, hasUnfit: left.length < known.length }
    const gone = await fitness.shutOut(selection.path.routers)
    for (const routerId of gone) shutOut.add(routerId)
    if (gone.length > 0) continue
    const asked = choices < CHOICES ? [selection.terminator] : left
    const rights = await fitness.rightsOf(asked)
    const unfit = new Set(asked.filter((_, position) => rights[position]?.verdict === 'refused'))
    if (!unfit.has(selection.terminator)) return { ...selection, host: rights[asked.indexOf(selection.terminator)] }
    left = left.filter((terminator) => !unfit.has(terminator))
  }
}

/** Chooses among the terminators of a service by its strategy, the present routers and the use of each terminator. */
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
  // A random choice must not depend on use.
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

const DIGITS = 8

/** A number of at least 0 and less than 1, of 32 random bits. */
export function randomFraction(random: Random): number {
  return Number.parseInt(random.uuid().slice(-DIGITS), 16) / 16 ** DIGITS
}
