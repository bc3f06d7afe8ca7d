import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { EntityRef, Id, Instant, narrowed, Tags } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'
import { described } from '../../kernel/declaration/words.ts'
import { COMMON_EDGE_ROUTER_WORDS, CommonEdgeRouter } from '../routers/edge-router.resource.ts'

/** An edge router that a session may use. */
const SessionEdgeRouter = described(CommonEdgeRouter.extend({ urls: z.record(z.string(), z.string()) }), {
  ...COMMON_EDGE_ROUTER_WORDS,
  urls: 'The same as `supportedProtocols`, under the name that old clients read.',
})

const DEFINITION = {
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
    /** The instant at which posture may end the session by itself, and the session is judged again. The last possible date for never. */
    dueAt: Instant,
  },
  derived: {
    edgeRouters: z.array(SessionEdgeRouter),
    servicePolicies: z.array(EntityRef),
    token: z.string(),
  },
  hidden: ['servicePolicies', 'dueAt'],
  required: [],
  isWrittenByEndpoints: true,
  mostPerOwner: { owner: 'identityId', limit: 'sessionsPerIdentity', endsEarliest: 'createdAt' },
  indexed: ['apiSessionId', 'identityId', 'serviceId', 'servicePolicies', 'dueAt'],
  references: {
    apiSessionId: { to: 'api-sessions', onDelete: 'cascade', show: 'apiSession' },
    serviceId: { to: 'services', onDelete: 'cascade', show: 'service' },
  },
  links: ['route-path'],
  symbols: { apiSession: 'apiSessionId', service: 'serviceId', token: 'id', dueAt: null },
  operations: ['list', 'get', 'delete'],
} as const satisfies ResourceDefinition

/** The right of an API session to dial or bind one service. */
export interface Sessions extends Resource<typeof DEFINITION> {}
export const sessions: Sessions = defineResource(DEFINITION, {
  apiSessionId: 'The id of the API session that the session belongs to and ends with.',
  identityId: 'The id of the identity that may dial or bind.',
  serviceId: 'The id of the service.',
  type: 'Whether the session is to connect to the service (`Dial`) or to host it (`Bind`).',
  edgeRouters: 'The edge routers that the identity and the service may both use, at most 25, those online first.',
  servicePolicies: 'The service policies that granted the session.',
  token: 'The proof for edge routers: a signed token in the answer to a creation, afterwards the id of the session.',
})

/** A request for a session. */
export interface SessionCreate {
  readonly serviceId: string
  /** `Dial` by default. */
  readonly type?: 'Dial' | 'Bind'
  readonly tags?: Readonly<Record<string, unknown>>
}

/** POST /sessions. */
export const SessionCreation = narrowed<SessionCreate>()(
  described(
    z.object({
      serviceId: Id.default(''),
      type: z.enum(['Dial', 'Bind', 'Invalid']).default('Dial'),
      tags: Tags.default({}),
    }),
    {
      serviceId: 'The id of the service.',
      type: 'Whether to connect to it (`Dial`, the default) or to host it (`Bind`).',
    },
  ),
)
