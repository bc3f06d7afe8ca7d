const NUMBER = new Intl.NumberFormat()

/** A number as the reader's locale writes it. */
export function numberText(count: number): string {
  return NUMBER.format(count)
}
