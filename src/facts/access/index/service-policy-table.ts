import { type AccessType, type EntityKind, type Grant, type IndexedPolicy, SIDES_OF } from './kinds.ts'
import { PolicyTable } from './policy-table.ts'
import type { EntityChange, Population } from './population.ts'
import { type PostureDemand, PostureDemands } from './posture-demands.ts'
import type { SlotSet } from './slot-set.ts'

const TYPES = ['Bind', 'Dial'] as const satisfies readonly AccessType[]

/** Lists of grants that are kept, one for each queried pair of selections. */
const MOST_KEPT = 50_000

/** Policies of one type that select an identity and demand the same posture checks. */
interface Candidates extends PostureDemand {
  readonly type: AccessType
}

/** Service policies, with the grants for an identity and a service. */
export class ServicePolicyTable extends PolicyTable {
  readonly #demands: PostureDemands
  /** Grants by the selection key of the identity, then of the service; valid until a policy or a posture check is written. */
  readonly #kept = new Map<string, Map<string, readonly Grant[]>>()
  #keptCount = 0

  constructor(populations: Readonly<Record<EntityKind, Population>>) {
    super(SIDES_OF['service-policies'], populations)
    this.#demands = new PostureDemands(
      populations['posture-checks'],
      (policies) => this.sides.get('posture-checks')?.selectionsOf(policies) ?? [],
    )
  }

  override put(policy: IndexedPolicy): number {
    const slot = super.put(policy)
    this.#demands.put(slot, policy.roles['posture-checks'] ?? [])
    this.#forget()
    return slot
  }

  override remove(id: string): number | undefined {
    const slot = super.remove(id)
    if (slot !== undefined) this.#demands.remove(slot)
    this.#forget()
    return slot
  }

  override refresh(kind: EntityKind, change: EntityChange): void {
    super.refresh(kind, change)
    if (kind !== 'posture-checks') return
    this.#demands.refresh()
    this.#forget()
  }

  /**
   * Lists the grants of the policies for an identity at each service, in ascending order of their ids; when merged, policies of one type
   * that demand the same posture checks give one grant, by the lowest id.
   */
  grantsOf(
    identity: number,
    services: readonly (number | undefined)[],
    isMerged: boolean,
  ): readonly (readonly Grant[])[] {
    const known = isMerged ? this.#keptFor(identity) : new Map<string, readonly Grant[]>()
    let candidates: readonly Candidates[] | undefined
    return services.map((service) => {
      if (service === undefined) return []
      const key = this.selectionKey('services', service)
      const kept = known.get(key)
      if (kept !== undefined) return kept
      candidates ??= this.#candidates(identity)
      const ofService = this.selecting('services', service)
      const grants = candidates.flatMap((some) => this.#grants(some, ofService, isMerged)).sort(byPolicyId)
      known.set(key, grants)
      this.#keptCount += 1
      return grants
    })
  }

  #candidates(identity: number): readonly Candidates[] {
    const demands = this.#demands.all()
    return TYPES.flatMap((type) => {
      const ofIdentity = this.selecting('identities', identity, type)
      return demands.flatMap(({ checks, policies }) =>
        policies.intersects(ofIdentity) ? [{ type, checks, policies: ofIdentity.meet(policies) }] : [],
      )
    })
  }

  #grants({ type, checks, policies }: Candidates, ofService: SlotSet, isMerged: boolean): readonly Grant[] {
    if (!policies.intersects(ofService)) return []
    const granting = policies.meet(ofService)
    const lowest = isMerged ? this.lowestOf(granting) : undefined
    const policyIds = lowest === undefined ? this.idsOf(granting) : [lowest]
    return policyIds.map((policyId) => ({ policyId, type, checks }))
  }

  #keptFor(identity: number): Map<string, readonly Grant[]> {
    if (this.#keptCount > MOST_KEPT) this.#forget()
    const key = this.selectionKey('identities', identity)
    const known = this.#kept.get(key) ?? new Map()
    this.#kept.set(key, known)
    return known
  }

  #forget(): void {
    this.#kept.clear()
    this.#keptCount = 0
  }
}

function byPolicyId(one: Grant, other: Grant): number {
  return one.policyId < other.policyId ? -1 : 1
}
