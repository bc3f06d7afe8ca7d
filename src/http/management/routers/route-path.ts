import { z } from 'zod'
import { described } from '../../../resources/declaration/words.ts'
import { defineOperation } from '../../operations/define-operation.ts'

/** Circuits belong to the data plane; deployed clients see an empty path for a session without one, known or not. */
export const routePath = defineOperation(
  {
    route: 'GET /sessions/{id}/route-path',
    summary: 'Shows the routers that the circuit of a session passes',
    description: 'Circuits belong to the data plane: without one the path is empty.',
    access: { entity: 'ops', action: 'read' },
    data: described(z.object({ routePath: z.array(z.string()) }), {
      routePath: 'Ids of routers, in the order of the path; empty without a circuit.',
    }),
  },
  async () => ({ data: { routePath: [] } }),
)
