import { z } from 'zod'
import { type TransitRouters, transitRouters } from '../../facts/routers/transit-router.resource.ts'
import { type CrudRows, crud } from '../../http/operations/crud.ts'
import { defineOperation, wireSchema } from '../../http/operations/define-operation.ts'
import { done, type Operation } from '../../http/operations/operation.ts'
import { described } from '../../kernel/declaration/words.ts'

const rows = crud(transitRouters)

/** Transit routers. By its id an edge router is shown among them too, as the links of terminators expect. */
export const transitRouterOperations: CrudRows<TransitRouters> = {
  ...rows,
  list: defineOperation(
    {
      route: 'GET /transit-routers',
      summary: rows.list.shape.summary,
      access: rows.list.shape.access,
      data: wireSchema(transitRouters),
      symbols: transitRouters.symbols,
    },
    async ({ engine, call, find }) => ({ page: await engine.reader.routers(call, find) }),
  ),
  get: defineOperation(
    {
      route: 'GET /transit-routers/{id}',
      summary: rows.get.shape.summary,
      access: rows.get.shape.access,
      data: wireSchema(transitRouters),
    },
    async ({ engine, call, params }) => ({ data: await engine.reader.anyRouter(call, params.id) }),
  ),
}

/** Routers are known by two paths; `/transit-routers` is the older one. */
export const routerAliases: RouterAliases = aliases(transitRouterOperations)

type Renamed<Route extends string> = Route extends `${infer Method} /transit-routers${infer Rest}`
  ? `${Method} /routers${Rest}`
  : never
type Alias<Row> =
  Row extends Operation<infer Route, infer Query, infer Body, infer Data, infer Kind>
    ? Operation<Renamed<Route>, Query, Body, Data, Kind>
    : never
type RouterAliases = { readonly [Name in keyof CrudRows<TransitRouters>]: Alias<CrudRows<TransitRouters>[Name]> }

function aliases(operations: Readonly<Record<string, Operation>>): RouterAliases {
  const renamed = Object.entries(operations).map(([name, { shape, handle }]) => {
    const route = shape.route.replace('/transit-routers', '/routers')
    return [name, { shape: { ...shape, route }, handle }]
  })
  // Only the path differs, and the type says how.
  return Object.fromEntries(renamed) as unknown as RouterAliases
}

export const edgeRouterReEnrollment = defineOperation(
  {
    route: 'POST /edge-routers/{id}/re-enroll',
    summary: 'Takes the certificate from an edge router and invites it to enroll anew',
    description: 'It is disconnected until it enrolled with the new token, which GET /edge-routers/{id} shows.',
    access: { entity: 'router', action: 'update' },
  },
  async ({ engine, call, params }) => done(engine.routerEnrollment.reEnroll(call, params.id)),
)

/** Clients see an empty path for a session without a circuit, and for an unknown session. */
export const routePath = defineOperation(
  {
    route: 'GET /sessions/{id}/route-path',
    summary: 'Shows the routers that the circuit of a session passes',
    description: 'The newest circuit counts; without one the path is empty.',
    access: { entity: 'ops', action: 'read' },
    data: described(z.object({ routePath: z.array(z.string()) }), {
      routePath: 'Ids of routers, in the order of the path; empty without a circuit.',
    }),
  },
  async ({ engine, params }) => ({ data: { routePath: [...(await engine.dataPlane.pathOf(params.id))] } }),
)
