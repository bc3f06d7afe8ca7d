/** A number that a host chose is a whole one in its range. Answers it; otherwise throws an `Error` that names the option. */
export function requireInRange(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new Error(`${name} takes a whole number from ${least} to ${most}: not ${value}`)
}
