import { type RoleEntries, type RoleSelector, readRoles, type Semantic } from '../../../base/roles.ts'
import type { Population } from './population.ts'
import { SlotSet } from './slot-set.ts'

const NOBODY: ReadonlySet<string> = new Set()

/**
 * One side of policies: a role list over a population. Its members are a union of parts: the holders of an `AnyOf` attribute, which it
 * shares with every other list that names the attribute, and a part of its own that is kept.
 */
export class PolicySide {
  readonly #population: Population
  readonly #semantic: Semantic
  readonly #entries: RoleEntries
  #own: SlotSet | undefined

  constructor(selector: RoleSelector, population: Population) {
    this.#population = population
    this.#semantic = selector.semantic
    this.#entries = readRoles(selector.roles)
  }

  /** The role entries that select by themselves: `#all`, `@` entries, and under `AnyOf` the `#` entries. */
  get sufficientRoles(): string[] {
    const { all, attributes, ids } = this.#entries
    if (all) return ['#all']
    const named = [...ids].map((id) => `@${id}`)
    return this.#semantic === 'AnyOf' ? [...named, ...attributes.map((name) => `#${name}`)] : named
  }

  /** The ids of its `@` entries; empty when `#all` makes them redundant. */
  get namedIds(): ReadonlySet<string> {
    return this.#entries.all ? NOBODY : this.#entries.ids
  }

  /** The `#` entries of an `AllOf` list, which select only together. */
  get jointRoles(): string[] {
    if (this.#entries.all || this.#semantic === 'AnyOf') return []
    return this.#entries.attributes.map((name) => `#${name}`)
  }

  /** Adds the sets whose union are the members. They must not be changed. */
  collectParts(parts: Set<SlotSet>): void {
    const { all, attributes, ids } = this.#entries
    if (all) {
      parts.add(this.#population.everyone)
      return
    }
    if (this.#semantic === 'AnyOf') {
      for (const attribute of attributes) {
        const holders = this.#population.holders(attribute)
        if (holders !== undefined) parts.add(holders)
      }
      if (ids.size === 0) return
    }
    this.#own ??= this.#computeOwn()
    parts.add(this.#own)
  }

  /** Reports whether the entity is named by id or holds all attributes of an `AllOf` list. */
  ownsMember(slot: number): boolean {
    return this.#own === undefined ? this.#matchesOwn(slot) : this.#own.has(slot)
  }

  /** Corrects the kept part for an entity that has just been written. */
  refresh(slot: number): void {
    if (this.#own === undefined) return
    if (this.#matchesOwn(slot)) this.#own.add(slot)
    else this.#own.delete(slot)
  }

  #matchesOwn(slot: number): boolean {
    const { attributes, ids } = this.#entries
    const id = this.#population.idOf(slot)
    if (id !== undefined && ids.has(id)) return true
    if (this.#semantic === 'AnyOf' || attributes.length === 0) return false
    return attributes.every((attribute) => this.#population.holders(attribute)?.has(slot) === true)
  }

  #computeOwn(): SlotSet {
    const own = this.#semantic === 'AllOf' ? this.#holdersOfAll() : new SlotSet()
    for (const id of this.#entries.ids) {
      const slot = this.#population.slotOf(id)
      if (slot !== undefined) own.add(slot)
    }
    return own
  }

  #holdersOfAll(): SlotSet {
    const common = new SlotSet()
    for (const [index, attribute] of this.#entries.attributes.entries()) {
      const holders = this.#population.holders(attribute)
      if (holders === undefined) return new SlotSet()
      if (index === 0) common.addAll(holders)
      else common.retainAll(holders)
    }
    return common
  }
}
