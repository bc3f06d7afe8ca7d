import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { Name, Pem, RoleAttributes, Text } from './fields.ts'

/** Where in a certificate of a third party the external id of its identity stands. */
const ExternalIdClaim = z.object({
  index: z.int(),
  location: z.enum(['COMMON_NAME', 'SAN_URI', 'SAN_EMAIL']),
  matcher: z.enum(['ALL', 'PREFIX', 'SUFFIX', 'SCHEME']),
  matcherCriteria: Text,
  parser: z.enum(['NONE', 'SPLIT']),
  parserCriteria: Text,
})

/** A third-party certificate authority whose certificates may enroll and authenticate (interface: Certificate authority). */
export const cas = defineResource({
  name: 'cas',
  singular: 'ca',
  storeName: 'cas',
  permission: 'ca',
  writable: {
    name: Name,
    externalIdClaim: ExternalIdClaim.nullable().default(null),
    identityNameFormat: Text.default(''),
    identityRoles: RoleAttributes.default([]),
    isAuthEnabled: z.boolean(),
    isAutoCaEnrollmentEnabled: z.boolean(),
    isOttCaEnrollmentEnabled: z.boolean(),
  },
  createOnly: { certPem: Pem },
  system: {
    fingerprint: z.string(),
    isVerified: z.boolean(),
    verificationToken: z.string().nullable(),
    /** True while only admins decided whom its certificates authenticate; otherwise they never authenticate an admin. */
    mayAuthenticateAdmins: z.boolean(),
  },
  hidden: ['mayAuthenticateAdmins'],
  required: [
    'name',
    'certPem',
    'identityRoles',
    'isAuthEnabled',
    'isAutoCaEnrollmentEnabled',
    'isOttCaEnrollmentEnabled',
  ],
  requiredOnReplace: [
    'name',
    'identityNameFormat',
    'identityRoles',
    'isAuthEnabled',
    'isAutoCaEnrollmentEnabled',
    'isOttCaEnrollmentEnabled',
  ],
  unique: ['name', 'fingerprint', 'verificationToken'],
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
})
