import type { Filter } from '../../domain/filter/index.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import { identities } from '../../resources/identities/identities.ts'
import { type Services, services } from '../../resources/services/services.ts'
import { checkAttachedConfigs } from '../configs/attached-configs.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { changeEach, MORE, type Part } from '../records/parts.ts'
import { serviceMembers } from './service-members.ts'

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

  async precede(tx, { kind, before }, part) {
    return kind === 'delete' ? forgetHosting(tx, before.id, part) : undefined
  },

  members: serviceMembers,
}

async function forgetHosting(tx: WriteTransaction, serviceId: string, part: Part): Promise<undefined | typeof MORE> {
  const isDone = await changeEach(tx, identities, hosts(serviceId), part, (identity) => ({
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
