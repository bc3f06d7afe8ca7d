import type { RoleSelector } from '../roles.ts'
import { PolicySide } from './policy-side.ts'
import { PolicySubset } from './policy-subset.ts'
import type { EntityChange, Population } from './population.ts'
import { SlotSet } from './slot-set.ts'

type PoliciesByRole = Map<string, SlotSet>

/** One side of all policies of a kind, inverted by role entry: a write to an entity finds the policies that name it. */
export class SideTable {
  readonly #population: Population
  readonly #sides: (PolicySide | undefined)[] = []
  readonly #sufficient: PoliciesByRole = new Map()
  readonly #joint: PoliciesByRole = new Map()

  constructor(population: Population) {
    this.#population = population
  }

  put(policy: number, selector: RoleSelector): void {
    this.remove(policy)
    const side = new PolicySide(selector, this.#population)
    this.#sides[policy] = side
    for (const role of side.sufficientRoles) enlist(this.#sufficient, role, policy)
    for (const role of side.jointRoles) enlist(this.#joint, role, policy)
  }

  remove(policy: number): void {
    const side = this.#sides[policy]
    if (side === undefined) return
    this.#sides[policy] = undefined
    for (const role of side.sufficientRoles) strike(this.#sufficient, role, policy)
    for (const role of side.jointRoles) strike(this.#joint, role, policy)
  }

  /** Adds the sets whose union is what this side of the policy selects. They are for reading only. */
  collectParts(policy: number, parts: Set<SlotSet>): void {
    this.#sides[policy]?.collectParts(parts)
  }

  /** The slots of the policies whose side selects the entity. */
  policiesSelecting(entity: number): SlotSet {
    const policies = new SlotSet()
    const attributeRoles = this.#population.attributeRoles(entity)
    for (const role of ['#all', `@${this.#population.idOf(entity)}`, ...attributeRoles]) {
      const sufficient = this.#sufficient.get(role)
      if (sufficient !== undefined) policies.addAll(sufficient)
    }
    for (const role of attributeRoles) {
      for (const policy of this.#joint.get(role)?.slots() ?? []) {
        if (this.#sides[policy]?.ownsMember(entity) === true) policies.add(policy)
      }
    }
    return policies
  }

  /** The same question about a few policies, for many entities. It holds until the next write. */
  among(policies: readonly (number | undefined)[]): PolicySubset {
    const population = this.#population
    return new PolicySubset(policies, {
      rolesOf: (entity) => population.attributeRoles(entity),
      idOf: (entity) => population.idOf(entity),
      sufficient: (role) => this.#sufficient.get(role),
      joint: (role) => this.#joint.get(role),
      ownsMember: (policy, entity) => this.#sides[policy]?.ownsMember(entity) === true,
    })
  }

  /**
   * Carries a write to an entity over to the policies that remember something about it: those that name its id, and `AllOf`
   * lists with a changed attribute. `AnyOf` lists share the holders of the attribute and need no correction.
   */
  refresh(change: EntityChange): void {
    for (const role of change.roles) {
      const policies = (role.startsWith('@') ? this.#sufficient : this.#joint).get(role)
      for (const policy of policies?.slots() ?? []) this.#sides[policy]?.refresh(change.slot)
    }
  }
}

function enlist(policiesByRole: PoliciesByRole, role: string, policy: number): void {
  const policies = policiesByRole.get(role) ?? new SlotSet()
  policies.add(policy)
  policiesByRole.set(role, policies)
}

function strike(policiesByRole: PoliciesByRole, role: string, policy: number): void {
  const policies = policiesByRole.get(role)
  policies?.delete(policy)
  if (policies?.size === 0) policiesByRole.delete(role)
}
