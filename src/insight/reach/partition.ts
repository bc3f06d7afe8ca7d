import { BoundedMap } from '../../base/collections.ts'
import type { Call } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import {
  type Classified,
  ClassTable,
  ENDS,
  type EntityClass,
  type GraphPolicy,
  type GroupedKind,
  RolePolicies,
} from '../../facts/insight/graph/index.ts'
import type { Divided, Scope } from '../../facts/insight/reach/divide.rules.ts'
import type { AccessMap } from '../../facts/insight/reach/reach.resource.ts'
import type { HistoryPoint } from '../../ports/record-storage.ts'
import type { Turns } from '../../ports/runtime.ts'
import { changedFacts, drawnFor, type NetworkFacts, networkFacts } from './network-facts.ts'

/** One kind within a scope, divided into groups: the group of each class. */
export interface MapSide extends Divided {
  readonly scope: Scope
  readonly classes: readonly EntityClass[]
  /** The entities that stand alone, each a group, by the place of the group; undefined for groups. */
  readonly ids: readonly string[] | undefined
}

/** The places of policies that select any entity: on the side that links lead from, and on the side that they lead to. */
export type SelectingPolicies = readonly [ReadonlySet<number>, ReadonlySet<number>]

/** A caller's view of a network, its entities sorted into classes. Drawings of it are kept with it. */
export class Partition {
  readonly policies: readonly GraphPolicy[]
  readonly kinds: ReadonlyMap<GroupedKind, Classified>
  /** The latest place in the history of the store at which the view is known to be right. */
  place: HistoryPoint
  #selecting: Promise<SelectingPolicies> | undefined
  readonly #remembered = new Map<string, Promise<readonly string[]>>()
  /** Access maps by their requests: the first view of the explorer, and the groups that were opened last. */
  readonly maps = new BoundedMap<string, Promise<AccessMap>>(MOST_MAPS)
  /** The sides of access maps, which the next view takes over of a kind that stays as it is. */
  readonly sides: ReadonlyMap<GroupedKind, BoundedMap<string, Promise<MapSide>>>

  constructor(
    { policies, place }: { readonly policies: readonly GraphPolicy[]; readonly place: HistoryPoint },
    kinds: ReadonlyMap<GroupedKind, Classified>,
    before?: Partition,
  ) {
    this.policies = policies
    this.place = place
    this.kinds = kinds
    const isOfSameTypes = before !== undefined && areOfSameTypes(policies, before.policies)
    const kept = (kind: GroupedKind) =>
      isOfSameTypes && kinds.get(kind) === before.kinds.get(kind) ? before.sides.get(kind) : undefined
    this.sides = new Map([...kinds.keys()].map((kind) => [kind, kept(kind) ?? new BoundedMap(MOST_MAPS)]))
  }

  /** The answer to a question about this view by its name, worked out when it is first asked. */
  remembered(question: string, answer: () => Promise<readonly string[]>): Promise<readonly string[]> {
    const known = this.#remembered.get(question) ?? answer()
    this.#remembered.set(question, known)
    return known
  }

  /** The places of the policies that select any entity on the side that their links lead from, and on the other. */
  selecting(turns: Turns): Promise<SelectingPolicies> {
    this.#selecting ??= inSlices(turns, selectingOf(this))
    return this.#selecting
  }
}

/** Reports whether the policies at the same places grant the same kind of access: then classes that stay are divided as before. */
function areOfSameTypes(some: readonly GraphPolicy[], others: readonly GraphPolicy[]): boolean {
  return some === others || others.every(({ type }, place) => type === some[place]?.type)
}

const PIECE = 256

function* selectingOf({ kinds, policies }: Partition): Generator<void, SelectingPolicies> {
  const sides = [new Set<number>(), new Set<number>()] as const
  for (const [kind, { classes }] of kinds) {
    for (const [at, { policies: selecting, count }] of classes.entries()) {
      if (at % PIECE === 0) yield
      if (count === 0) continue
      for (const place of selecting) {
        const type = policies[place]?.type
        if (type !== undefined) sides[ENDS[type].from === kind ? 0 : 1].add(place)
      }
    }
  }
  return sides
}

/** How many access maps of one view are kept. */
const MOST_MAPS = 16

/** Views that are remembered: callers with the same rights to read share one. */
const MOST_VIEWS = 4

/** A view with the tables that follow its changes. */
interface KeptView {
  readonly partition: Partition
  readonly tables: Map<GroupedKind, ClassTable>
}

/** The view that each caller has of the network, made with its first question; later it takes over the changes since. */
export class Partitions {
  readonly #context: EngineContext
  readonly #kept = new BoundedMap<string, KeptView>(MOST_VIEWS)
  /** One after the other: each may use what the one before made. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** The view of a caller as of now. */
  of(call: Call, turns: Turns): Promise<Partition> {
    const kinds = drawnFor(call)
    const found = this.#queue.then(() => this.#find(kinds, turns))
    this.#queue = found.catch(() => undefined)
    return found
  }

  async #find(kinds: readonly string[], turns: Turns): Promise<Partition> {
    const { storage } = this.#context
    const view = kinds.join()
    const known = this.#kept.get(view)
    // Half-followed changes are useless: after a failure the view is made anew the next time.
    this.#kept.delete(view)
    const facts = known && (await storage.read((tx) => changedFacts(this.#context, tx, kinds, known.partition.place)))
    const kept = known && facts ? await this.#follow(known, facts, turns) : await this.#make(kinds, turns)
    this.#kept.set(view, kept)
    return kept.partition
  }

  async #make(kinds: readonly string[], turns: Turns): Promise<KeptView> {
    const { storage } = this.#context
    const facts = await storage.read((tx) => networkFacts(this.#context, tx, kinds))
    const tables = new Map<GroupedKind, ClassTable>()
    for (const [kind, entities] of facts.entities) {
      const table = new ClassTable(new RolePolicies(facts.policies, kind))
      await inSlices(turns, table.put(entities))
      tables.set(kind, table)
    }
    return { partition: new Partition(facts, statesOf(tables)), tables }
  }

  async #follow(
    { partition, tables }: KeptView,
    { place, entities, policies }: NetworkFacts,
    turns: Turns,
  ): Promise<KeptView> {
    for (const [kind, table] of tables) {
      await inSlices(turns, table.put(entities.get(kind) ?? []))
      if (policies !== undefined) await inSlices(turns, table.select(new RolePolicies(policies, kind)))
      if (!table.isSparse) continue
      // The classes hold the role attributes of every entity, so nothing is read for it.
      const anew = new ClassTable(new RolePolicies(policies ?? partition.policies, kind))
      await inSlices(turns, anew.put(membersOf(table.current)))
      tables.set(kind, anew)
    }
    const states = statesOf(tables)
    const isSame = [...states].every(([kind, state]) => state === partition.kinds.get(kind))
    if (policies === undefined && isSame) {
      partition.place = place
      return { partition, tables }
    }
    const facts = { policies: policies ?? partition.policies, place }
    return { partition: new Partition(facts, states, partition), tables }
  }
}

function statesOf(tables: ReadonlyMap<GroupedKind, ClassTable>): ReadonlyMap<GroupedKind, Classified> {
  return new Map([...tables].map(([kind, table]) => [kind, table.current]))
}

function* membersOf({ classes, members }: Classified): Generator<readonly [string, readonly string[]]> {
  for (const [place, { attributes }] of classes.entries()) for (const id of members[place] ?? []) yield [id, attributes]
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
