/** A limit that can be one. Throws RangeError, naming the option, for what is no whole number above zero. */
export function positive(option: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new RangeError(`${option} must be a whole number above zero, not ${value}`)
}
