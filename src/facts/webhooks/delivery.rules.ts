/** Milliseconds of one attempt. Standard Webhooks asks for 15 to 30 s; more would hold up the events behind it. */
export const ATTEMPT_MS = 15_000
/** Milliseconds after which a round of attempts begins no further one. */
export const ROUND_MS = 15_000
/** Milliseconds for which a process alone delivers to a subscriber: twice the longest round. */
export const LEASE_MS = 60_000
/** Attempts that are made to one subscriber at once. */
export const AT_ONCE = 8
/** Audit records that a round takes. */
export const TAKEN_AT_ONCE = 100
/** Events that wait for a further attempt, of one subscriber; beyond them no new ones are taken, and the trail keeps them. */
export const MOST_WAITING = 500
/** Dead letters of one subscriber; beyond them no new events are taken until they are sent again or dropped. */
const MOST_DEAD = 1000
/** Failures in a row after which a subscriber counts as down: new events are then tried one at a time. */
const DOWN_AFTER = 5
/** Milliseconds between those trials. */
const TRIAL_MS = 30_000
/** The longest that a subscriber may put off the next attempt, ms. */
const LONGEST_PUT_OFF_MS = 3_600_000

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** Milliseconds before the second attempt, the third, and so on; after the last one an event is a dead letter. About three days. */
const PAUSES_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]

/**
 * When the next attempt is made (epoch ms) after `attempts` that failed; undefined when there is none. The pause is up to a fifth
 * shorter or longer by `chance` (0 to 1), so that what failed together is not tried together.
 */
export function nextAttemptAt(attempts: number, now: number, chance: number, putOffMs = 0): number | undefined {
  const pause = PAUSES_MS[attempts - 1]
  if (pause === undefined) return undefined
  return now + Math.round(Math.max(pause * (0.8 + 0.4 * chance), Math.min(putOffMs, LONGEST_PUT_OFF_MS)))
}

/** A number from 0 to 1 that follows from the hexadecimal digits of a digest. */
export function chanceOf(digest: string): number {
  return Number.parseInt(digest.slice(0, 8), 16) / 0xffffffff
}

/** Milliseconds of a `Retry-After` header: seconds, or an instant; 0 for anything else. */
export function putOffOf(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * SECOND
  const instant = Date.parse(retryAfter)
  return Number.isNaN(instant) ? 0 : Math.max(0, instant - now)
}

/** Reports whether a subscriber counts as down after some failures in a row. */
export function isDown(failuresInRow: number): boolean {
  return failuresInRow >= DOWN_AFTER
}

/** The load of a subscriber. */
interface Load {
  readonly waiting: number
  readonly dead: number
  readonly failuresInRow: number
  /** Epoch ms of the last attempt; 0 before the first. */
  readonly triedAt: number
}

/** How many new records a subscriber takes now: of one that is down only a trial once in a while. */
export function takenNow({ waiting, dead, failuresInRow, triedAt }: Load, now: number): number {
  if (waiting >= MOST_WAITING || dead >= MOST_DEAD) return 0
  if (!isDown(failuresInRow)) return TAKEN_AT_ONCE
  return now - triedAt >= TRIAL_MS ? 1 : 0
}

/** When something is due again for a subscriber that takes nothing now, epoch ms. */
export function trialAt({ triedAt }: Pick<Load, 'triedAt'>): number {
  return triedAt + TRIAL_MS
}

/** Reports whether a type of events is among those that are wanted: `entity.updated`, `entity.*`, `*`; everything where none is named. */
export function isWantedType(type: string, wanted: readonly string[]): boolean {
  return (
    wanted.length === 0 ||
    wanted.some((entry) => (entry.endsWith('*') ? type.startsWith(entry.slice(0, -1)) : entry === type))
  )
}

/** The text that the signature of a message is over, as Standard Webhooks has it; `timestamp` in seconds. */
export function signedText(id: string, timestamp: number, body: string): string {
  return `${id}.${timestamp}.${body}`
}
