import type { DialFailureCause } from '../../access/explain/service-reach.rules.ts'
import { firstRouter, isSamePath, lastRouter, type Path } from './circuit-routes.ts'
import type { Topology } from './topology.ts'

/** The cause of a router's failure to carry out a route. */
export type RouteFailureCause = Exclude<DialFailureCause, 'no-answer' | 'disconnected'>

/** The answer of a router to a route. */
export type RouteAnswer =
  | { readonly success: true }
  | { readonly success: false; readonly cause: RouteFailureCause; readonly message: string }

/** The failure of an attempt: a router failed, did not answer in time, or disconnected. */
export interface RouteFailure {
  readonly routerId: string
  readonly cause: DialFailureCause
  readonly message: string
  /** True when the terminator is to blame: the last router failed, or the failed router is unknown. */
  readonly isAtTerminator: boolean
}

/**
 * An attempt to create a circuit along a path. Every router has to answer, even after another router failed: the last router may still be
 * dialing the host, and a late connection would disturb the next attempt.
 */
export interface RouteAttempt {
  readonly number: number
  readonly path: Path
  /** Epoch ms. */
  readonly deadline: number
  readonly awaited: ReadonlySet<string>
  /** The failure; among several, the failure of the last router counts. */
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

/**
 * Settles the part of a router by its first answer. Repeated answers, answers of other routers and answers after the end change nothing.
 */
export function answered(attempt: RouteAttempt, routerId: string, answer: RouteAnswer): RouteAttempt {
  if (!attempt.awaited.has(routerId)) return attempt
  if (answer.success) return without(attempt, routerId)
  return failedAt(attempt, routerId, answer)
}

/** Settles the part of a disconnected router as failed. */
export function routerGone(attempt: RouteAttempt, routerId: string): RouteAttempt {
  if (!attempt.awaited.has(routerId)) return attempt
  return failedAt(attempt, routerId, { cause: 'disconnected', message: 'router disconnected' })
}

/** Fails an attempt that still waits at its deadline (epoch ms). */
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

/** The parts of a circuit that concern its path. */
export interface RoutedCircuit {
  readonly id: string
  readonly path: Path
}

/** A circuit and its new path. */
export interface Detour<C extends RoutedCircuit> {
  readonly circuit: C
  readonly path: Path
}

const GREATEST_SHARE = 0.02
const MOST_AT_ONCE = 4
const LEAST_GAIN = 15

/**
 * Finds a detour for a circuit with a broken path: another path between the same two routers, or undefined when the circuit must end. The
 * routers at its ends know its addresses and cannot be replaced.
 */
export function detourOf(circuit: RoutedCircuit, topology: Topology): Path | undefined {
  return topology.pathBetween(firstRouter(circuit.path), lastRouter(circuit.path))
}

/** The circuits that pass a link. */
export function circuitsOver<C extends RoutedCircuit>(linkId: string, circuits: Iterable<C>): readonly C[] {
  return [...circuits].filter(({ path }) => path.links.includes(linkId))
}

/**
 * The circuits that gain most by another path: at most four at a time and 2 % of all, at least one, and only if the gain is worth the
 * disturbance. Only a few move at once, because every move changes the latencies of the other circuits.
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

/** Computes the current cost of a path; undefined if one of its links is gone. */
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
