import { z } from 'zod'

/** Further addresses of a router's control channel, each with the names of its groups. */
export const ControlListeners = z.record(z.string(), z.array(z.string())).default({})

/** Corrects null, which clients write for an address without groups. */
export function routerSpellings(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { ctrlChanListeners: listeners } = body
  if (typeof listeners !== 'object' || listeners === null || Array.isArray(listeners)) return body
  const spelled = Object.entries(listeners).map(([address, groups]) => [address, groups ?? []])
  return { ...body, ctrlChanListeners: Object.fromEntries(spelled) }
}

/** Descriptions of the members that edge routers and transit routers share. */
export const ROUTER_WORDS = {
  configs: 'Ids of configs whose type is for routers, at most one of each type. Empty by default.',
  cost: 'The cost of a path through the router, 0 to 65535; 0 by default. Less is preferred.',
  ctrlChanListeners:
    "Further addresses of the router's control channel, each with the names of its groups. Empty by default.",
  disabled: 'True for a router that may not connect; false by default.',
  noTraversal: 'True for a router that no traffic passes on its way to another one; false by default.',
  isVerified: 'True once the router enrolled.',
  unverifiedCertPem:
    'A certificate that was issued to the router and that it did not confirm yet, PEM; null when there is none.',
  unverifiedFingerprint: 'SHA-1 of `unverifiedCertPem` in DER form, 40 lower-case hex digits; null when there is none.',
  enrollmentCreatedAt: 'When the outstanding enrollment was created, RFC 3339; absent once the router is verified.',
  enrollmentExpiresAt: 'When the outstanding enrollment expires, RFC 3339; absent once the router is verified.',
  enrollmentJwt: 'The signed token with which the router enrolls, a secret; absent once it is verified.',
  enrollmentToken: 'The one-time token inside of `enrollmentJwt`, a secret; absent once the router is verified.',
  interfaces: 'The network interfaces that the router reported; null when it reported none.',
} as const
