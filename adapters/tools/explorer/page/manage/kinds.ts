/** The kinds of entity that are managed here by forms; all others are shown as JSON. */
export type ManagedKind = 'identities' | 'services' | 'service-policies' | 'posture-checks'

interface Managed {
  readonly kind: ManagedKind
  readonly label: string
  readonly one: string
  /** As permissions name the kind. */
  readonly permission: string
}

export const MANAGED_KINDS: readonly Managed[] = [
  { kind: 'identities', label: 'Identities', one: 'identity', permission: 'identity' },
  { kind: 'services', label: 'Services', one: 'service', permission: 'service' },
  { kind: 'service-policies', label: 'Service policies', one: 'service policy', permission: 'service-policy' },
  { kind: 'posture-checks', label: 'Posture checks', one: 'posture check', permission: 'posture-check' },
]

/** The kind of that name; identities for any other. */
export function managedKind(name: string | null): ManagedKind {
  return MANAGED_KINDS.find(({ kind }) => kind === name)?.kind ?? 'identities'
}
