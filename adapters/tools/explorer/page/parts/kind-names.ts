/** Kinds of entities in words, in the singular. */
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

/** A kind in words, in the singular, also for kinds without a page. */
export function kindName(kind: string): string {
  return KIND_NAMES[kind] ?? kind.replaceAll('-', ' ').replace(/ies$/, 'y').replace(/s$/, '')
}
