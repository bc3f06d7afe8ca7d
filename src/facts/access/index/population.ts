import type { IndexedEntity } from './kinds.ts'
import { SlotSet } from './slot-set.ts'
import { type OrderedIds, SlotTable } from './slot-table.ts'

interface RoleAttribute {
  /** The role entry: `#` and the name. */
  readonly role: string
  readonly name: string
  readonly holders: SlotSet
}

/** A write to a population: the slot, and the role entries whose selection of it may have changed. */
export interface EntityChange {
  readonly slot: number
  readonly roles: readonly string[]
}

/** The entities of one kind as of an instant, independent of later writes. */
export interface Roster {
  /** The id in each slot; undefined for a free slot. */
  readonly ids: readonly (string | undefined)[]
  /** The role attributes of the entity in a slot, each once, in no promised order. */
  attributesOf(slot: number): readonly string[]
}

/** All entities of one kind, and the holders of each role attribute. */
export class Population {
  readonly everyone = new SlotSet()
  readonly #table = new SlotTable()
  readonly #attributes = new Map<string, RoleAttribute>()
  readonly #held: (readonly RoleAttribute[] | undefined)[] = []
  readonly #keys: (string | undefined)[] = []

  put(entity: IndexedEntity): EntityChange {
    const isNew = this.#table.slotOf(entity.id) === undefined
    const slot = this.#table.take(entity.id)
    const before = new Set(this.#held[slot])
    const after = new Set(entity.roleAttributes.map((name) => this.#attribute(name)))
    const gained = [...after].filter((attribute) => !before.has(attribute))
    const lost = [...before].filter((attribute) => !after.has(attribute))
    for (const { holders } of gained) holders.add(slot)
    this.#takeAway(slot, lost)
    this.#held[slot] = [...after]
    this.#keys[slot] = undefined
    this.everyone.add(slot)
    const roles = [...gained, ...lost].map(({ role }) => role)
    return { slot, roles: isNew ? [...roles, `@${entity.id}`] : roles }
  }

  /** Removes an entity; undefined for an unknown entity. The next new entity may get its slot. */
  remove(id: string): EntityChange | undefined {
    const slot = this.#table.slotOf(id)
    if (slot === undefined) return undefined
    const lost = this.#held[slot] ?? []
    this.#takeAway(slot, lost)
    this.#held[slot] = undefined
    this.#keys[slot] = undefined
    this.everyone.delete(slot)
    this.#table.release(id)
    return { slot, roles: [...lost.map(({ role }) => role), `@${id}`] }
  }

  /** The number of entities. */
  get size(): number {
    return this.#table.size
  }

  slotOf(id: string): number | undefined {
    return this.#table.slotOf(id)
  }

  idOf(slot: number): string | undefined {
    return this.#table.idOf(slot)
  }

  idsOf(set: SlotSet): string[] {
    return this.#table.idsOf(set)
  }

  listOf(set: SlotSet): OrderedIds {
    return this.#table.listOf(set)
  }

  /** The current entities. Writes replace the lists of attributes and never change them, so they need no copy. */
  roster(): Roster {
    const held = this.#held.slice()
    return { ids: this.#table.ids(), attributesOf: (slot) => (held[slot] ?? []).map(({ name }) => name) }
  }

  /** The entities with the role attribute (its name without `#`); undefined for an unused attribute. */
  holders(attribute: string): SlotSet | undefined {
    return this.#attributes.get(attribute)?.holders
  }

  /** Every role attribute in use, without `#`. */
  attributeNames(): string[] {
    return [...this.#attributes.keys()]
  }

  /** The `#` entries that match the entity's role attributes. */
  attributeRoles(slot: number): string[] {
    return (this.#held[slot] ?? []).map(({ role }) => role)
  }

  /** A key that is equal exactly for entities with the same attributes. */
  attributesKey(slot: number): string {
    const key = this.#keys[slot] ?? JSON.stringify(this.attributeRoles(slot).sort())
    this.#keys[slot] = key
    return key
  }

  #attribute(name: string): RoleAttribute {
    const known = this.#attributes.get(name)
    if (known !== undefined) return known
    const attribute = { role: `#${name}`, name, holders: new SlotSet() }
    this.#attributes.set(name, attribute)
    return attribute
  }

  #takeAway(slot: number, attributes: readonly RoleAttribute[]): void {
    for (const { name, holders } of attributes) {
      holders.delete(slot)
      if (holders.size === 0) this.#attributes.delete(name)
    }
  }
}
