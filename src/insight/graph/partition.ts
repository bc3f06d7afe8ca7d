import { BoundedMap } from '../../base/bounded-map.ts'
import type { Call } from '../../kernel/context/call.ts'
import type { EngineContext } from '../../kernel/context/context.ts'
import type { Turns } from '../../ports/runtime.ts'
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
} from './index.ts'
import { DRAWN_KINDS, drawnFor, type NetworkFacts, networkFacts } from './network-facts.ts'

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
  readonly #remembered = new Map<string, Promise<readonly string[]>>()

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

  /** The answer to a question about this view by its name, worked out when it is first asked. */
  remembered(question: string, answer: () => Promise<readonly string[]>): Promise<readonly string[]> {
    const known = this.#remembered.get(question) ?? answer()
    this.#remembered.set(question, known)
    return known
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

/** Views that are remembered: callers with the same rights to read share one. */
const MOST_VIEWS = 4

/** The view that each caller has of the network, made when it is first asked for and kept as long as nothing changes it. */
export class Partitions {
  readonly #context: Pick<EngineContext, 'access' | 'storage' | 'turns'>
  readonly #kept = new BoundedMap<string, Partition>(MOST_VIEWS)
  /** One after the other: what one of them makes the next one may use. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(context: Pick<EngineContext, 'access' | 'storage' | 'turns'>) {
    this.#context = context
  }

  /** The view of a caller as of now. */
  of(call: Call): Promise<Partition> {
    const kinds = drawnFor(call)
    const found = this.#queue.then(() => this.#find(kinds))
    this.#queue = found.catch(() => undefined)
    return found
  }

  async #find(kinds: readonly string[]): Promise<Partition> {
    const { storage, turns } = this.#context
    const view = kinds.join()
    const known = this.#kept.get(view)
    const facts = await storage.read(async (tx) => {
      if (known === undefined) return networkFacts(this.#context, tx, kinds)
      const changes = await tx.changesSince(known.revision)
      if (changes === undefined || changes.some(({ kind }) => DRAWN_KINDS.has(kind))) {
        return networkFacts(this.#context, tx, kinds)
      }
      known.revision = tx.revision
      return undefined
    })
    const partition = facts === undefined ? known : await Partition.of(facts, turns)
    if (partition === undefined) throw new Error('a view of the network was neither kept nor made')
    this.#kept.set(view, partition)
    return partition
  }
}

/** Does work that yields between its small pieces, and lets others have the thread whenever it took a few milliseconds. */
export async function inSlices<T>(turns: Turns, work: Generator<void, T>): Promise<T> {
  const turn = turns.begin()
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await turn()
  }
}
