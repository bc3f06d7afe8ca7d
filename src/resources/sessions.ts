import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { EdgeRouterPresence } from './edge-routers.ts'
import { EntityRef, Id, JsonObject } from './fields.ts'

/** An edge router that a session may use. */
const SessionEdgeRouter = z.object({
  appData: JsonObject,
  cost: z.int(),
  disabled: z.boolean(),
  name: z.string(),
  noTraversal: z.boolean(),
  ...EdgeRouterPresence,
  urls: z.record(z.string(), z.string()),
})

/** The right of an API session to dial or bind one service (interface: Session). */
export const sessions = defineResource({
  name: 'sessions',
  singular: 'session',
  storeName: 'sessions',
  permission: 'ops',
  writable: {},
  system: {
    apiSessionId: Id,
    identityId: Id,
    serviceId: Id,
    type: z.enum(['Dial', 'Bind']),
    servicePolicies: z.array(Id),
  },
  derived: {
    edgeRouters: z.array(SessionEdgeRouter),
    servicePolicies: z.array(EntityRef),
    token: z.string(),
  },
  hidden: ['servicePolicies'],
  required: [],
  indexed: ['apiSessionId', 'identityId', 'serviceId'],
  references: {
    apiSessionId: { to: 'api-sessions', onDelete: 'cascade', show: 'apiSession' },
    serviceId: { to: 'services', onDelete: 'cascade', show: 'service' },
  },
  links: ['route-path'],
  symbols: { apiSession: 'apiSessionId', service: 'serviceId' },
  operations: ['list', 'get', 'delete'],
})
