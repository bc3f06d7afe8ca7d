import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { Id, Instant, Pem } from './fields.ts'

/** A short-lived client certificate of one API session (interface: Other shapes, Ephemeral certificate). */
export const apiSessionCertificates = defineResource({
  name: 'api-session-certificates',
  singular: 'api session certificate',
  storeName: 'apiSessionCertificates',
  permission: 'ops',
  writable: {},
  system: {
    apiSessionId: Id,
    certificate: Pem,
    fingerprint: z.string(),
    subject: z.string(),
    validFrom: Instant,
    validTo: Instant,
  },
  hidden: ['apiSessionId'],
  required: [],
  unique: ['fingerprint'],
  indexed: ['apiSessionId'],
  references: { apiSessionId: { to: 'api-sessions', onDelete: 'cascade' } },
  operations: [],
})
