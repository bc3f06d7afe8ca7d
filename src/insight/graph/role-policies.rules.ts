import { readRoles } from '../roles.ts'
import { ENDS, type GraphPolicy, type GroupedKind } from './graph-policy.ts'

/** Policies, known by their places in a list, by whom they select among the entities of one kind. */
export class RolePolicies {
  readonly #all: number[] = []
  /** Policies that one attribute is enough for. */
  readonly #sufficient = new Map<string, number[]>()
  /** Policies that ask for several attributes, of which this is one. */
  readonly #joint = new Map<string, number[]>()
  readonly #named = new Map<string, number[]>()
  /** How many attributes a policy asks for together. */
  readonly #wanted = new Map<number, number>()

  constructor(policies: readonly GraphPolicy[], kind: GroupedKind) {
    for (const [place, { type, semantic, from, to }] of policies.entries()) {
      const ends = ENDS[type]
      if (ends.from !== kind && ends.to !== kind) continue
      const { all, attributes, ids } = readRoles(ends.from === kind ? from : to)
      if (all) {
        this.#all.push(place)
        continue
      }
      for (const id of ids) enlist(this.#named, id, place)
      const needsAll = semantic === 'AllOf' && attributes.length > 1
      if (needsAll) this.#wanted.set(place, attributes.length)
      for (const attribute of attributes) enlist(needsAll ? this.#joint : this.#sufficient, attribute, place)
    }
  }

  /** The places, ascending, of the policies that select everybody who has exactly these attributes, each listed once. */
  selecting(attributes: readonly string[]): readonly number[] {
    const selected = new Set(this.#all)
    const held = new Map<number, number>()
    for (const attribute of attributes) {
      for (const place of this.#sufficient.get(attribute) ?? []) selected.add(place)
      for (const place of this.#joint.get(attribute) ?? []) held.set(place, (held.get(place) ?? 0) + 1)
    }
    for (const [place, count] of held) if (count === this.#wanted.get(place)) selected.add(place)
    return [...selected].sort((a, b) => a - b)
  }

  /** The places of the policies that name the entity by its id. */
  naming(id: string): readonly number[] {
    return this.#named.get(id) ?? NONE
  }
}

const NONE: readonly number[] = []

function enlist(places: Map<string, number[]>, key: string, place: number): void {
  const known = places.get(key)
  if (known === undefined) places.set(key, [place])
  else known.push(place)
}
