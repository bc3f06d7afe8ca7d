/** Whether two values of JSON are the same; the order of members does not matter. */
export function sameValue(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const members = Object.entries(one)
  return (
    members.length === Object.keys(other).length &&
    members.every(([member, value]) => Object.hasOwn(other, member) && sameValue(value, Reflect.get(other, member)))
  )
}
