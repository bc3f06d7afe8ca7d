import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { Instant } from './fields.ts'

/** Tokens that are no longer good: one token, those of an API session, or those of an identity; kept until they expire. */
export const revocations = defineResource({
  name: 'revocations',
  singular: 'revocation',
  storeName: 'revocations',
  permission: 'revocation',
  writable: {},
  system: { type: z.enum(['JTI', 'IDENTITY', 'API_SESSION']), expiresAt: Instant },
  required: [],
  operations: ['list', 'get'],
})
