import { z } from 'zod'
import { defineResource } from '../declaration/define-resource.ts'
import { Id, Instant, Pem } from '../declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../declaration/resource.ts'

const DEFINITION = {
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
  mostPerOwner: { owner: 'apiSessionId', limit: 'certificatesPerApiSession', endsEarliest: 'createdAt' },
  unique: ['fingerprint'],
  indexed: ['apiSessionId'],
  references: { apiSessionId: { to: 'api-sessions', onDelete: 'cascade' } },
  symbols: { apiSession: 'apiSessionId' },
  operations: [],
} as const satisfies ResourceDefinition

/** A short-lived client certificate of one API session. */
export interface ApiSessionCertificates extends Resource<typeof DEFINITION> {}
export const apiSessionCertificates: ApiSessionCertificates = defineResource(DEFINITION, {
  certificate: 'The certificate and its intermediates, PEM. It is good for twelve hours at most.',
  fingerprint: 'SHA-1 of the certificate in DER form, 40 lower-case hex digits.',
  subject: 'The distinguished name that the certificate was issued to: the id of the identity as common name.',
  validFrom: 'From when on the certificate is good, RFC 3339.',
  validTo: 'When the certificate expires, RFC 3339.',
})
