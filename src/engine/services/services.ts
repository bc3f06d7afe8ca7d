import type { Filter } from '../../domain/filter/index.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import { identities } from '../../resources/identities/identities.ts'
import { type Services, services } from '../../resources/services/services.ts'
import { checkAttachedConfigs } from '../configs/attached-configs.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { serviceMembers } from './service-members.ts'

/**
 * A service takes configs whose types are meant for services, one of each type. What identities said of hosting a service
 * goes with it.
 */
export const serviceBehaviour: Behaviour<Services> = {
  resource: services,

  async guard(_context, tx, _call, { before, after }) {
    if (after === undefined) await forgetHosting(tx, before.id)
    else await checkAttachedConfigs(tx, 'service', before, after)
    return after
  },

  members: serviceMembers,
}

async function forgetHosting(tx: WriteTransaction, serviceId: string): Promise<void> {
  const { items } = await tx.collection(identities).find({ where: hosts(serviceId) })
  for (const identity of items) {
    await tx.collection(identities).update({
      ...identity,
      serviceHostingCosts: without(identity.serviceHostingCosts, serviceId),
      serviceHostingPrecedences: without(identity.serviceHostingPrecedences, serviceId),
    })
  }
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
