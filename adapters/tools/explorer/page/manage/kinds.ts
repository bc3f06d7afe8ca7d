/** The kinds of entity that are managed here by forms; all others are shown as JSON. */
export type ManagedKind = 'identities' | 'services' | 'service-policies' | 'posture-checks'

interface Managed {
  readonly kind: ManagedKind
  readonly label: string
  /** As permissions name the kind. */
  readonly permission: string
}

export const MANAGED_KINDS: readonly Managed[] = [
  { kind: 'identities', label: 'Identities', permission: 'identity' },
  { kind: 'services', label: 'Services', permission: 'service' },
  { kind: 'service-policies', label: 'Service policies', permission: 'service-policy' },
  { kind: 'posture-checks', label: 'Posture checks', permission: 'posture-check' },
]

/** The kind of that name; identities for any other. */
export function managedKind(name: string | null): ManagedKind {
  return MANAGED_KINDS.find(({ kind }) => kind === name)?.kind ?? 'identities'
}
