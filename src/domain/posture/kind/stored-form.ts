import { normaliseHex } from '../data/hex.ts'

/** A value in the form that is stored, or the field that has none, named by its path below the given value. */
export type StoredForm<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly field: string; readonly reason: string; readonly value: string }

/** A value that is stored as it was given. */
export function storedAsGiven<Value>(value: Value): StoredForm<Value> {
  return { ok: true, value }
}

/**
 * MAC addresses, hashes or fingerprints as they are stored: lower-case hex, or as they are written. Fails on a text without
 * hex digits.
 */
export function storedHexList(texts: readonly string[], isAsWritten = false): StoredForm<readonly string[]> {
  const stored: string[] = []
  for (const [index, text] of texts.entries()) {
    const digits = normaliseHex(text)
    if (digits === undefined) return { ok: false, field: `[${index}]`, reason: 'no hex digits', value: text }
    stored.push(isAsWritten ? text : digits)
  }
  return { ok: true, value: stored }
}

/** An operating system that no posture check can name has no stored form. */
export function unknownOs(field: string, name: string): StoredForm<never> {
  return { ok: false, field, reason: 'unknown operating system', value: name }
}

/** The last value of each key, sorted by key code unit by code unit. */
export function lastOfEach<Value>(values: readonly Value[], keyOf: (value: Value) => string): readonly Value[] {
  const byKey = new Map(values.map((value) => [keyOf(value), value]))
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
}
