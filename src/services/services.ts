import { checkAttachedConfigs } from '../configs/config-map.ts'
import { identities } from '../identities/identity.resource.ts'
import { type Filter, ids } from '../kernel/filter/index.ts'
import type { Behaviour } from '../kernel/records/behaviour.ts'
import { changeEach, MORE, type WriteBatch } from '../kernel/records/write-batches.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { edgeRouters } from '../routers/edge-router.resource.ts'
import { transitRouters } from '../routers/transit-router.resource.ts'
import { type Services, services } from './service.resource.ts'
import { serviceMembers } from './service-members.ts'
import { type Terminators, terminators } from './terminator.resource.ts'

/**
 * A service takes configs whose types are meant for services, one of each type. What identities said of hosting a service
 * goes with it.
 */
export const serviceBehaviour: Behaviour<Services> = {
  resource: services,

  async guard(_context, tx, _call, { before, after }) {
    if (after !== undefined) await checkAttachedConfigs(tx, 'service', before, after)
    return after
  },

  async beforeWrite(tx, { kind, before }, batch) {
    return kind === 'delete' ? forgetHosting(tx, before.id, batch) : undefined
  },

  members: serviceMembers,
}

async function forgetHosting(
  tx: WriteTransaction,
  serviceId: string,
  batch: WriteBatch,
): Promise<undefined | typeof MORE> {
  const isDone = await changeEach(tx, identities, hosts(serviceId), batch, (identity) => ({
    ...identity,
    serviceHostingCosts: without(identity.serviceHostingCosts, serviceId),
    serviceHostingPrecedences: without(identity.serviceHostingPrecedences, serviceId),
  }))
  return isDone ? undefined : MORE
}

function hosts(serviceId: string): Filter {
  const of = (field: string) => ({ kind: 'json', field, path: [serviceId] }) as const
  const precedences = new Set(['default', 'required', 'failed'])
  return {
    kind: 'or',
    left: { kind: 'compare', operand: of('serviceHostingCosts'), operator: '>=', value: 0 },
    right: { kind: 'in', operand: of('serviceHostingPrecedences'), values: precedences },
  }
}

function without<T>(map: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(map).filter(([name]) => name !== key))
}

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
