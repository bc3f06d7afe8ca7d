const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy
/** The longest span that Go can hold: 2^63 nanoseconds, in milliseconds. */
const LONGEST_MS = 2 ** 63 / 1e6

/** Milliseconds of a span as Go writes it (`1h30m`, `500ms`, `0`); `undefined` for text that is none. */
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

/** A span of milliseconds as Go writes it: `0s`, `12ms`, `1m1.5s`. */
export function toGoDuration(milliseconds: number): string {
  if (milliseconds === 0) return '0s'
  if (milliseconds < 1000) return `${milliseconds}ms`
  const hours = Math.floor(milliseconds / 3_600_000)
  const minutes = Math.floor(milliseconds / 60_000) % 60
  const seconds = `${(milliseconds % 60_000) / 1000}s`
  return hours > 0 ? `${hours}h${minutes}m${seconds}` : minutes > 0 ? `${minutes}m${seconds}` : seconds
}

/** A known instant (epoch ms) as the Date that serialises to RFC 3339 with milliseconds; null stays null. */
export function instant(milliseconds: number): Date
export function instant(milliseconds: number | null): Date | null
export function instant(milliseconds: number | null): Date | null {
  return milliseconds === null ? null : new Date(milliseconds)
}

/** The instant (epoch ms) that says "none" where deployed clients read one without asking whether it is there. */
export const NO_INSTANT = Date.parse('0001-01-01T00:00:00.000Z')

/**
 * Seconds by which the clock of another machine may be ahead: what bears a later instant, be it a session or a token, is
 * refused until its time has come.
 */
export const CLOCK_TOLERANCE_SECONDS = 60

/** Reports whether an instant lies further ahead of `now` than clocks may differ; both are epoch milliseconds. */
export function isYetToCome(instant: number, now: number): boolean {
  return instant > now + CLOCK_TOLERANCE_SECONDS * 1000
}

/** Milliseconds fit it until the year 5188. */
const DIGITS = 9

/**
 * An id that sorts as text after those of earlier instants (epoch ms) and before those of later ones, as routers expect it
 * of API sessions.
 *
 * @example
 * timeOrderedId(1, 'zz') < timeOrderedId(2, 'aa') // true
 */
export function timeOrderedId(now: number, rest: string): string {
  return `${now.toString(36).padStart(DIGITS, '0')}${rest}`
}
