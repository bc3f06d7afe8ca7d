import { ids } from '../../domain/filter/index.ts'
import { edgeRouters } from '../../resources/routers/edge-routers.ts'
import { type Terminators, terminators } from '../../resources/routers/terminators.ts'
import { transitRouters } from '../../resources/routers/transit-routers.ts'
import type { Behaviour } from '../records/behaviour.ts'

/** A terminator stays with its service; an empty binding follows from the address. */
export const terminatorBehaviour: Behaviour<Terminators> = {
  resource: terminators,

  async guard(_context, _tx, _call, { before, after }) {
    if (after === undefined) return after
    const implied = after.address.startsWith('udp:') ? 'udp' : 'transport'
    return { ...after, binding: after.binding || implied, serviceId: before?.serviceId ?? after.serviceId }
  },

  /** Deployed clients know every router as a transit router here. */
  async members({ dataPlane }, tx, _call, records) {
    const where = ids(new Set(records.map(({ routerId }) => routerId)))
    const edge = await tx.collection(edgeRouters).find({ where })
    const transit = await tx.collection(transitRouters).find({ where })
    const names = new Map([...edge.items, ...transit.items].map(({ id, name }) => [id, name]))
    return records.map(({ id, routerId }) => {
      const _links = { self: { href: `./transit-routers/${routerId}` } }
      const router = { _links, entity: 'transit-routers', id: routerId, name: names.get(routerId) ?? '' }
      return { dynamicCost: dataPlane.view?.dynamicCostOf(id) ?? 0, router }
    })
  },
}
