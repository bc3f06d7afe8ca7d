import { z } from 'zod'
import { both, equals } from '../../domain/filter/index.ts'
import { isAdministrator } from '../../domain/identity.ts'
import { callerOf } from '../../engine/context/call.ts'
import { Links, Tags } from '../../resources/declaration/fields.ts'
import { described } from '../../resources/declaration/words.ts'
import { COMMON_EDGE_ROUTER_WORDS, CommonEdgeRouter } from '../../resources/routers/common-edge-router.ts'
import { edgeRouters } from '../../resources/routers/edge-routers.ts'
import { services } from '../../resources/services/services.ts'
import { defineOperation } from '../operations/define-operation.ts'
import { ListQuery } from '../operations/list-query.ts'
import { onlyMembers } from '../operations/only-members.ts'
import { shownSymbols } from '../operations/shown-symbols.ts'

const UsableEdgeRouter = described(
  CommonEdgeRouter.extend({
    _links: Links,
    createdAt: z.iso.datetime(),
    id: z.string(),
    tags: Tags,
    updatedAt: z.iso.datetime(),
  }),
  COMMON_EDGE_ROUTER_WORDS,
)

/** Being connected is what `isOnline` shows, and every router of the list is verified. */
const SYMBOLS = shownSymbols(edgeRouters.symbols, UsableEdgeRouter, ['connected', 'online', 'isVerified'])

/** The edge routers that the caller may use at all, and for one service. */
export const clientEdgeRouterOperations = [
  defineOperation(
    {
      route: 'GET /current-identity/edge-routers',
      summary: 'Lists the verified edge routers that the caller may use; an admin sees all',
      access: 'authenticated',
      data: UsableEdgeRouter,
      symbols: SYMBOLS,
    },
    async ({ engine, call, find }) => {
      const caller = callerOf(call)
      const { items, totalCount } = await engine.reader.list(call, edgeRouters, find, async (tx) => {
        const own = isAdministrator(caller.identity)
          ? undefined
          : await engine.access.edgeRoutersOf(caller.identity.id)(tx)
        return both(own, equals('isVerified', true))
      })
      return { page: { items: items.map((router) => onlyMembers(router, UsableEdgeRouter)), totalCount } }
    },
  ),
  defineOperation(
    {
      route: 'GET /services/{id}/edge-routers',
      summary: 'Lists the edge routers that the caller and a service may both use',
      description: 'With a `session-token`, it must be that of a session of this API session for this service.',
      access: 'authenticated',
      headers: ['session-token'],
      query: ListQuery,
      data: described(z.object({ edgeRouters: z.array(CommonEdgeRouter) }), {
        edgeRouters: 'The edge routers, at most 25, those online first.',
      }),
    },
    async ({ engine, call, params, headers }) => {
      const caller = callerOf(call)
      const token = headers.get('session-token')
      if (token) await engine.sessions.requireToken(call, params.id, token)
      await engine.reader.get(call, services, params.id, engine.access.reachableBy(caller.identity.id))
      const found = await engine.access.edgeRoutersBetween(caller.identity.id, params.id)
      return { data: { edgeRouters: found.map((router) => onlyMembers(router, CommonEdgeRouter)) } }
    },
  ),
] as const
