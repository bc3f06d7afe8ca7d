import { isSamePath, type Path } from './path.ts'

/** Why a circuit is over. */
export type CircuitEnd =
  | 'client-closed'
  | 'host-closed'
  | 'idle'
  | 'access-lost'
  | 'session-ended'
  | 'service-deleted'
  | 'router-deleted'
  | 'router-shut-out'
  | 'no-path'
  | 'removed'

/** The phases of a circuit: laid, moved to another path one at a time, and over for good. */
export type CircuitPhase =
  | { readonly name: 'open' }
  | { readonly name: 'moving'; readonly to: Path; readonly isStale: boolean }
  | { readonly name: 'closed'; readonly reason: CircuitEnd }

/** The way of a circuit and where it stands. */
export interface CircuitCourse {
  readonly path: Path
  readonly phase: CircuitPhase
}

export function opened(path: Path): CircuitCourse {
  return { path, phase: { name: 'open' } }
}

/**
 * The circuit is to take another path. While it moves already nothing begins, and it is noted that its way has to be looked
 * at again; a closed circuit stays closed.
 */
export function moveBegun(course: CircuitCourse, to: Path): CircuitCourse {
  const { phase } = course
  if (phase.name === 'closed') return course
  if (phase.name === 'moving') return { ...course, phase: { ...phase, isStale: true } }
  return isSamePath(course.path, to) ? course : { ...course, phase: { name: 'moving', to, isStale: false } }
}

/** Every router of the new path did its part: it is the path of the circuit. */
export function moved(course: CircuitCourse): CircuitCourse {
  return course.phase.name === 'moving' ? opened(course.phase.to) : course
}

/** The move came to nothing and the circuit is as it was. */
export function moveFailed(course: CircuitCourse): CircuitCourse {
  return course.phase.name === 'moving' ? opened(course.path) : course
}

/** The circuit is over, for the first reason that is given. */
export function closed(course: CircuitCourse, reason: CircuitEnd): CircuitCourse {
  return course.phase.name === 'closed' ? course : { ...course, phase: { name: 'closed', reason } }
}

/** Every router that may hold a part of the circuit: those of its path, and of the one that it moves to. */
export function routersOf({ path, phase }: CircuitCourse): readonly string[] {
  return [...new Set([...path.routers, ...(phase.name === 'moving' ? phase.to.routers : [])])]
}

/** Whether a router may speak for the circuit. */
export function passes(course: CircuitCourse, routerId: string): boolean {
  return routersOf(course).includes(routerId)
}
