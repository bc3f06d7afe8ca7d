import { z } from 'zod'
import { defineResource } from './define-resource.ts'
import { EDGE_ROUTER_PRESENCE_WORDS, EdgeRouterPresence } from './edge-routers.ts'
import { EntityRef, Id, JsonObject } from './fields.ts'
import { described } from './words.ts'

/** An edge router that a session may use. */
const SessionEdgeRouter = described(
  z.object({
    appData: JsonObject,
    cost: z.int(),
    disabled: z.boolean(),
    name: z.string(),
    noTraversal: z.boolean(),
    ...EdgeRouterPresence,
    urls: z.record(z.string(), z.string()),
  }),
  {
    appData: 'Free data for applications.',
    cost: 'The cost of a path through the router, 0 to 65535.',
    disabled: 'True for a router that may not connect.',
    name: 'The name of the router.',
    noTraversal: 'True for a router that no traffic passes on its way to another one.',
    ...EDGE_ROUTER_PRESENCE_WORDS,
    urls: 'The same as `supportedProtocols`, under the name that old clients read.',
  },
)

/** The right of an API session to dial or bind one service (interface: Session). */
export const sessions = defineResource(
  {
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
    indexed: ['apiSessionId', 'identityId', 'serviceId', 'servicePolicies'],
    references: {
      apiSessionId: { to: 'api-sessions', onDelete: 'cascade', show: 'apiSession' },
      serviceId: { to: 'services', onDelete: 'cascade', show: 'service' },
    },
    links: ['route-path'],
    symbols: { apiSession: 'apiSessionId', service: 'serviceId', token: 'id' },
    operations: ['list', 'get', 'delete'],
  },
  {
    apiSessionId: 'The id of the API session that the session belongs to and ends with.',
    identityId: 'The id of the identity that may dial or bind.',
    serviceId: 'The id of the service.',
    type: 'Whether the session is to connect to the service (`Dial`) or to host it (`Bind`).',
    edgeRouters: 'The edge routers that the identity and the service may both use, at most 25, those online first.',
    servicePolicies: 'The service policies that granted the session.',
    token: 'What edge routers are shown: a signed token in the answer to a creation, afterwards the id of the session.',
  },
)
