import type { z } from 'zod'

/** Of an object the members that a schema names. */
export function onlyMembers<T extends object, S extends z.ZodObject>(
  object: T,
  { shape }: S,
): Pick<T, keyof T & keyof S['shape']> {
  const members = Object.entries(object).filter(([name]) => Object.hasOwn(shape, name))
  // Picked by the names that the type picks.
  return Object.fromEntries(members) as Pick<T, keyof T & keyof S['shape']>
}
