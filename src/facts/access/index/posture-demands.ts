import type { Population } from './population.ts'
import { SlotSet } from './slot-set.ts'

/** The key of an empty list of posture checks. */
const NOTHING = JSON.stringify([])

/** A set of posture checks, with the policies that demand exactly these checks. */
export interface PostureDemand {
  /** The ids of the posture checks, ascending. */
  readonly checks: readonly string[]
  /** Must not be changed. */
  readonly policies: SlotSet
}

/** Policies with the same role list on a side, and the entities that it selects. */
export interface SharedSelection {
  readonly policies: SlotSet
  readonly members: SlotSet
}

/**
 * The service policies by the posture checks that they demand. Policies without posture checks need no work. The others are sorted on
 * demand, and kept until a policy with posture checks or a posture check is written.
 */
export class PostureDemands {
  readonly #checks: Population
  readonly #selections: (policies: SlotSet) => Iterable<SharedSelection>
  readonly #naming = new SlotSet()
  readonly #content = new SlotSet()
  #sorted: ReadonlyMap<string, PostureDemand> | undefined

  /** `selections` answers the posture checks that the role lists of some policies select. */
  constructor(checks: Population, selections: (policies: SlotSet) => Iterable<SharedSelection>) {
    this.#checks = checks
    this.#selections = selections
  }

  put(policy: number, roles: readonly string[]): void {
    this.remove(policy)
    if (roles.length === 0) {
      this.#content.add(policy)
      return
    }
    this.#naming.add(policy)
    this.#sorted = undefined
  }

  remove(policy: number): void {
    this.#content.delete(policy)
    if (!this.#naming.has(policy)) return
    this.#naming.delete(policy)
    this.#sorted = undefined
  }

  /** To be called after a posture check was put or removed. */
  refresh(): void {
    this.#sorted = undefined
  }

  /** All demands; each policy is in exactly one of them. */
  all(): readonly PostureDemand[] {
    this.#sorted ??= this.#sort()
    const asking = [...this.#sorted.values()].filter(({ checks }) => checks.length > 0)
    // A role list that selects no posture check demands nothing.
    const idle = this.#sorted.get(NOTHING)
    const content = idle === undefined ? this.#content : this.#content.copy()
    if (idle !== undefined) content.addAll(idle.policies)
    return [{ checks: [], policies: content }, ...asking]
  }

  #sort(): ReadonlyMap<string, PostureDemand> {
    const demands = new Map<string, PostureDemand>()
    for (const { policies, members } of this.#selections(this.#naming)) {
      const checks = this.#checks.idsOf(members)
      const key = JSON.stringify(checks)
      const demand = demands.get(key) ?? { checks, policies: new SlotSet() }
      demand.policies.addAll(policies)
      demands.set(key, demand)
    }
    return demands
  }
}
