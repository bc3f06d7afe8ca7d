import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { Cost, EntityRef, Id, Precedence, Text } from './fields.ts'

/** Where the traffic of a service leaves the network: an address behind a router (interface: Other shapes). */
export const terminators = defineResource({
  name: 'terminators',
  singular: 'terminator',
  storeName: 'terminators',
  permission: 'terminator',
  writable: {
    address: Text,
    binding: Text,
    cost: Cost.default(0),
    precedence: Precedence.default('default'),
    routerId: Id,
    serviceId: Id,
  },
  createOnly: { identity: Text.default(''), identitySecret: Text.default('') },
  system: { hostId: z.string() },
  derived: { dynamicCost: z.int(), router: EntityRef.nullable() },
  hidden: ['identitySecret', 'hostId'],
  required: ['address', 'binding', 'routerId', 'serviceId'],
  indexed: ['serviceId', 'routerId'],
  references: {
    serviceId: { to: 'services', onDelete: 'cascade', show: 'service' },
    routerId: { to: 'edge-routers', orTo: 'transit-routers', onDelete: 'cascade' },
  },
  symbols: {
    identity: null,
    instanceId: 'identity',
    hostId: 'hostId',
    service: 'serviceId',
    router: 'routerId',
  },
  inputNames: { routerId: 'router', serviceId: 'service' },
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
})
