import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { Id, Instant, Name, Pem, Text } from './fields.ts'

/** An issuer of JSON Web Tokens with which identities may authenticate or enroll (interface: External JWT signer). */
export const externalJwtSigners = defineResource({
  name: 'external-jwt-signers',
  singular: 'external jwt signer',
  storeName: 'externalJwtSigners',
  permission: 'external-jwt-signer',
  writable: {
    name: Name,
    audience: Text,
    certPem: Pem.nullable().default(null),
    claimsProperty: Text.default('/sub'),
    clientId: Text.nullable().default(null),
    enabled: z.boolean(),
    enrollAttributeClaimsSelector: Text.nullable().default(null),
    enrollAuthPolicyId: Id.default('default'),
    enrollNameClaimsSelector: Text.default('/sub'),
    enrollToCertEnabled: z.boolean().default(false),
    enrollToTokenEnabled: z.boolean().default(false),
    externalAuthUrl: Text.nullable().default(null),
    issuer: Text,
    jwksEndpoint: Text.nullable().default(null),
    kid: Text.nullable().default(null),
    scopes: z.array(z.string().max(256)).max(100).default([]),
    targetToken: z.enum(['ACCESS', 'ID']).default('ACCESS'),
    useExternalId: z.boolean().default(false),
  },
  system: {
    commonName: z.string(),
    fingerprint: z.string().nullable(),
    notBefore: Instant.nullable(),
    notAfter: Instant.nullable(),
    /** True while only admins decided whom its tokens authenticate; otherwise they never authenticate an admin. */
    mayAuthenticateAdmins: z.boolean(),
  },
  hidden: ['mayAuthenticateAdmins'],
  required: ['name', 'audience', 'enabled', 'issuer'],
  unique: ['name', 'issuer', 'kid', 'fingerprint'],
  references: { enrollAuthPolicyId: { to: 'auth-policies', onDelete: 'restrict' } },
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
})
