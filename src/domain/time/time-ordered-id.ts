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
