/** A known instant (epoch ms) as the Date that serialises to RFC 3339 with milliseconds; null stays null. */
export function instant(milliseconds: number): Date
export function instant(milliseconds: number | null): Date | null
export function instant(milliseconds: number | null): Date | null {
  return milliseconds === null ? null : new Date(milliseconds)
}

/** The instant (epoch ms) that says "none" where deployed clients read one without asking whether it is there. */
export const NO_INSTANT = Date.parse('0001-01-01T00:00:00.000Z')
