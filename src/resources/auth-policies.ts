import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { Id, Name } from './fields.ts'

/** How identities may authenticate and what they must prove besides (interface: Auth policy). */
export const authPolicies = defineResource({
  name: 'auth-policies',
  singular: 'auth policy',
  storeName: 'authPolicies',
  permission: 'auth-policy',
  writable: {
    name: Name,
    primary: z.object({
      cert: z.object({ allowExpiredCerts: z.boolean(), allowed: z.boolean() }),
      extJwt: z.object({ allowed: z.boolean(), allowedSigners: z.array(Id) }),
      updb: z.object({
        allowed: z.boolean(),
        lockoutDurationMinutes: z.int(),
        maxAttempts: z.int(),
        minPasswordLength: z.int(),
        requireMixedCase: z.boolean(),
        requireNumberChar: z.boolean(),
        requireSpecialChar: z.boolean(),
      }),
    }),
    secondary: z.object({ requireExtJwtSigner: Id.nullish(), requireTotp: z.boolean() }),
  },
  system: { isSystem: z.boolean() },
  hidden: ['isSystem'],
  required: ['name', 'primary', 'secondary'],
  unique: ['name'],
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
})
