import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Id, Name } from '../../kernel/declaration/fields.ts'
import { member, type Resource, type ResourceDefinition } from '../../kernel/declaration/resource.ts'
import { described } from '../../kernel/declaration/words.ts'

const DEFINITION = {
  name: 'auth-policies',
  singular: 'auth policy',
  storeName: 'authPolicies',
  permission: 'auth-policy',
  writable: {
    name: Name,
    primary: described(
      z.object({
        cert: described(z.object({ allowExpiredCerts: z.boolean(), allowed: z.boolean() }), {
          allowExpiredCerts: 'Whether a certificate is good before and after the time for which it was issued.',
          allowed: 'Whether identities may authenticate by client certificate.',
        }),
        extJwt: described(z.object({ allowed: z.boolean(), allowedSigners: z.array(Id) }), {
          allowed: 'Whether identities may authenticate by a token of an external JWT signer.',
          allowedSigners: 'Ids of the signers whose tokens are good; empty for every enabled one.',
        }),
        updb: described(
          z.object({
            allowed: z.boolean(),
            lockoutDurationMinutes: z.int(),
            maxAttempts: z.int(),
            minPasswordLength: z.int(),
            requireMixedCase: z.boolean(),
            requireNumberChar: z.boolean(),
            requireSpecialChar: z.boolean(),
          }),
          {
            allowed: 'Whether identities may authenticate by username and password.',
            lockoutDurationMinutes:
              'Minutes for which too many wrong passwords lock the password; 0 until an admin enables the identity.',
            maxAttempts: 'The wrong passwords in a row that lock it; 0 for any number.',
            minPasswordLength: 'The fewest characters of a new password, 5 at least.',
            requireMixedCase: 'Whether a new password needs letters of both cases.',
            requireNumberChar: 'Whether a new password needs a digit.',
            requireSpecialChar: 'Whether a new password needs a character that is neither letter nor digit.',
          },
        ),
      }),
      {
        cert: 'Authentication by client certificate.',
        extJwt: 'Authentication by a token of an external JWT signer.',
        updb: 'Authentication by username and password.',
      },
    ),
    secondary: described(z.object({ requireExtJwtSigner: Id.nullish(), requireTotp: z.boolean() }), {
      requireExtJwtSigner: 'The id of an external JWT signer whose token must accompany every request; null for none.',
      requireTotp: 'Whether every API session needs a one-time password, and every identity an MFA enrollment for it.',
    }),
  },
  system: { isSystem: z.boolean() },
  hidden: ['isSystem'],
  required: ['name', 'primary', 'secondary'],
  unique: ['name'],
  symbols: { isSystem: 'isSystem' },
  computed: {
    'primary.cert.allowed': member('boolean', 'primary.cert.allowed'),
    'primary.cert.allowExpiredCerts': member('boolean', 'primary.cert.allowExpiredCerts'),
    'primary.extJwt.allowed': member('boolean', 'primary.extJwt.allowed'),
    'primary.updb.allowed': member('boolean', 'primary.updb.allowed'),
    'primary.updb.lockoutDurationMinutes': member('integer', 'primary.updb.lockoutDurationMinutes'),
    'primary.updb.maxAttempts': member('integer', 'primary.updb.maxAttempts'),
    'primary.updb.minPasswordLength': member('integer', 'primary.updb.minPasswordLength'),
    'primary.updb.requireMixedCase': member('boolean', 'primary.updb.requireMixedCase'),
    'primary.updb.requireNumberChar': member('boolean', 'primary.updb.requireNumberChar'),
    'primary.updb.requireSpecialChar': member('boolean', 'primary.updb.requireSpecialChar'),
    'secondary.requireExtJwtSigner': member('string', 'secondary.requireExtJwtSigner'),
    'secondary.requireTotp': member('boolean', 'secondary.requireTotp'),
  },
  writeErrors: ['NOT_FOUND'],
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** The permitted methods of authentication, and the required second factors. */
export interface AuthPolicies extends Resource<typeof DEFINITION> {}
export const authPolicies: AuthPolicies = defineResource(DEFINITION, {
  primary: 'How identities under the policy may authenticate.',
  secondary: 'The further proofs that every API session needs.',
})
