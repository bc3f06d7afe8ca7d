/** Units of time, in milliseconds. */
export const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
}
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy
/** The longest span that Go can hold: 2^63 nanoseconds, in milliseconds. */
const LONGEST_MS = 2 ** 63 / 1e6

/** Parses a Go duration (`1h30m`, `500ms`, `0`) into milliseconds; `undefined` for invalid text. */
export function parseGoDuration(text: string): number | undefined {
  const sign = text.startsWith('-') ? -1 : 1
  const unsigned = text.replace(/^[+-]/, '')
  if (unsigned === '0') return 0
  const parts = [...unsigned.matchAll(PART)]
  const isWhole = parts.map(([part]) => part).join('') === unsigned
  if (parts.length === 0 || !isWhole) return undefined
  const span = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0)
  return span < LONGEST_MS ? sign * span : undefined
}

/** Milliseconds as a Go duration: `0s`, `12ms`, `1m1.5s`. */
export function toGoDuration(milliseconds: number): string {
  if (milliseconds === 0) return '0s'
  if (milliseconds < 1000) return `${milliseconds}ms`
  const hours = Math.floor(milliseconds / HOUR_MS)
  const minutes = Math.floor(milliseconds / MINUTE_MS) % 60
  const seconds = `${(milliseconds % MINUTE_MS) / SECOND_MS}s`
  return hours > 0 ? `${hours}h${minutes}m${seconds}` : minutes > 0 ? `${minutes}m${seconds}` : seconds
}

/** An instant (epoch ms) as a Date, which serialises to RFC 3339 with milliseconds; null stays null. */
export function instant(milliseconds: number): Date
export function instant(milliseconds: number | null): Date | null
export function instant(milliseconds: number | null): Date | null {
  return milliseconds === null ? null : new Date(milliseconds)
}

/** An instant (epoch ms) as text, RFC 3339 with milliseconds. */
export function instantText(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** The earlier of two instants; either may be absent. */
export function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

/** The instant (epoch ms) that stands for an absent date where deployed clients require a date. */
export const NO_INSTANT = Date.parse('0001-01-01T00:00:00.000Z')

/** Seconds by which the clock of another machine may be ahead. A session or token with a later instant is refused until that instant. */
export const CLOCK_TOLERANCE_SECONDS = 60

/** Reports whether an instant lies further ahead of `now` than clocks may differ (both epoch ms). */
export function isYetToCome(instant: number, now: number): boolean {
  return instant > now + CLOCK_TOLERANCE_SECONDS * 1000
}

/** Digits in base 36: enough for epoch milliseconds until the year 5188. */
const DIGITS = 9

/**
 * An id that sorts as text by its instant (epoch ms), as routers expect it of API sessions.
 *
 * @example
 * timeOrderedId(1, 'zz') < timeOrderedId(2, 'aa') // true
 */
export function timeOrderedId(now: number, rest: string): string {
  return `${now.toString(36).padStart(DIGITS, '0')}${rest}`
}
