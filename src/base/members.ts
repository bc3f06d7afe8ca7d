/** Reports whether a value has members by name: an object that is no list. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An own member of a value; undefined for a value without it. */
export function memberOf(value: unknown, name: PropertyKey): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}

/** The texts of a list; empty for any other value. */
export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** Reports whether a member of a record says when the controller looks at the record again: that says nothing to a reader. */
export function isBookkeeping(member: string): boolean {
  return /dueAt$/i.test(member)
}

/** Digits of a digest that the audit trail has instead of a value: enough to see that two values are equal, not to find a value. */
export const DIGEST_DIGITS = 32

const DIGEST = new RegExp(`^sha256:[0-9a-f]{${DIGEST_DIGITS}}(?: of \\d+ bytes)?$`)

/** Reports whether the audit trail has only a digest of a value, because it is secret or long. */
export function isDigest(value: unknown): boolean {
  return typeof value === 'string' && DIGEST.test(value)
}
