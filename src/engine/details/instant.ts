/** A known instant (epoch ms) in the form that serialises as RFC 3339; null stays null. */
export function instant(milliseconds: number): Date
export function instant(milliseconds: number | null): Date | null
export function instant(milliseconds: number | null): Date | null {
  // biome-ignore lint/style/noRestrictedGlobals: converts a given instant, does not read the clock
  return milliseconds === null ? null : new Date(milliseconds)
}
