import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { Cost, JsonObject, Name, RoleAttributes, TextSet } from './fields.ts'
import { NetworkInterface } from './network-interface.ts'

/** How an edge router stands towards the data plane; offline routers have no addresses. */
export const EdgeRouterPresence = {
  hostname: z.string(),
  isOnline: z.boolean(),
  supportedProtocols: z.record(z.string(), z.string()),
  syncStatus: z.string(),
} as const

/** A router that identities connect to (interface: Edge router). */
export const edgeRouters = defineResource({
  name: 'edge-routers',
  singular: 'edge router',
  storeName: 'routers',
  permission: 'router',
  writable: {
    name: Name,
    appData: JsonObject.default({}),
    configs: TextSet.default([]),
    cost: Cost.default(0),
    ctrlChanListeners: z.record(z.string(), z.array(z.string())).default({}),
    disabled: z.boolean().default(false),
    isTunnelerEnabled: z.boolean().default(false),
    noTraversal: z.boolean().default(false),
    roleAttributes: RoleAttributes.default([]),
  },
  system: {
    certPem: z.string().nullable(),
    fingerprint: z.string().nullable(),
    isVerified: z.boolean(),
    unverifiedCertPem: z.string().nullable(),
    unverifiedFingerprint: z.string().nullable(),
  },
  derived: {
    ...EdgeRouterPresence,
    enrollmentCreatedAt: z.iso.datetime().optional(),
    enrollmentExpiresAt: z.iso.datetime().optional(),
    enrollmentJwt: z.string().optional(),
    enrollmentToken: z.string().optional(),
    interfaces: z.array(NetworkInterface).nullable(),
    versionInfo: z.object({
      arch: z.string(),
      buildDate: z.string(),
      os: z.string(),
      revision: z.string(),
      version: z.string(),
    }),
  },
  required: ['name'],
  unique: ['name', 'fingerprint'],
  references: { configs: { to: 'configs', onDelete: 'clear' } },
  links: ['edge-router-policies'],
  symbols: { certPem: null, unverifiedCertPem: null, unverifiedFingerprint: null },
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
})
