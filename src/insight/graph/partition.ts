import {
  type Classified,
  classify,
  ENDS,
  edgesOf,
  type GraphPolicy,
  type GroupEdge,
  type Grouped,
  type GroupedKind,
  type Grouping,
  gather,
  type LinkType,
  RolePolicies,
} from '../../domain/graph/index.ts'
import type { Turns } from '../../ports/turns.ts'
import { inSlices } from './in-slices.ts'
import type { NetworkFacts } from './network-facts.ts'

const LINK_TYPES = ['Dial', 'Bind', 'edge-router', 'service-edge-router'] as const satisfies readonly LinkType[]

/** The groups of each kind, and the edges between them, by places. */
export interface DrawnGroups {
  readonly grouped: ReadonlyMap<GroupedKind, Grouped>
  readonly edges: readonly GroupEdge[]
}

/** Somebody's view of a network, its entities sorted into classes. What is drawn of it is kept with it. */
export class Partition {
  readonly policies: readonly GraphPolicy[]
  readonly kinds: ReadonlyMap<GroupedKind, Classified>
  /** The revision as of which it is known to be good. */
  revision: number
  readonly #turns: Turns
  readonly #drawn = new Map<string, Promise<DrawnGroups>>()

  private constructor(facts: NetworkFacts, kinds: ReadonlyMap<GroupedKind, Classified>, turns: Turns) {
    this.policies = facts.policies
    this.revision = facts.revision
    this.kinds = kinds
    this.#turns = turns
  }

  static async of(facts: NetworkFacts, turns: Turns): Promise<Partition> {
    const kinds = new Map<GroupedKind, Classified>()
    for (const [kind, roster] of facts.rosters) {
      kinds.set(kind, await inSlices(turns, classify(roster, new RolePolicies(facts.policies, kind))))
    }
    return new Partition(facts, kinds, turns)
  }

  /** At most `most` groups of each kind, and the edges between them. */
  draw(by: Grouping, most: number): Promise<DrawnGroups> {
    const key = `${by} ${most}`
    const known = this.#drawn.get(key)
    if (known !== undefined) return known
    // Few sizes are ever asked for; who asks for many has the first ones forgotten.
    for (const oldest of this.#drawn.size < MOST_DRAWN ? [] : [...this.#drawn.keys()].slice(0, 1)) {
      this.#drawn.delete(oldest)
    }
    const drawing = this.#draw(by, most)
    this.#drawn.set(key, drawing)
    return drawing
  }

  async #draw(by: Grouping, most: number): Promise<DrawnGroups> {
    const policyIds = this.policies.map(({ id }) => id)
    const grouped = new Map<GroupedKind, Grouped>()
    for (const [kind, { classes }] of this.kinds) {
      grouped.set(kind, await inSlices(this.#turns, gather(classes, by, most, policyIds)))
    }
    const edges: GroupEdge[] = []
    for (const type of LINK_TYPES) {
      const [from, to] = [this.#end(ENDS[type].from, grouped), this.#end(ENDS[type].to, grouped)]
      if (from === undefined || to === undefined) continue
      const found = await inSlices(this.#turns, edgesOf(type, this.policies, from, to))
      for (const edge of found) edges.push(edge)
    }
    return { grouped, edges }
  }

  #end(kind: GroupedKind, grouped: ReadonlyMap<GroupedKind, Grouped>) {
    const [groups, classified] = [grouped.get(kind), this.kinds.get(kind)]
    return groups && classified && { ...groups, classes: classified.classes }
  }
}

/** How many drawings of one view are kept. */
const MOST_DRAWN = 4
