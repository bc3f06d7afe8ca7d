import { z } from 'zod'
import { callerOf } from '../../context/call.ts'
import { isAdministrator } from '../../facts/authority/authority.rules.ts'
import { COMMON_EDGE_ROUTER_WORDS, CommonEdgeRouter, edgeRouters } from '../../facts/routers/edge-router.resource.ts'
import { services } from '../../facts/services/service.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { ListQuery, shownSymbols } from '../../http/operations/list-query.ts'
import { onlyMembers } from '../../http/operations/operation.ts'
import { Links, Tags } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import { both, equals } from '../../kernel/filter/index.ts'

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

/** `isOnline` already shows whether a router is connected, and every router of the list is verified. */
const SYMBOLS = shownSymbols(edgeRouters.symbols, UsableEdgeRouter, ['connected', 'online', 'isVerified'])

/** The edge routers that the caller may use, for any service and for a given one. */
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
