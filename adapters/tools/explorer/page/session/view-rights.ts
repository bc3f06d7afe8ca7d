import { mayRead, session } from './session.ts'

const ACCESS = ['service-policy', 'identity', 'service']

/** The kinds of entities that the user of a view must be allowed to read, as permissions name them; any kind for `[]`. */
const READS: Readonly<Record<string, readonly string[]>> = {
  start: [],
  graph: ACCESS,
  why: [...ACCESS, 'posture-check', 'router'],
  'what-if': ACCESS,
  live: [],
  changes: [],
  manage: [],
  json: [],
}

/** The permissions without which the logged in user sees nothing in a view, in words; undefined where none is missing. */
export function lackedBy(view: string): string | undefined {
  const reads = READS[view]
  const { isAdmin = false, permissions = [] } = session.value ?? {}
  if (reads === undefined || isAdmin) return undefined
  if (reads.length === 0) return permissions.length > 0 ? undefined : 'any permission, and you have none'
  const missing = reads.filter((kind) => !mayRead(kind)).map((kind) => `${kind}.read`)
  return missing.length === 0
    ? undefined
    : `the ${missing.length === 1 ? 'permission' : 'permissions'} ${missing.join(', ')}`
}
