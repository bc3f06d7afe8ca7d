import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Instant } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'

const DEFINITION = {
  name: 'network-authorities',
  singular: 'network authority',
  storeName: 'networkAuthorities',
  permission: 'controllers',
  writable: {},
  system: {
    rootPem: z.string(),
    chainPem: z.string(),
    keyId: z.string(),
    rootKey: z.string().nullable(),
    signingKey: z.string().nullable(),
    isVouchedFor: z.boolean(),
    issuesFrom: Instant.nullable(),
    goodUntil: Instant.nullable(),
    askedAt: Instant.nullable(),
  },
  hidden: ['rootKey', 'signingKey'],
  required: [],
  operations: [],
  symbols: { rootKey: null, signingKey: null },
} as const satisfies ResourceDefinition

/**
 * The authorities of the network, each with its root: the successors of the host's authorities and, from the first change on, the host's
 * authorities themselves. The id is the SHA-1 of the signing authority's certificate.
 */
export interface NetworkAuthorities extends Resource<typeof DEFINITION> {}
export const networkAuthorities: NetworkAuthorities = defineResource(DEFINITION, {
  rootPem: 'The roots, PEM.',
  chainPem: 'The signing authority, and the certificates by which earlier roots vouch for its root, PEM.',
  keyId: "The identifier of the signing authority's key, hexadecimal.",
  isVouchedFor: 'Whether who trusts the root before trusts this one too.',
  issuesFrom: 'From when it signs, RFC 3339; null while it does not.',
  askedAt: 'When every device had been asked to renew its certificate, RFC 3339; null until then.',
  goodUntil: 'Until when its certificates are good, RFC 3339; null for as long as they say themselves.',
})
