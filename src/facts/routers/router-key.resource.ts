import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Instant } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'

const DEFINITION = {
  name: 'router-keys',
  singular: 'router key',
  storeName: 'routerKeys',
  permission: 'router',
  writable: {},
  system: {
    fingerprint: z.string(),
    sealedKey: z.string(),
    certPem: z.string(),
    serverCertPem: z.string(),
    expiresAt: Instant,
  },
  hidden: ['sealedKey'],
  required: [],
  operations: [],
  symbols: { sealedKey: null },
} as const satisfies ResourceDefinition

/** The keys of edge routers that run in processes of the controller, by the id of the router. */
export interface RouterKeys extends Resource<typeof DEFINITION> {}
export const routerKeys: RouterKeys = defineResource(DEFINITION, {
  fingerprint: 'SHA-1 of the client certificate in DER form, 40 lower-case hex digits.',
  certPem: 'The client certificate with its intermediates, PEM.',
  serverCertPem: 'The server certificate with its intermediates, PEM.',
  expiresAt: 'When the certificates expire, RFC 3339.',
})
