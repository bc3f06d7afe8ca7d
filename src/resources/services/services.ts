import { z } from 'zod'
import { always } from '../declaration/computed-symbol.ts'
import { defineResource } from '../declaration/define-resource.ts'
import { JsonObject, Name, RoleAttributes, TextSet } from '../declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../declaration/resource.ts'
import { PostureQueries } from '../posture/posture-queries.ts'

const DEFINITION = {
  name: 'services',
  singular: 'service',
  storeName: 'services',
  permission: 'service',
  writable: {
    name: Name,
    configs: TextSet.default([]),
    maxIdleTimeMillis: z.int().min(0).default(0),
    roleAttributes: RoleAttributes.default([]),
    terminatorStrategy: z.enum(['smartrouting', 'random', 'weighted', 'sticky']).default('smartrouting'),
  },
  createOnly: {
    encryptionRequired: z.boolean().default(false),
  },
  derived: {
    config: z.record(z.string(), JsonObject),
    permissions: z.array(z.enum(['Dial', 'Bind', 'Invalid'])),
    postureQueries: z.array(PostureQueries),
  },
  nullWhenEmpty: ['configs', 'roleAttributes'],
  required: ['name'],
  requiredAsDeployed: ['encryptionRequired'],
  unique: ['name'],
  references: { configs: { to: 'configs', onDelete: 'clear' } },
  links: ['configs', 'service-edge-router-policies', 'service-policies', 'terminators'],
  computed: { isFabricOnly: always('boolean', false) },
  operations: ['get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** What can be dialed and bound on the network. */
export interface Services extends Resource<typeof DEFINITION> {}
export const services: Services = defineResource(DEFINITION, {
  configs: 'Ids of configs whose type is for services, at most one of each type. Empty by default.',
  maxIdleTimeMillis: 'Milliseconds after which an idle circuit to the service is closed; 0 (the default) for never.',
  terminatorStrategy: 'How a terminator is chosen for a new circuit; `smartrouting`, the least cost, by default.',
  encryptionRequired: 'Whether traffic must be encrypted from end to end; false by default. Settled at creation.',
  config:
    'The data of the configs that the reader sees, by the name of their type: those of the types that the request or the API session names.',
  permissions:
    'What the reader may do with the service by policy: `Dial`, `Bind` or both; `Invalid` alone for nothing.',
  postureQueries: 'What must be known of the endpoint, for each service policy that grants the service to the reader.',
})
