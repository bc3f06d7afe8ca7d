import type { Population } from './population.ts'
import { SlotSet } from './slot-set.ts'

/** How a list of no posture checks is written. */
const NOTHING = JSON.stringify([])

/** A set of posture checks, with the policies that ask for exactly these. */
export interface PostureDemand {
  /** The ids of the posture checks, ascending. */
  readonly checks: readonly string[]
  /** For reading only. */
  readonly policies: SlotSet
}

/** Policies that have the same role list on a side, with what it selects. */
export interface SharedSelection {
  readonly policies: SlotSet
  readonly members: SlotSet
}

/**
 * The service policies by the posture checks that they ask for. Those that name none are no work; those that do are sorted
 * when somebody asks, once until one of them or a posture check is written.
 */
export class PostureDemands {
  readonly #checks: Population
  readonly #selections: (policies: SlotSet) => Iterable<SharedSelection>
  readonly #naming = new SlotSet()
  readonly #content = new SlotSet()
  #sorted: ReadonlyMap<string, PostureDemand> | undefined

  /** `selections` tells what the lists of posture check roles of some policies select. */
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

  /** A posture check was put or removed. */
  refresh(): void {
    this.#sorted = undefined
  }

  /** Every policy is in exactly one of them. */
  all(): readonly PostureDemand[] {
    this.#sorted ??= this.#sort()
    const asking = [...this.#sorted.values()].filter(({ checks }) => checks.length > 0)
    // A role list that selects no posture check asks for as little as none.
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
