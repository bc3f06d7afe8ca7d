import { z } from 'zod'
import { defineResource } from '../../../kernel/declaration/define-resource.ts'
import { Id, Instant, Name, Pem, Text } from '../../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../../kernel/declaration/resource.ts'

const DEFINITION = {
  name: 'external-jwt-signers',
  singular: 'external jwt signer',
  storeName: 'externalJwtSigners',
  permission: 'external-jwt-signer',
  writable: {
    name: Name,
    attributeClaimsSelector: Text.nullable().default(null),
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
    /** True as long as only admins have set the rules by which its tokens authenticate; otherwise they never authenticate an admin. */
    mayAuthenticateAdmins: z.boolean(),
    /** The delegate that created it, or that last set the rules by which its tokens authenticate; null for an administrator. */
    decidedById: Id.nullable(),
  },
  derived: { notBefore: z.iso.datetime(), notAfter: z.iso.datetime() },
  hidden: ['mayAuthenticateAdmins', 'decidedById'],
  plain: ['decidedById'],
  undo: {
    commonName: 'computed',
    fingerprint: 'computed',
    notBefore: 'computed',
    notAfter: 'computed',
    mayAuthenticateAdmins: 'decided',
    decidedById: 'decided',
  },
  quirks: { nullWhenEmpty: ['scopes'] },
  required: ['name', 'audience', 'enabled', 'issuer'],
  unique: ['name', 'issuer', 'kid', 'fingerprint'],
  references: { enrollAuthPolicyId: { to: 'auth-policies', onDelete: 'restrict' } },
  writeErrors: ['INVALID_CERT_PEM', 'INVALID_FIELD'],
  indexed: ['enrollAuthPolicyId'],
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** An issuer of JSON Web Tokens with which identities may authenticate or enroll. */
export interface ExternalJwtSigners extends Resource<typeof DEFINITION> {}
export const externalJwtSigners: ExternalJwtSigners = defineResource(DEFINITION, {
  attributeClaimsSelector:
    'The claim whose texts are role attributes of an identity while a login by a token of the signer stands, as a JSON pointer; null for none.',
  audience: 'A value that a token must name among its audiences (`aud`).',
  certPem:
    'The certificate that tokens are verified by, one PEM certificate; null where `jwksEndpoint` is given. One of the two is.',
  claimsProperty: 'The claim that tells the identity, as a JSON pointer; `/sub` by default.',
  clientId: 'The client id with which clients ask the issuer for tokens; null when they need none.',
  enabled: 'Whether tokens of the signer are accepted.',
  enrollAttributeClaimsSelector:
    'The claim whose texts become role attributes of identities that enroll by token, as a JSON pointer; null for none.',
  enrollAuthPolicyId: 'The id of the auth policy of identities that enroll by token; `default` by default.',
  enrollNameClaimsSelector:
    'The claim that names identities that enroll by token, as a JSON pointer; `/sub` by default.',
  enrollToCertEnabled:
    'Whether a token and a signing request enroll an identity that then has a certificate; false by default.',
  enrollToTokenEnabled: 'Whether a token enrolls an identity that then authenticates by tokens; false by default.',
  externalAuthUrl: 'Where clients begin to log in at the issuer, a URL; null when they are not told.',
  issuer: 'The issuer (`iss`) of the tokens, compared exactly; unique.',
  jwksEndpoint: "The http or https URL of the issuer's JSON Web Key Set; null where `certPem` is given.",
  kid: 'The key id that tokens verified by `certPem` carry, unique; by default the fingerprint of the certificate.',
  scopes: 'The scopes that clients ask the issuer for; empty by default.',
  targetToken: 'Which token of the issuer clients send: `ACCESS` (the default) or `ID`.',
  useExternalId: 'True when the claim is an `externalId` of an identity, false (the default) when it is its id.',
  commonName: 'The common name of the certificate; empty without one.',
  fingerprint: 'SHA-1 of the certificate in DER form, 40 lower-case hex digits; null without one.',
  notBefore: 'From when on the certificate is good, RFC 3339; in the year 1 without one.',
  notAfter: 'When the certificate expires, RFC 3339; in the year 1 without one.',
})
