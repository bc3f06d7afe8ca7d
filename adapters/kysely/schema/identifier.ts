import { createHash } from 'node:crypto'

/** PostgreSQL cuts longer names; some room is left for the prefix. */
const LONGEST = 48

/** The SQL name of a declared one: `serviceRoles` and `service-roles` become `service_roles`. */
export function identifier(...parts: readonly string[]): string {
  const name = parts
    .map((part) => part.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('-', '_'))
    .join('_')
  if (!/^[a-z_][a-z0-9_]*$/.test(name))
    throw new TypeError(`'${parts.join('.')}' cannot be the name of a table or column`)
  if (name.length <= LONGEST) return name
  return `${name.slice(0, LONGEST - 9)}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`
}
