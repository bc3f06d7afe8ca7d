import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Name, Pem, RoleAttributes, Text } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'
import { described } from '../../kernel/declaration/words.ts'

/** The location of an identity's external id in a third-party certificate. */
const ExternalIdClaim = described(
  z.object({
    index: z.int(),
    location: z.enum(['COMMON_NAME', 'SAN_URI', 'SAN_EMAIL']),
    matcher: z.enum(['ALL', 'PREFIX', 'SUFFIX', 'SCHEME']),
    matcherCriteria: Text.default(''),
    parser: z.enum(['NONE', 'SPLIT']),
    parserCriteria: Text.default(''),
  }),
  {
    index: 'Which of the values that are found counts, from 0.',
    location: 'Where values stand: in the common name, or among the URIs or e-mail addresses of the alternative names.',
    matcher: 'Which values count: all, those with a prefix or suffix, which is cut off, or URIs of a scheme.',
    matcherCriteria: 'The prefix, suffix or scheme; not looked at for `ALL`, for which it may be left out.',
    parser: 'Whether a value is split at `parserCriteria` (`SPLIT`) or taken whole (`NONE`).',
    parserCriteria: 'The text at which a value is split; not looked at for `NONE`, for which it may be left out.',
  },
)

const DEFINITION = {
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
    /**
     * True as long as only admins have set the rules by which its certificates authenticate; otherwise they never authenticate an admin.
     */
    mayAuthenticateAdmins: z.boolean(),
  },
  hidden: ['mayAuthenticateAdmins'],
  secrets: ['verificationToken'],
  undo: { fingerprint: 'computed', verificationToken: 'anew', mayAuthenticateAdmins: 'decided' },
  required: [
    'name',
    'certPem',
    'identityRoles',
    'isAuthEnabled',
    'isAutoCaEnrollmentEnabled',
    'isOttCaEnrollmentEnabled',
  ],
  quirks: {
    clearedUnlessSent: ['externalIdClaim'],
    mayBeAbsent: ['externalIdClaim', 'verificationToken'],
    nullWhenEmpty: ['identityRoles'],
    requiredOnReplace: [
      'name',
      'identityNameFormat',
      'identityRoles',
      'isAuthEnabled',
      'isAutoCaEnrollmentEnabled',
      'isOttCaEnrollmentEnabled',
    ],
  },
  unique: ['name', 'fingerprint', 'verificationToken'],
  writeErrors: ['INVALID_FIELD'],
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** A third-party certificate authority whose certificates may enroll and authenticate. */
export interface Cas extends Resource<typeof DEFINITION> {}
export const cas: Cas = defineResource(DEFINITION, {
  externalIdClaim:
    'Where certificates of the CA carry the `externalId` of their identity; absent when they carry none.',
  identityNameFormat:
    'How identities are named that enroll by themselves, with `[caName]`, `[commonName]`, `[requestedName]` and `[identityId]` filled in. Empty stands for `[caName]-[commonName]`.',
  identityRoles: 'The role attributes that identities get that enroll by themselves.',
  isAuthEnabled: 'Whether certificates of the CA authenticate, once it is verified.',
  isAutoCaEnrollmentEnabled: 'Whether holders of its certificates may enroll by themselves (method `ca`).',
  isOttCaEnrollmentEnabled: 'Whether its certificates are good for enrollments by `ottca`.',
  certPem: 'The certificate of the CA, PEM; only the first one counts. Set at creation and never changed.',
  fingerprint: 'SHA-1 of the certificate in DER form, 40 lower-case hex digits; unique.',
  isVerified: 'True once somebody proved to control the CA; until then it neither enrolls nor authenticates anybody.',
  verificationToken:
    'The UUID that the verifying certificate must have as common name. Once the CA is verified it is of no more use.',
})
