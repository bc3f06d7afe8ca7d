import { z } from 'zod'
import { defineOperation } from '../operation.ts'

/** Circuits belong to the data plane; deployed clients see an empty path for a session without one, known or not. */
export const routePath = defineOperation(
  {
    route: 'GET /sessions/{id}/route-path',
    summary: 'Shows the routers that the circuit of a session passes',
    access: { entity: 'ops', action: 'read' },
    data: z.object({ routePath: z.array(z.string()) }),
  },
  async () => ({ data: { routePath: [] } }),
)
