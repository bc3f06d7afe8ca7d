import { reEnrollEdgeRouter } from '../../engine/edge-router-re-enrollment.ts'
import { transitRouters } from '../../resources/transit-routers.ts'
import { DONE } from '../answers.ts'
import { crud } from '../crud.ts'
import { defineOperation, type Operation, type OperationShape } from '../operation.ts'

const transitRouterOperations: readonly Operation[] = crud(transitRouters)

/** Routers are known by two paths, of which `/transit-routers` is the older one. */
export const routerAliases: readonly Operation[] = transitRouterOperations.map(({ shape, handle }) => {
  // Only the path differs, and it stays one.
  const route = shape.route.replace('/transit-routers', '/routers') as OperationShape['route']
  return { shape: { ...shape, route }, handle }
})

export const edgeRouterReEnrollment = defineOperation(
  {
    route: 'POST /edge-routers/{id}/re-enroll',
    summary: 'Takes the certificate from an edge router and invites it to enroll anew',
    description: 'It is disconnected until it enrolled with the new token, which GET /edge-routers/{id} shows.',
    access: { entity: 'router', action: 'update' },
  },
  async ({ engine, call, params }) => {
    await reEnrollEdgeRouter(engine.context, call, params.id)
    return DONE
  },
)
