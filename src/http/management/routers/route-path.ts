import { z } from 'zod'
import { described } from '../../../resources/declaration/words.ts'
import { defineOperation } from '../../operations/define-operation.ts'

/** Clients see an empty path for a session without a circuit, known or not. */
export const routePath = defineOperation(
  {
    route: 'GET /sessions/{id}/route-path',
    summary: 'Shows the routers that the circuit of a session passes',
    description: 'The newest circuit of this process counts; without one the path is empty.',
    access: { entity: 'ops', action: 'read' },
    data: described(z.object({ routePath: z.array(z.string()) }), {
      routePath: 'Ids of routers, in the order of the path; empty without a circuit.',
    }),
  },
  async ({ engine, params }) => ({ data: { routePath: [...engine.dataPlane.pathOf(params.id)] } }),
)
