import { reEnrollEdgeRouter } from '../../engine/enrollment/edge-router-re-enrollment.ts'
import { showAnyRouter } from '../../engine/entities/any-router.ts'
import { transitRouters } from '../../resources/transit-routers.ts'
import { DONE } from '../operations/answers.ts'
import { crud } from '../operations/crud.ts'
import type { CrudOperations } from '../operations/crud-types.ts'
import {
  type Answer,
  defineOperation,
  type Operation,
  type OperationInput,
  type OperationShape,
} from '../operations/operation.ts'

/** Transit routers. By its id an edge router is shown among them too, as the links of terminators expect. */
export const transitRouterOperations: CrudOperations<typeof transitRouters> = crud(transitRouters).map((row) => {
  return row.shape.route === 'GET /transit-routers/{id}' ? { ...row, handle: show } : row
})

async function show({ engine, call, params }: OperationInput<OperationShape>): Promise<Answer> {
  return { data: await showAnyRouter(engine.context, engine.reader, call, String(Reflect.get(params, 'id'))) }
}

const rows: readonly Operation[] = transitRouterOperations

/** Routers are known by two paths, of which `/transit-routers` is the older one. */
export const routerAliases: readonly Operation[] = rows.map(({ shape, handle }) => {
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
