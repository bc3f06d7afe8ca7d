import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { Cost, EntityRef, Id, Instant, JsonObject, Name, Precedence, RoleAttributes, Text } from './fields.ts'
import { NetworkInterface } from './network-interface.ts'
import { PERMISSIONS } from './permissions.ts'

/** What a client tells of its environment when it authenticates. */
export const EnvInfo = z.object({
  arch: z.string().max(255).optional(),
  domain: z.string().max(253).optional(),
  hostname: z.string().max(253).optional(),
  os: z.string().max(255).optional(),
  osRelease: z.string().max(255).optional(),
  osVersion: z.string().max(255).optional(),
})

/** What a client tells of its SDK when it authenticates. */
export const SdkInfo = z.object({
  appId: z.string().max(255).optional(),
  appVersion: z.string().max(255).optional(),
  branch: z.string().max(255).optional(),
  revision: z.string().max(255).optional(),
  type: z.string().max(255).optional(),
  version: z.string().max(255).optional(),
})

const outstanding = { expiresAt: z.iso.datetime(), id: z.string(), jwt: z.string(), token: z.string() }

/** Who may connect: a person, a device, a workload or a router (interface: Identity). */
export const identities = defineResource({
  name: 'identities',
  singular: 'identity',
  storeName: 'identities',
  permission: 'identity',
  writable: {
    name: Name,
    typeId: z.enum(['User', 'Device', 'Service', 'Router', 'Default']),
    isAdmin: z.boolean(),
    roleAttributes: RoleAttributes.default([]),
    externalId: Text.nullable().default(null),
    authPolicyId: Id.default('default'),
    appData: JsonObject.default({}),
    defaultHostingCost: Cost.default(0),
    defaultHostingPrecedence: Precedence.default('default'),
    serviceHostingCosts: z.record(z.string(), Cost).default({}),
    serviceHostingPrecedences: z.record(z.string(), Precedence).default({}),
    permissions: z.array(z.enum(PERMISSIONS)).default([]),
  },
  createRequest: {
    enrollment: z.object({ ott: z.boolean().optional(), ottca: Id.optional(), updb: z.string().optional() }).optional(),
  },
  system: {
    isDefaultAdmin: z.boolean(),
    disabledAt: Instant.nullable(),
    disabledUntil: Instant.nullable(),
    envInfo: EnvInfo,
    sdkInfo: SdkInfo,
  },
  derived: {
    authenticators: z.object({
      cert: z.object({ fingerprint: z.string(), id: z.string() }).optional(),
      updb: z.object({ id: z.string(), username: z.string() }).optional(),
    }),
    disabled: z.boolean(),
    edgeRouterConnectionStatus: z.enum(['online', 'offline', 'unknown']),
    enrollment: z.object({
      ott: z.object(outstanding).optional(),
      ottca: z.object({ ...outstanding, ca: EntityRef.nullable(), caId: z.string() }).optional(),
      updb: z.object(outstanding).optional(),
    }),
    hasApiSession: z.boolean(),
    hasEdgeRouterConnection: z.boolean(),
    interfaces: z.array(NetworkInterface).nullable(),
    isMfaEnabled: z.boolean(),
  },
  required: ['name', 'typeId', 'isAdmin'],
  unique: ['name', 'externalId'],
  indexed: ['authPolicyId'],
  references: {
    authPolicyId: { to: 'auth-policies', onDelete: 'restrict', show: 'authPolicy' },
    typeId: { to: 'identity-types', onDelete: 'restrict', show: 'type' },
  },
  links: [
    'authenticators',
    'edge-router-policies',
    'edge-routers',
    'enrollments',
    'failed-service-requests',
    'posture-data',
    'service-configs',
    'service-policies',
    'services',
  ],
  symbols: {
    type: 'typeId',
    typeId: null,
    envInfo: null,
    sdkInfo: null,
  },
  searchedInside: ['serviceHostingCosts', 'serviceHostingPrecedences'],
  inputNames: { typeId: 'type' },
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
  adminOnly: ['replace'],
})
