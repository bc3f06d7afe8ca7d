import { readRoles, type Semantic } from '../../../base/roles.ts'
import type { AccessType, EntityKind } from '../../access/index/kinds.ts'

/** The kinds of entities that a graph of a network draws. */
export type GroupedKind = Exclude<EntityKind, 'posture-checks'>

/** The type of a link in the graph: a right to dial or bind a service, or the edge routers of an identity or a service. */
export type LinkType = AccessType | 'edge-router' | 'service-edge-router'

/** The kinds that a link of each type leads from and to. */
export const ENDS: Readonly<Record<LinkType, { readonly from: GroupedKind; readonly to: GroupedKind }>> = {
  Dial: { from: 'identities', to: 'services' },
  Bind: { from: 'identities', to: 'services' },
  'edge-router': { from: 'identities', to: 'edge-routers' },
  'service-edge-router': { from: 'services', to: 'edge-routers' },
}

/** A policy of any kind. It links all entities of one role list with all entities of the other role list. */
export interface GraphPolicy {
  readonly id: string
  readonly name: string
  readonly type: LinkType
  readonly semantic: Semantic
  /** The role list over the kind that the link leads from. */
  readonly from: readonly string[]
  /** The role list over the kind that the link leads to. */
  readonly to: readonly string[]
  /** True when it demands posture of the endpoint. */
  readonly isGuarded: boolean
}

/** Policies by the entities of one kind that they select; a policy is its position in a list. */
export class RolePolicies {
  /** The number of 32-bit words with a bit for each policy. */
  readonly #words: number
  readonly #all: number[] = []
  /** Policies for which a single attribute suffices. */
  readonly #sufficient = new Map<string, number[]>()
  /** Policies that demand several attributes, including the key. */
  readonly #joint = new Map<string, number[]>()
  readonly #named = new Map<string, number[]>()
  /** The number of attributes that a policy demands together. */
  readonly #wanted = new Map<number, number>()

  constructor(policies: readonly GraphPolicy[], kind: GroupedKind) {
    this.#words = Math.ceil(policies.length / BITS)
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

  /** The ascending positions of the policies that select an entity with exactly these attributes, each once. */
  selecting(attributes: readonly string[]): readonly number[] {
    const selected = new Uint32Array(this.#words)
    mark(selected, this.#all)
    const held = new Map<number, number>()
    for (const attribute of attributes) {
      mark(selected, this.#sufficient.get(attribute) ?? NONE)
      for (const place of this.#joint.get(attribute) ?? NONE) {
        const count = (held.get(place) ?? 0) + 1
        held.set(place, count)
        if (count === this.#wanted.get(place)) mark(selected, [place])
      }
    }
    return marked(selected)
  }

  /** The positions of the policies that name the entity by its id. */
  naming(id: string): readonly number[] {
    return this.#named.get(id) ?? NONE
  }

  /** The ids that policies name, whether or not entities have them. */
  named(): Iterable<string> {
    return this.#named.keys()
  }
}

const NONE: readonly number[] = []
const BITS = 32

/** Sets the bits of positions. A bitset needs no sorting, which took most of the time of a policy change. */
function mark(words: Uint32Array, places: readonly number[]): void {
  for (const place of places) words[place >>> 5] = (words[place >>> 5] ?? 0) | (1 << (place & (BITS - 1)))
}

/** The positions of set bits, ascending. */
function marked(words: Uint32Array): readonly number[] {
  const places: number[] = []
  for (let at = 0; at < words.length; at += 1) {
    let word = words[at] ?? 0
    while (word !== 0) {
      const lowest = word & -word
      places.push(at * BITS + BITS - 1 - Math.clz32(lowest))
      word ^= lowest
    }
  }
  return places
}

function enlist(places: Map<string, number[]>, key: string, place: number): void {
  const known = places.get(key)
  if (known === undefined) places.set(key, [place])
  else known.push(place)
}
