import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Id } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'

const DEFINITION = {
  name: 'mfas',
  singular: 'mfa',
  storeName: 'mfas',
  permission: 'identity',
  writable: {},
  system: {
    identityId: Id,
    isVerified: z.boolean(),
    /** The TOTP secret and the unused recovery codes (JSON), both sealed. */
    secret: z.string(),
    sealedCodes: z.string(),
    /** The newest time step with an accepted code; -1 before the first. */
    lastStep: z.int(),
    /** The instants of wrong codes within the last day: epoch milliseconds, oldest first. */
    failedAt: z.array(z.int()),
  },
  derived: { provisioningUrl: z.string().optional(), recoveryCodes: z.array(z.string()).nullable() },
  hidden: ['identityId', 'secret', 'sealedCodes', 'lastStep', 'failedAt'],
  required: [],
  unique: ['identityId'],
  references: { identityId: { to: 'identities', onDelete: 'cascade' } },
  operations: [],
} as const satisfies ResourceDefinition

/** The second factor of an identity: one-time passwords and recovery codes. */
export interface Mfas extends Resource<typeof DEFINITION> {}
export const mfas: Mfas = defineResource(DEFINITION, {
  isVerified: 'True once the enrollment was completed by a code.',
  provisioningUrl: 'The `otpauth:` URL for an authenticator app, a secret; shown until the enrollment is complete.',
  recoveryCodes: 'Codes that stand for a one-time password once each, secrets; null once the enrollment is complete.',
})
