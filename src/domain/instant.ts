/** A known instant (epoch ms) as the Date that serialises to RFC 3339 with milliseconds; null stays null. */
export function instant(milliseconds: number): Date
export function instant(milliseconds: number | null): Date | null
export function instant(milliseconds: number | null): Date | null {
  return milliseconds === null ? null : new Date(milliseconds)
}
