import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { JsonObject, Name, RoleAttributes, TextSet } from './fields.ts'
import { PostureQueries } from './posture-queries.ts'

/** What can be dialed and bound on the network (interface: Service). */
export const services = defineResource({
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
  required: ['name'],
  unique: ['name'],
  references: { configs: { to: 'configs', onDelete: 'clear' } },
  links: ['configs', 'service-edge-router-policies', 'service-policies', 'terminators'],
  operations: ['get', 'create', 'replace', 'patch', 'delete'],
})
