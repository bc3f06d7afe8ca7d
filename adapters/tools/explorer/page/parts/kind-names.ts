import { numberText } from './number-text.ts'

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
  cas: 'certificate authority',
  'external-jwt-signers': 'external JWT signer',
  'api-sessions': 'API session',
}

/** A kind in words, in the singular, also for kinds without a page. */
export function kindName(kind: string): string {
  return KIND_NAMES[kind] ?? kind.replaceAll('-', ' ').replace(/ies$/, 'y').replace(/s$/, '')
}

/** A kind in words, in the number of `count`. */
export function pluralName(kind: string, count: number): string {
  const name = kindName(kind)
  if (count === 1) return name
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`
}

/** Some entities of a kind in words: `3 edge routers`. */
export function countedName(kind: string, count: number): string {
  return `${numberText(count)} ${pluralName(kind, count)}`
}

/** The kinds that role lists select, by the members that hold the lists. */
export const SELECTED_BY: Readonly<Record<string, string>> = {
  identityRoles: 'identities',
  serviceRoles: 'services',
  edgeRouterRoles: 'edge-routers',
  postureCheckRoles: 'posture-checks',
}
