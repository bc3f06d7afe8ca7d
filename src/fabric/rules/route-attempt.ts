import { lastRouter, type Path } from './path.ts'

/** Why a router could not do what a route asks of it. */
export type RouteFailureCause =
  | 'generic'
  | 'invalid-terminator'
  | 'misconfigured-terminator'
  | 'dial-timed-out'
  | 'connection-refused'
  | 'rejected-by-application'
  | 'dns-failure'
  | 'port-not-allowed'
  | 'invalid-link'
  | 'no-resources'

/** What a router answers to a route. */
export type RouteAnswer =
  | { readonly success: true }
  | { readonly success: false; readonly cause: RouteFailureCause; readonly message: string }

/** Why an attempt came to nothing: a router failed, did not answer in time, or went away. */
export interface RouteFailure {
  readonly routerId: string
  readonly cause: RouteFailureCause | 'no-answer' | 'disconnected'
  readonly message: string
  /** Whether the terminator is to blame: the router at the end failed, or nobody knows who. */
  readonly isAtTerminator: boolean
}

/** One attempt to lay a circuit along a path: every router of it has to answer. */
export interface RouteAttempt {
  readonly number: number
  readonly path: Path
  /** Epoch ms. */
  readonly deadline: number
  readonly awaited: ReadonlySet<string>
  readonly failure: RouteFailure | undefined
}

export type AttemptState = 'waiting' | 'succeeded' | 'failed'

export function beginAttempt(number: number, path: Path, deadline: number): RouteAttempt {
  return { number, path, deadline, awaited: new Set(path.routers), failure: undefined }
}

export function attemptState({ awaited, failure }: RouteAttempt): AttemptState {
  if (failure !== undefined) return 'failed'
  return awaited.size === 0 ? 'succeeded' : 'waiting'
}

/** What a router answers settles its part, once: repeats, strangers and what comes after the end change nothing. */
export function answered(attempt: RouteAttempt, routerId: string, answer: RouteAnswer): RouteAttempt {
  if (attemptState(attempt) !== 'waiting' || !attempt.awaited.has(routerId)) return attempt
  const awaited = new Set(attempt.awaited)
  awaited.delete(routerId)
  if (answer.success) return { ...attempt, awaited }
  const { cause, message } = answer
  return { ...attempt, awaited, failure: { routerId, cause, message, isAtTerminator: isLast(attempt, routerId) } }
}

/** A router that is gone answers nothing any more. */
export function routerGone(attempt: RouteAttempt, routerId: string): RouteAttempt {
  if (attemptState(attempt) !== 'waiting' || !attempt.awaited.has(routerId)) return attempt
  const isAtTerminator = isLast(attempt, routerId)
  return { ...attempt, failure: { routerId, cause: 'disconnected', message: 'router disconnected', isAtTerminator } }
}

/** At its deadline (epoch ms) an attempt that still waits fails. */
export function expired(attempt: RouteAttempt, now: number): RouteAttempt {
  if (attemptState(attempt) !== 'waiting' || now < attempt.deadline) return attempt
  const [routerId = ''] = attempt.awaited
  return { ...attempt, failure: { routerId, cause: 'no-answer', message: 'no answer in time', isAtTerminator: true } }
}

/** The routers that did their part. */
export function laidAt({ path, awaited, failure }: RouteAttempt): readonly string[] {
  return path.routers.filter((id) => !awaited.has(id) && id !== failure?.routerId)
}

function isLast({ path }: RouteAttempt, routerId: string): boolean {
  return lastRouter(path) === routerId
}
