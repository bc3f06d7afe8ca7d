/** Keeps the members that have a value: a model file leaves defaults out. */
export function given(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => {
      if (value === null || value === undefined) return false
      return typeof value !== 'object' || Object.keys(value).length > 0
    }),
  )
}
