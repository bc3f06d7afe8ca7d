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
