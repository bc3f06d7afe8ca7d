import { z } from 'zod'
import { instant } from '../../base/time.ts'
import { filteredRouter, ROUTER_SYMBOLS, type RouterView } from '../../fabric/data-plane-entities.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { type EntityRef, Links, Tags } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import { pageOf } from '../../records/read-records.ts'

const RouterData = described(
  z.object({
    _links: Links,
    id: z.string(),
    name: z.string(),
    tags: Tags,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    connected: z.boolean(),
    cost: z.int(),
    noTraversal: z.boolean(),
    disabled: z.boolean(),
    fingerprint: z.string(),
    listenerAddresses: z.array(
      described(z.object({ address: z.string(), protocol: z.string() }), {
        address: 'The address as other routers dial it.',
        protocol: 'The protocol, as `tls`.',
      }),
    ),
    versionInfo: z.record(z.string(), z.string()).nullable(),
  }),
  {
    connected: 'True while the router is connected to a controller of the network.',
    cost: 'The cost of a path through the router, 0 to 65535.',
    noTraversal: 'True for a router that no traffic passes on its way to another one.',
    disabled: 'True for a router that may not connect.',
    fingerprint: 'SHA-1 of its certificate, 40 lower-case hex digits; empty until it enrolled.',
    listenerAddresses: 'Where it accepts links of other routers; empty while it is not connected.',
    versionInfo: 'The software of the router, as it reported it; null while it is not connected.',
  },
)

/** Edge routers and transit routers alike. */
export const fabricRouterOperations = {
  list: defineOperation(
    {
      route: 'GET /routers',
      summary: 'Lists routers of both kinds',
      access: { entity: 'router', action: 'read' },
      data: RouterData,
      symbols: ROUTER_SYMBOLS,
    },
    async ({ engine, find }) => {
      const { items, totalCount } = pageOf((await engine.dataPlane.routers()).map(filteredRouter), find)
      return { page: { items: items.map(({ view }) => shown(view)), totalCount } }
    },
  ),
  get: defineOperation(
    {
      route: 'GET /routers/{id}',
      summary: 'Shows one router',
      access: { entity: 'router', action: 'read' },
      data: RouterData,
    },
    async ({ engine, params }) => ({ data: shown(await engine.dataPlane.router(params.id)) }),
  ),
} as const

function shown({ router, connection }: RouterView) {
  const { id, name, tags, createdAt, updatedAt, cost, noTraversal, disabled, fingerprint } = router
  return {
    _links: { self: { href: `./routers/${id}` }, terminators: { href: `./routers/${id}/terminators` } },
    id,
    name,
    tags,
    createdAt: instant(createdAt),
    updatedAt: instant(updatedAt),
    connected: connection !== undefined,
    cost,
    noTraversal,
    disabled,
    fingerprint: fingerprint ?? '',
    listenerAddresses: (connection?.linkListeners ?? []).map(({ address, protocol }) => ({ address, protocol })),
    versionInfo: connection?.versionInfo === undefined ? null : { ...connection.versionInfo },
  }
}

/** How the fabric API refers to an entity: below its own base. */
export function referenceTo(entity: string, id: string, name = id): EntityRef {
  return { _links: { self: { href: `./${entity}/${id}` } }, entity, id, name }
}
