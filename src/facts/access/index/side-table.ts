import type { RoleSelector } from '../../../base/roles.ts'
import { PolicySide } from './policy-side.ts'
import type { EntityChange, Population } from './population.ts'
import type { SharedSelection } from './posture-demands.ts'
import { SlotSet } from './slot-set.ts'

/** A role list with more entries is not shared between policies: equal long lists are rare. */
const MOST_SHARED_ROLES = 32

/** A role list, with the policies that have it on this side. Its selection is computed once for all of them. */
interface RoleList {
  readonly key: string | undefined
  readonly side: PolicySide
  readonly policies: SlotSet
}

/** One side of all policies of a kind, inverted by role entry: a write to an entity finds the role lists that name it. */
export class SideTable {
  readonly #population: Population
  readonly #listOf: (RoleList | undefined)[] = []
  readonly #shared = new Map<string, RoleList>()
  /** The policies for which a role entry selects by itself. */
  readonly #sufficient = new Map<string, SlotSet>()
  /** The role lists that name an entity by `@id`. */
  readonly #naming = new Map<string, Set<RoleList>>()
  /** The role lists in which a role entry selects only together with others. */
  readonly #joint = new Map<string, Set<RoleList>>()
  readonly #jointLists = new Set<RoleList>()

  constructor(population: Population) {
    this.#population = population
  }

  put(policy: number, selector: RoleSelector): void {
    this.remove(policy)
    const list = this.#listFor(selector)
    this.#listOf[policy] = list
    list.policies.add(policy)
    for (const role of list.side.sufficientRoles) enlist(this.#sufficient, role, policy)
  }

  remove(policy: number): void {
    const list = this.#listOf[policy]
    if (list === undefined) return
    this.#listOf[policy] = undefined
    list.policies.delete(policy)
    for (const role of list.side.sufficientRoles) {
      const policies = this.#sufficient.get(role)
      policies?.delete(policy)
      if (policies?.size === 0) this.#sufficient.delete(role)
    }
    if (list.policies.size === 0) this.#forget(list)
  }

  /** The slots of the policies whose side selects the entity. */
  policiesSelecting(entity: number): SlotSet {
    const policies = new SlotSet()
    for (const naming of this.#selecting(entity)) policies.addAll(naming)
    return policies
  }

  /** Reports whether the side of one of the policies selects the entity. */
  selectsByAny(policies: SlotSet, entity: number): boolean {
    for (const naming of this.#selecting(entity)) if (naming.intersects(policies)) return true
    return false
  }

  /** Collects into a set the entities that this side of any of the policies selects. */
  unionOf(policies: SlotSet, into: SlotSet): void {
    const parts = new Set<SlotSet>()
    into.clear()
    if (policies.size <= this.#sufficient.size + this.#jointLists.size) {
      for (const policy of policies.slots()) this.#listOf[policy]?.side.collectParts(parts)
    } else {
      // The number of role entries bounds the work, however many policies there are.
      for (const [role, naming] of this.#sufficient)
        if (naming.intersects(policies)) this.#collectRole(role, parts, into)
      for (const { policies: having, side } of this.#jointLists) {
        if (having.intersects(policies)) side.collectParts(parts)
      }
    }
    for (const part of parts) into.addAll(part)
  }

  /** Makes a new set of the members that this side of a policy selects. */
  membersOf(policy: number | undefined): SlotSet {
    const list = policy === undefined ? undefined : this.#listOf[policy]
    return list === undefined ? new SlotSet() : membersOf(list)
  }

  /** Lists the selections of the role lists of the policies on this side, each list once. */
  *selectionsOf(policies: SlotSet): Iterable<SharedSelection> {
    const lists = new Set(policies.slots().flatMap((policy) => this.#listOf[policy] ?? []))
    for (const list of lists) yield { policies: list.policies, members: membersOf(list) }
  }

  /** A key that is equal for entities that the same policies select, whatever other entities are put or removed. */
  selectionKey(entity: number): string {
    const roles = this.#population.attributesKey(entity)
    const named = `@${this.#population.idOf(entity)}`
    return this.#naming.has(named) ? `${named} ${roles}` : roles
  }

  /**
   * Carries a write to an entity over to the role lists that keep members: lists that name its id, and `AllOf` lists with a changed
   * attribute. `AnyOf` lists share the holders of the attribute and need no correction.
   */
  refresh(change: EntityChange): void {
    for (const role of change.roles) {
      const lists = (role.startsWith('@') ? this.#naming : this.#joint).get(role)
      for (const { side } of lists ?? []) side.refresh(change.slot)
    }
  }

  /** Sets whose union are the policies whose side selects the entity. They must not be changed. */
  *#selecting(entity: number): Iterable<SlotSet> {
    const attributeRoles = this.#population.attributeRoles(entity)
    for (const role of ['#all', `@${this.#population.idOf(entity)}`, ...attributeRoles]) {
      const sufficient = this.#sufficient.get(role)
      if (sufficient !== undefined) yield sufficient
    }
    for (const role of attributeRoles) {
      for (const { side, policies } of this.#joint.get(role) ?? []) if (side.ownsMember(entity)) yield policies
    }
  }

  /** Collects the selection of a sufficient role entry: an entity goes `into` the union, holders of an attribute become a part. */
  #collectRole(role: string, parts: Set<SlotSet>, into: SlotSet): void {
    if (role.startsWith('@')) {
      const slot = this.#population.slotOf(role.slice(1))
      if (slot !== undefined) into.add(slot)
      return
    }
    const holders = role === '#all' ? this.#population.everyone : this.#population.holders(role.slice(1))
    if (holders !== undefined) parts.add(holders)
  }

  #listFor(selector: RoleSelector): RoleList {
    const roles = new Set(selector.roles)
    const key = roles.size > MOST_SHARED_ROLES ? undefined : JSON.stringify([selector.semantic, ...[...roles].sort()])
    const known = key === undefined ? undefined : this.#shared.get(key)
    if (known !== undefined) return known
    const list = { key, side: new PolicySide(selector, this.#population), policies: new SlotSet() }
    if (key !== undefined) this.#shared.set(key, list)
    for (const id of list.side.namedIds) join(this.#naming, `@${id}`, list)
    for (const role of list.side.jointRoles) join(this.#joint, role, list)
    if (list.side.jointRoles.length > 0) this.#jointLists.add(list)
    return list
  }

  #forget(list: RoleList): void {
    if (list.key !== undefined) this.#shared.delete(list.key)
    for (const id of list.side.namedIds) leave(this.#naming, `@${id}`, list)
    for (const role of list.side.jointRoles) leave(this.#joint, role, list)
    this.#jointLists.delete(list)
  }
}

function membersOf({ side }: RoleList): SlotSet {
  const members = new SlotSet()
  const parts = new Set<SlotSet>()
  side.collectParts(parts)
  for (const part of parts) members.addAll(part)
  return members
}

function enlist(policiesByRole: Map<string, SlotSet>, role: string, policy: number): void {
  const policies = policiesByRole.get(role) ?? new SlotSet()
  policies.add(policy)
  policiesByRole.set(role, policies)
}

function join(listsByRole: Map<string, Set<RoleList>>, role: string, list: RoleList): void {
  const lists = listsByRole.get(role) ?? new Set()
  lists.add(list)
  listsByRole.set(role, lists)
}

function leave(listsByRole: Map<string, Set<RoleList>>, role: string, list: RoleList): void {
  const lists = listsByRole.get(role)
  lists?.delete(list)
  if (lists?.size === 0) listsByRole.delete(role)
}
