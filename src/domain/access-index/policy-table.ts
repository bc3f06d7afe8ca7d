import type { AccessType, EntityKind, IndexedPolicy } from './kinds.ts'
import type { EntityChange, Population } from './population.ts'
import { SideTable } from './side-table.ts'
import { SlotSet } from './slot-set.ts'
import { SlotTable } from './slot-table.ts'

/** All policies of one kind: each links every entity of one of its sides with every entity of its other sides. */
export class PolicyTable {
  readonly #table = new SlotTable()
  readonly #sides: ReadonlyMap<EntityKind, SideTable>
  readonly #ofType: Readonly<Record<AccessType, SlotSet>> = { Dial: new SlotSet(), Bind: new SlotSet() }

  constructor(sides: readonly EntityKind[], populations: Readonly<Record<EntityKind, Population>>) {
    this.#sides = new Map(sides.map((kind) => [kind, new SideTable(populations[kind])]))
  }

  put(policy: IndexedPolicy): void {
    const slot = this.#table.take(policy.id)
    this.#clear(slot)
    if (policy.type !== undefined) this.#ofType[policy.type].add(slot)
    for (const [kind, side] of this.#sides) {
      side.put(slot, { roles: policy.roles[kind] ?? [], semantic: policy.semantic })
    }
  }

  remove(id: string): void {
    const slot = this.#table.slotOf(id)
    if (slot === undefined) return
    this.#clear(slot)
    this.#table.release(id)
  }

  /** How many policies there are. */
  get size(): number {
    return this.#table.size
  }

  has(id: string): boolean {
    return this.#table.slotOf(id) !== undefined
  }

  idsOf(policies: SlotSet): string[] {
    return this.#table.idsOf(policies)
  }

  /** The types of which the policies are, Bind first. */
  typesOf(policies: SlotSet): AccessType[] {
    const slots = policies.slots()
    return (['Bind', 'Dial'] as const).filter((type) => slots.some((slot) => this.#ofType[type].has(slot)))
  }

  refresh(kind: EntityKind, change: EntityChange): void {
    this.#sides.get(kind)?.refresh(change)
  }

  /** The entities of the kind that the policy selects. */
  members(id: string, kind: EntityKind): SlotSet {
    const slot = this.#table.slotOf(id)
    return this.#union(kind, slot === undefined ? [] : [slot])
  }

  /** The policies that select the entity, of one type or of any. */
  selecting(kind: EntityKind, entity: number, type?: AccessType): SlotSet {
    const policies = this.#sides.get(kind)?.policiesSelecting(entity) ?? new SlotSet()
    // Nothing is granted for what a damaged session may hold in the place of a type.
    if (type !== undefined) policies.retainAll(Object.hasOwn(this.#ofType, type) ? this.#ofType[type] : new SlotSet())
    return policies
  }

  /** For each entity the positions, ascending, of those of the policies that select it; none for an absent entity. */
  selectingAmong(
    ids: readonly string[],
    kind: EntityKind,
    entities: readonly (number | undefined)[],
  ): readonly (readonly number[])[] {
    const asked = this.#sides.get(kind)?.among(ids.map((id) => this.#table.slotOf(id)))
    return entities.map((entity) => (entity === undefined ? [] : (asked?.selecting(entity) ?? [])))
  }

  /** The type of a policy; none for an unknown one, or one that grants nothing. */
  typeOf(id: string): AccessType | undefined {
    const slot = this.#table.slotOf(id)
    return slot === undefined ? undefined : (['Bind', 'Dial'] as const).find((type) => this.#ofType[type].has(slot))
  }

  /**
   * The entities of the other kind that some policy links with the entity: the union over the policies that select it, but
   * for one.
   */
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
    return this.#union(other, policies.slots(), into)
  }

  /** What the policies select on one side. A part that many of them share goes into the union once. */
  #union(kind: EntityKind, policies: readonly number[], into = new SlotSet()): SlotSet {
    const parts = new Set<SlotSet>()
    for (const policy of policies) this.#sides.get(kind)?.collectParts(policy, parts)
    into.clear()
    for (const part of parts) into.addAll(part)
    return into
  }

  #clear(slot: number): void {
    this.#ofType.Dial.delete(slot)
    this.#ofType.Bind.delete(slot)
    for (const side of this.#sides.values()) side.remove(slot)
  }
}
