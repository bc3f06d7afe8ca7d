import type { AccessType, EntityKind, IndexedPolicy } from './kinds.ts'
import type { EntityChange, Population } from './population.ts'
import { SideTable } from './side-table.ts'
import { SlotSet } from './slot-set.ts'
import { SlotTable } from './slot-table.ts'

/** All policies of one kind: each links every entity of one of its sides with every entity of its other sides. */
export class PolicyTable {
  readonly #table = new SlotTable()
  protected readonly sides: ReadonlyMap<EntityKind, SideTable>
  readonly #ofType: Readonly<Record<AccessType, SlotSet>> = { Dial: new SlotSet(), Bind: new SlotSet() }
  readonly #dormant = new SlotSet()

  constructor(sides: readonly EntityKind[], populations: Readonly<Record<EntityKind, Population>>) {
    this.sides = new Map(sides.map((kind) => [kind, new SideTable(populations[kind])]))
  }

  /** Answers the slot of the policy. */
  put(policy: IndexedPolicy): number {
    const slot = this.#table.take(policy.id)
    this.#clear(slot)
    if (policy.isDormant === true) this.#dormant.add(slot)
    else if (policy.type !== undefined) this.#ofType[policy.type].add(slot)
    for (const [kind, side] of this.sides) {
      side.put(slot, { roles: policy.roles[kind] ?? [], semantic: policy.semantic })
    }
    return slot
  }

  /** Answers the former slot of the policy, which the next new policy may get; undefined for an unknown policy. */
  remove(id: string): number | undefined {
    const slot = this.#table.slotOf(id)
    if (slot === undefined) return undefined
    this.#clear(slot)
    this.#table.release(id)
    return slot
  }

  /** The number of policies. */
  get size(): number {
    return this.#table.size
  }

  has(id: string): boolean {
    return this.#table.slotOf(id) !== undefined
  }

  idsOf(policies: SlotSet): string[] {
    return this.#table.idsOf(policies)
  }

  /** The policy with the lowest id. */
  lowestOf(policies: SlotSet): string | undefined {
    return this.#table.lowestOf(policies)
  }

  /** The policies of a type. The set must not be changed. It is empty for an unknown type, which a damaged session may hold. */
  ofType(type: AccessType): SlotSet {
    return Object.hasOwn(this.#ofType, type) ? this.#ofType[type] : new SlotSet()
  }

  refresh(kind: EntityKind, change: EntityChange): void {
    this.sides.get(kind)?.refresh(change)
  }

  /** The entities of the kind that the policy selects. */
  members(id: string, kind: EntityKind): SlotSet {
    return this.sides.get(kind)?.membersOf(this.#table.slotOf(id)) ?? new SlotSet()
  }

  /** The policies that select the entity, of one type or of any. A dormant policy links nothing, and does not count. */
  selecting(kind: EntityKind, entity: number, type?: AccessType): SlotSet {
    const policies = this.selectingEver(kind, entity)
    if (type !== undefined) policies.retainAll(this.ofType(type))
    else if (this.#dormant.size > 0) policies.removeAll(this.#dormant)
    return policies
  }

  /** The policies that select the entity, dormant policies included. */
  selectingEver(kind: EntityKind, entity: number): SlotSet {
    return this.sides.get(kind)?.policiesSelecting(entity) ?? new SlotSet()
  }

  /** Reports whether one of the policies selects the entity. */
  selectsByAny(policies: SlotSet, kind: EntityKind, entity: number): boolean {
    return this.sides.get(kind)?.selectsByAny(policies, entity) ?? false
  }

  /** A key that is equal for entities that the same policies select, until a policy is written. */
  selectionKey(kind: EntityKind, entity: number): string {
    return this.sides.get(kind)?.selectionKey(entity) ?? ''
  }

  /** The type of a policy; undefined for an unknown policy, and for a policy without a grant. */
  typeOf(id: string): AccessType | undefined {
    const slot = this.#table.slotOf(id)
    return slot === undefined ? undefined : (['Bind', 'Dial'] as const).find((type) => this.#ofType[type].has(slot))
  }

  /** The entities of the other kind that policies link with the entity: the union over the policies that select it, with one exception. */
  linked(
    kind: EntityKind,
    entity: number,
    other: EntityKind,
    type?: AccessType,
    into = new SlotSet(),
    besides?: string,
  ): SlotSet {
    const policies = this.selecting(kind, entity, type)
    const one = besides === undefined ? undefined : this.#table.slotOf(besides)
    if (one !== undefined) policies.delete(one)
    into.clear()
    this.sides.get(other)?.unionOf(policies, into)
    return into
  }

  #clear(slot: number): void {
    this.#ofType.Dial.delete(slot)
    this.#ofType.Bind.delete(slot)
    this.#dormant.delete(slot)
    for (const side of this.sides.values()) side.remove(slot)
  }
}
