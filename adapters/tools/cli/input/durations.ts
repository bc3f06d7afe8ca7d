import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../src/base/time.ts'
import { type Setting, UsageError } from '../command-line/usage.ts'

/** Milliseconds of the units that a duration may be given in. */
const UNITS: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS }
/** Days of the longest time that a session, a token or an invitation may last: beyond it a slip of the pen is more likely than a wish. */
const MOST_DAYS_OF_USE = 3650
/** Seconds for which a request waits at most. */
const LONGEST_WAIT_SECONDS = 120
/** Days of the longest time for which something may be kept: a century. */
const MOST_DAYS_KEPT = 36_500

/** The milliseconds for which something is good, such as `90s` or `7d`: a minute at least. Throws {@link UsageError}. */
export function readDuration({ name, value }: Setting): number {
  const [, count = '', unit = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(value) ?? []
  const durationMs = millisecondsOf(count, unit)
  if (durationMs >= 60_000 && durationMs <= millisecondsOf(MOST_DAYS_OF_USE, 'd')) return durationMs
  throw new UsageError(
    `${name} takes a duration from 1m to ${MOST_DAYS_OF_USE}d, such as 90s, 30m, 3h or 7d: not '${value}'`,
  )
}

/** The milliseconds for which something is kept, such as `30d`, `12h` or `0`; days where no unit is named. Throws {@link UsageError}. */
export function readKeep({ name, value }: Setting): number {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(value) ?? []
  const keptMs = count === '' ? Number.NaN : millisecondsOf(count, unit || 'd')
  if (keptMs <= millisecondsOf(MOST_DAYS_KEPT, 'd')) return keptMs
  throw new UsageError(`${name} takes a duration such as 90d, 12h or 0, not '${value}'`)
}

/** The seconds to wait for something, such as `30s` or `2m`: 1 s to 2 min. Throws {@link UsageError}. */
export function readWait({ name, value }: Setting): number {
  const [, count = '', unit = ''] = /^([1-9]\d{0,2})([sm])$/.exec(value) ?? []
  const seconds = millisecondsOf(count, unit) / 1000
  if (seconds >= 1 && seconds <= LONGEST_WAIT_SECONDS) return seconds
  throw new UsageError(`${name} takes a time from 1s to 2m, such as 30s: not '${value}'`)
}

function millisecondsOf(count: string | number, unit: string): number {
  return Number(count) * (UNITS[unit] ?? 0)
}
