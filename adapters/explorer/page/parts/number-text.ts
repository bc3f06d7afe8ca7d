const NUMBER = new Intl.NumberFormat()

/** A number as whoever looks is used to write it. */
export function numberText(count: number): string {
  return NUMBER.format(count)
}
