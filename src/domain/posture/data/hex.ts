/**
 * The hex digits of a MAC address, hash or certificate fingerprint in lower case (`14-B2-2C` is `14b22c`), or
 * `undefined` when the text holds none: such a value matches nothing and must not be stored as an empty one.
 */
export function normaliseHex(text: string): string | undefined {
  const digits = text.toLowerCase().replaceAll(/[^0-9a-f]/g, '')
  return digits === '' ? undefined : digits
}

/** The normalised form of every text that holds hex digits. */
export function normaliseHexList(texts: readonly string[]): readonly string[] {
  return texts.map(normaliseHex).filter((digits) => digits !== undefined)
}

/** True when one of the required values, normalised, is among the reported ones, which are normalised already. */
export function includesAnyHex(reported: readonly string[], required: readonly string[]): boolean {
  return normaliseHexList(required).some((digits) => reported.includes(digits))
}
