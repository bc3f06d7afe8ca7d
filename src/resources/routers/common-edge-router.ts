import { z } from 'zod'
import { JsonObject } from '../declaration/fields.ts'
import { described } from '../declaration/words.ts'
import { EDGE_ROUTER_PRESENCE_WORDS, EdgeRouterPresence } from './edge-routers.ts'

/** What the members of {@link CommonEdgeRouter} mean. */
export const COMMON_EDGE_ROUTER_WORDS = {
  appData: 'Free data for applications.',
  cost: 'The cost of a path through the router, 0 to 65535. Less is preferred.',
  disabled: 'True for a router that may not connect.',
  name: 'The name of the router.',
  noTraversal: 'True for a router that no traffic passes on its way to another one.',
  ...EDGE_ROUTER_PRESENCE_WORDS,
} as const

/** What everybody who may use an edge router sees of it. */
export const CommonEdgeRouter = described(
  z.object({
    appData: JsonObject,
    cost: z.int(),
    disabled: z.boolean(),
    name: z.string(),
    noTraversal: z.boolean(),
    ...EdgeRouterPresence,
  }),
  COMMON_EDGE_ROUTER_WORDS,
)
