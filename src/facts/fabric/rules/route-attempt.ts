import type { DialFailureCause } from '../../access/explain/service-reach.rules.ts'
import { firstRouter, isSamePath, lastRouter, type Path } from './circuit-routes.ts'
import type { Topology } from './topology.ts'

/** Why a router could not do what a route asks of it. */
export type RouteFailureCause = Exclude<DialFailureCause, 'no-answer' | 'disconnected'>

/** The answer of a router to a route. */
export type RouteAnswer =
  | { readonly success: true }
  | { readonly success: false; readonly cause: RouteFailureCause; readonly message: string }

/** Why an attempt came to nothing: a router failed, did not answer in time, or went away. */
export interface RouteFailure {
  readonly routerId: string
  readonly cause: DialFailureCause
  readonly message: string
  /** Whether the terminator is to blame: the router at the end failed, or nobody knows who. */
  readonly isAtTerminator: boolean
}

/**
 * One attempt to lay a circuit along a path: every router of it has to answer, also when another one failed. The router at the
 * end may be reaching the host until then, and what it reaches late would be in the way of the next attempt.
 */
export interface RouteAttempt {
  readonly number: number
  readonly path: Path
  /** Epoch ms. */
  readonly deadline: number
  readonly awaited: ReadonlySet<string>
  /** Of several, that of the router at the end. */
  readonly failure: RouteFailure | undefined
}

export type AttemptState = 'waiting' | 'succeeded' | 'failed'

export function beginAttempt(number: number, path: Path, deadline: number): RouteAttempt {
  return { number, path, deadline, awaited: new Set(path.routers), failure: undefined }
}

export function attemptState({ awaited, failure }: RouteAttempt): AttemptState {
  if (awaited.size > 0) return 'waiting'
  return failure === undefined ? 'succeeded' : 'failed'
}

/** Settles the part of a router by its answer, once: repeats, strangers and answers after the end change nothing. */
export function answered(attempt: RouteAttempt, routerId: string, answer: RouteAnswer): RouteAttempt {
  if (!attempt.awaited.has(routerId)) return attempt
  if (answer.success) return without(attempt, routerId)
  return failedAt(attempt, routerId, answer)
}

/** A router that is gone answers nothing any more. */
export function routerGone(attempt: RouteAttempt, routerId: string): RouteAttempt {
  if (!attempt.awaited.has(routerId)) return attempt
  return failedAt(attempt, routerId, { cause: 'disconnected', message: 'router disconnected' })
}

/** At its deadline (epoch ms) an attempt that still waits fails. */
export function expired(attempt: RouteAttempt, now: number): RouteAttempt {
  if (attemptState(attempt) !== 'waiting' || now < attempt.deadline) return attempt
  const [routerId = ''] = attempt.awaited
  const late = { routerId, cause: 'no-answer', message: 'no answer in time', isAtTerminator: true } as const
  return { ...attempt, awaited: new Set(), failure: attempt.failure ?? late }
}

function without(attempt: RouteAttempt, routerId: string): RouteAttempt {
  return { ...attempt, awaited: new Set([...attempt.awaited].filter((id) => id !== routerId)) }
}

function failedAt(
  attempt: RouteAttempt,
  routerId: string,
  told: Pick<RouteFailure, 'cause' | 'message'>,
): RouteAttempt {
  const { cause, message } = told
  const isAtTerminator = isLast(attempt, routerId)
  const failure = isAtTerminator ? undefined : attempt.failure
  return { ...without(attempt, routerId), failure: failure ?? { routerId, cause, message, isAtTerminator } }
}

function isLast({ path }: RouteAttempt, routerId: string): boolean {
  return lastRouter(path) === routerId
}

/** A circuit as far as its way is concerned. */
export interface RoutedCircuit {
  readonly id: string
  readonly path: Path
}

/** A circuit and the path that it is to take from now on. */
export interface Detour<C extends RoutedCircuit> {
  readonly circuit: C
  readonly path: Path
}

const GREATEST_SHARE = 0.02
const MOST_AT_ONCE = 4
const LEAST_GAIN = 15

/**
 * Finds a detour for a circuit whose way is broken: another path between the same two routers, or undefined when there is none
 * and the circuit must end. The routers at its ends know its addresses and cannot be exchanged.
 */
export function detourOf(circuit: RoutedCircuit, topology: Topology): Path | undefined {
  return topology.pathBetween(firstRouter(circuit.path), lastRouter(circuit.path))
}

/** The circuits that pass a link. */
export function circuitsOver<C extends RoutedCircuit>(linkId: string, circuits: Iterable<C>): readonly C[] {
  return [...circuits].filter(({ path }) => path.links.includes(linkId))
}

/**
 * The circuits that gain most by another path now: at most four at a time and 2 % of all, at least one, each only where the
 * gain is worth the disturbance. Few at once, because every circuit that moves changes what the others measure.
 */
export function worthwhileDetours<C extends RoutedCircuit>(
  circuits: Iterable<C>,
  topology: Topology,
  costOf: (path: Path) => number | undefined,
): readonly Detour<C>[] {
  const all = [...circuits]
  const gains = all.flatMap((circuit) => {
    const path = detourOf(circuit, topology)
    const current = costOf(circuit.path)
    if (path === undefined || current === undefined || isSamePath(path, circuit.path)) return []
    const gain = current - path.cost
    return gain >= LEAST_GAIN ? [{ circuit, path, current }] : []
  })
  gains.sort((left, right) => right.current - left.current || (left.circuit.id < right.circuit.id ? -1 : 1))
  const most = Math.min(MOST_AT_ONCE, Math.max(1, Math.floor(all.length * GREATEST_SHARE)))
  return gains.slice(0, most).map(({ circuit, path }) => ({ circuit, path }))
}

/** Computes the cost of a path by the links and routers of now; undefined when one of its links is gone. */
export function currentCost(
  { routers, links }: Path,
  linkCost: (linkId: string) => number | undefined,
  routerCost: (routerId: string) => number,
): number | undefined {
  let total = 0
  for (const [position, link] of links.entries()) {
    const cost = linkCost(link)
    if (cost === undefined) return undefined
    total += cost + routerCost(routers[position + 1] ?? '')
  }
  return total
}
