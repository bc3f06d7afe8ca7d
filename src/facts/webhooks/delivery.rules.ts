import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../base/time.ts'
/** Milliseconds of one attempt. Standard Webhooks recommends 15 to 30 s; a longer attempt would delay later events. */
export const ATTEMPT_MS = 15_000
/** Milliseconds after which a round begins no further attempt. */
export const ROUND_MS = 15_000
/** Milliseconds for which a single process delivers to a subscriber: twice the longest round. */
export const LEASE_MS = 60_000
/** Attempts that are made to one subscriber at once. */
export const AT_ONCE = 8
/** Audit records that a round takes. */
export const TAKEN_AT_ONCE = 100
/** The most events of one subscriber that wait for a retry; beyond it no new events are taken, and the trail keeps them. */
export const MOST_WAITING = 500
/** The most dead letters of one subscriber; beyond it no new events are taken until dead letters are sent again or dropped. */
const MOST_DEAD = 1000
/** Failures in a row after which a subscriber counts as down: new events are then tried one at a time. */
const DOWN_AFTER = 5
/** Milliseconds between such trials. */
const TRIAL_MS = 30_000
/** The longest delay of the next attempt that a subscriber may ask for, ms. */
const LONGEST_PUT_OFF_MS = HOUR_MS

/**
 * Milliseconds before the second attempt, the third, and so on, about three days in total; after the last attempt an event is a dead
 * letter.
 */
const PAUSES_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  DAY_MS,
]

/**
 * The instant of the next attempt (epoch ms) after `attempts` failures; undefined after the last. The pause is up to a fifth shorter or
 * longer by `chance` (0 to 1), so that events that failed together are not retried together.
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

/** Milliseconds of a `Retry-After` header: seconds, or an instant; 0 for invalid text. */
export function putOffOf(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * SECOND_MS
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

/** The number of new records that a subscriber takes now; a subscriber that is down gets only occasional trials. */
export function takenNow({ waiting, dead, failuresInRow, triedAt }: Load, now: number): number {
  if (waiting >= MOST_WAITING || dead >= MOST_DEAD) return 0
  if (!isDown(failuresInRow)) return TAKEN_AT_ONCE
  return now - triedAt >= TRIAL_MS ? 1 : 0
}

/** The instant of the next trial for a subscriber that takes nothing now, epoch ms. */
export function trialAt({ triedAt }: Pick<Load, 'triedAt'>): number {
  return triedAt + TRIAL_MS
}

/**
 * Reports whether a subscription includes an event type: by `entity.updated`, `entity.*` or `*`. An empty subscription includes every type.
 */
export function isWantedType(type: string, wanted: readonly string[]): boolean {
  return (
    wanted.length === 0 ||
    wanted.some((entry) => (entry.endsWith('*') ? type.startsWith(entry.slice(0, -1)) : entry === type))
  )
}

/** The signed text of a message by Standard Webhooks; `timestamp` in seconds. */
export function signedText(id: string, timestamp: number, body: string): string {
  return `${id}.${timestamp}.${body}`
}
