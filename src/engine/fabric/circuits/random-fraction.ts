import type { Random } from '../../../ports/random.ts'

const DIGITS = 8

/** A number of at least 0 and less than 1, of 32 random bits. */
export function randomFraction(random: Random): number {
  return Number.parseInt(random.uuid().slice(-DIGITS), 16) / 16 ** DIGITS
}
