/** Kinds of entities in words, one of each. */
export const KIND_NAMES: Readonly<Record<string, string>> = {
  identities: 'identity',
  services: 'service',
  'edge-routers': 'edge router',
  'transit-routers': 'transit router',
  'service-policies': 'service policy',
  'edge-router-policies': 'edge router policy',
  'service-edge-router-policies': 'service edge router policy',
  'posture-checks': 'posture check',
  configs: 'config',
  authenticators: 'authenticator',
}

/** One entity of a kind in words, also of kinds that have no page. */
export function kindName(kind: string): string {
  return KIND_NAMES[kind] ?? kind.replaceAll('-', ' ').replace(/ies$/, 'y').replace(/s$/, '')
}
