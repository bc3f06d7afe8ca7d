import type { Clock } from '../ports/clock.ts'

/** The clock of the host. */
export const systemClock: Clock = { now: () => Date.now() }
