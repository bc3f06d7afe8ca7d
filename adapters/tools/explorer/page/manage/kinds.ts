import { kindName } from '../parts/kind-names.ts'

/** The kinds of entities with a table and a panel here; all kinds have theirs in Set up. */
export const MANAGED_KINDS = ['identities', 'services', 'service-policies', 'posture-checks'] as const
export type ManagedKind = (typeof MANAGED_KINDS)[number]

/** A kind as permissions name it. */
export function permissionOf(kind: ManagedKind): string {
  return kindName(kind).replaceAll(' ', '-')
}
