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
