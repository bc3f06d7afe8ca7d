import { z } from 'zod'
import { described } from '../../kernel/declaration/words.ts'

/** Higher than any latency: a link of this cost is only used without an alternative. */
const MOST_STATIC_COST = 2_147_483_647

/** PATCH /links/{id} of the fabric API. */
export const LinkPatch = described(
  z.object({ staticCost: z.int().min(0).max(MOST_STATIC_COST).optional(), down: z.boolean().optional() }),
  {
    staticCost: 'Its cost for a path beside its latency in milliseconds.',
    down: 'True to take the link out of use; its routers keep it.',
  },
)
