import { ids } from '../../../domain/filter/index.ts'
import { edgeRouters } from '../../../resources/edge-routers.ts'
import type { terminators } from '../../../resources/terminators.ts'
import { transitRouters } from '../../../resources/transit-routers.ts'
import type { DeriveMembers } from './render.ts'

/** The routers of terminators; deployed clients know every router as a transit router here. */
export const terminatorMembers: DeriveMembers<typeof terminators> = async (_context, tx, _call, records) => {
  const where = ids(new Set(records.map(({ routerId }) => routerId)))
  const edge = await tx.collection(edgeRouters).find({ where })
  const transit = await tx.collection(transitRouters).find({ where })
  const names = new Map([...edge.items, ...transit.items].map(({ id, name }) => [id, name]))
  return records.map(({ routerId }) => {
    const _links = { self: { href: `./transit-routers/${routerId}` } }
    const router = { _links, entity: 'transit-routers', id: routerId, name: names.get(routerId) ?? '' }
    return { dynamicCost: 0, router }
  })
}
