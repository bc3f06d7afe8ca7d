import type { AccessType, EntityKind, Grant, PolicyKind } from './kinds.ts'
import { Selections } from './selections.ts'
import { SlotSet } from './slot-set.ts'
import type { OrderedIds } from './slot-table.ts'

/** The edge routers over which an identity and a service may meet. */
export interface EdgeRoutersBetween {
  readonly ofIdentity: number
  readonly ofService: number
  readonly common: string[]
}

/**
 * The selections of all policies, and the access that they grant, for a whole network in memory. It stores nothing per (identity, service)
 * pair: a write to an entity touches its own role attributes and the policies that name them, a write to a policy touches that policy.
 * Lists of ids are in ascending code-unit order; unknown ids answer `[]` or `false`.
 *
 * @example
 * const index = new AccessIndex()
 * index.putEntity('identities', { id: 'alice', roleAttributes: ['staff'] })
 * index.putEntity('services', { id: 'wiki', roleAttributes: [] })
 * const roles = { identities: ['#staff'], services: ['@wiki'] }
 * index.putPolicy('service-policies', { id: 'p1', type: 'Dial', semantic: 'AnyOf', roles })
 * index.allows('alice', 'wiki', 'Dial') // true
 */
export class AccessIndex extends Selections {
  /** The services that the identity may reach by a type, or by any type without one. */
  servicesOf(identityId: string, type?: AccessType): string[] {
    return this.#linkedIds('service-policies', 'identities', identityId, 'services', type)
  }

  /** The identities that may reach the service by a type, or by any type without one. */
  identitiesOf(serviceId: string, type?: AccessType): string[] {
    return this.#linkedIds('service-policies', 'services', serviceId, 'identities', type)
  }

  /** The same as a list that is read on demand. It must be read before the index changes. */
  identitiesListOf(serviceId: string, type?: AccessType): OrderedIds {
    return this.entities.identities.listOf(this.#linked('service-policies', 'services', serviceId, 'identities', type))
  }

  /**
   * The same as a set, which can be compared with other sets of this index while no identity is added or removed. The answer is `into`,
   * which frequent callers reuse. The policy `besides`, if any, does not count.
   */
  audienceOf(serviceId: string, type: AccessType, into: SlotSet = new SlotSet(), besides?: string): SlotSet {
    const slot = this.entities.services.slotOf(serviceId)
    into.clear()
    return slot === undefined
      ? into
      : this.policies['service-policies'].linked('services', slot, 'identities', type, into, besides)
  }

  /** The ids of the identities in a set of this index, ascending. */
  identitiesIn(audience: SlotSet): string[] {
    return this.entities.identities.idsOf(audience)
  }

  /** The services that the identity may dial or bind, as a set that can be compared while no service is added or removed. */
  reachOf(identityId: string, type: AccessType): SlotSet {
    return this.#linked('service-policies', 'identities', identityId, 'services', type)
  }

  /** The ids of the services in a set of this index, ascending. */
  servicesIn(reach: SlotSet): string[] {
    return this.entities.services.idsOf(reach)
  }

  /** Reports whether some service policy of the type selects both the identity and the service. */
  allows(identityId: string, serviceId: string, type: AccessType): boolean {
    const identity = this.entities.identities.slotOf(identityId)
    const service = this.entities.services.slotOf(serviceId)
    if (identity === undefined || service === undefined) return false
    const policies = this.policies['service-policies']
    return policies.selectsByAny(policies.selecting('identities', identity, type), 'services', service)
  }

  /** The types by which the identity may reach the service. */
  accessTypes(identityId: string, serviceId: string): AccessType[] {
    return (['Bind', 'Dial'] as const).filter((type) => this.allows(identityId, serviceId, type))
  }

  /** The service policies that select both the identity and the service, of one type or of any. */
  grantingPolicies(identityId: string, serviceId: string, type?: AccessType): string[] {
    return this.policies['service-policies'].idsOf(this.#granting(identityId, serviceId, type))
  }

  /**
   * Lists the grants of the policies for the identity at each service, in order. Among the policies of one type with the same posture
   * checks, a single policy stands for all, in ascending order of their ids. Services that the same policies select get the same list.
   */
  grantsOf(identityId: string, serviceIds: readonly string[]): readonly (readonly Grant[])[] {
    return this.#grantsOf(identityId, serviceIds, true)
  }

  /** The same with a separate grant for each policy. */
  separateGrantsOf(identityId: string, serviceIds: readonly string[]): readonly (readonly Grant[])[] {
    return this.#grantsOf(identityId, serviceIds, false)
  }

  edgeRoutersOfIdentity(id: string): string[] {
    return this.#linkedIds('edge-router-policies', 'identities', id, 'edge-routers')
  }

  /** The identities that may use an edge router, as a list that is read on demand. It must be read before the index changes. */
  identitiesOfEdgeRouter(id: string): OrderedIds {
    return this.entities.identities.listOf(this.#linked('edge-router-policies', 'edge-routers', id, 'identities'))
  }

  edgeRoutersOfService(id: string): string[] {
    return this.#linkedIds('service-edge-router-policies', 'services', id, 'edge-routers')
  }

  servicesOfEdgeRouter(id: string): string[] {
    return this.#linkedIds('service-edge-router-policies', 'edge-routers', id, 'services')
  }

  /** The edge routers that both the identity and the service may use. */
  commonEdgeRouters(identityId: string, serviceId: string): string[] {
    return this.edgeRoutersBetween(identityId, serviceId).common
  }

  /** The number of edge routers of the identity and of the service, and the common edge routers. */
  edgeRoutersBetween(identityId: string, serviceId: string): EdgeRoutersBetween {
    const common = this.#linked('edge-router-policies', 'identities', identityId, 'edge-routers')
    const ofService = this.#linked('service-edge-router-policies', 'services', serviceId, 'edge-routers')
    const counts = { ofIdentity: common.size, ofService: ofService.size }
    common.retainAll(ofService)
    return { ...counts, common: this.entities['edge-routers'].idsOf(common) }
  }

  #grantsOf(identityId: string, serviceIds: readonly string[], isMerged: boolean): readonly (readonly Grant[])[] {
    const identity = this.entities.identities.slotOf(identityId)
    if (identity === undefined) return serviceIds.map(() => [])
    const slots = serviceIds.map((id) => this.entities.services.slotOf(id))
    return this.policies['service-policies'].grantsOf(identity, slots, isMerged)
  }

  #granting(identityId: string, serviceId: string, type?: AccessType): SlotSet {
    const identity = this.entities.identities.slotOf(identityId)
    const service = this.entities.services.slotOf(serviceId)
    if (identity === undefined || service === undefined) return new SlotSet()
    const policies = this.policies['service-policies']
    const granting = policies.selecting('identities', identity, type)
    granting.retainAll(policies.selecting('services', service))
    return granting
  }

  #linked(policyKind: PolicyKind, kind: EntityKind, id: string, other: EntityKind, type?: AccessType): SlotSet {
    const slot = this.entities[kind].slotOf(id)
    return slot === undefined ? new SlotSet() : this.policies[policyKind].linked(kind, slot, other, type)
  }

  #linkedIds(policyKind: PolicyKind, kind: EntityKind, id: string, other: EntityKind, type?: AccessType): string[] {
    return this.entities[other].idsOf(this.#linked(policyKind, kind, id, other, type))
  }
}
