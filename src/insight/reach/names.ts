import { foldName, type NameEntry, NameOrder } from '../../base/name-order.ts'
import type { EngineContext } from '../../context/context.ts'
import { changesAfter, placeOf } from '../../context/store-level.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../../facts/access/policy.resource.ts'
import { postureChecks } from '../../facts/access/posture/posture-check.resource.ts'
import { configs } from '../../facts/configs/config.resource.ts'
import { cas } from '../../facts/enrollment/ca.resource.ts'
import { identities } from '../../facts/identities/identity.resource.ts'
import { edgeRouters } from '../../facts/routers/edge-router.resource.ts'
import { services } from '../../facts/services/service.resource.ts'
import type { Resource } from '../../kernel/declaration/resource.ts'
import { type HistoryPoint, isSamePoint, type ReadTransaction } from '../../ports/record-storage.ts'
import type { Turns } from '../../ports/runtime.ts'

/** Resources that are searched by name, in the order in which names are found. */
export const NAMED: readonly Resource[] = [
  identities,
  services,
  edgeRouters,
  servicePolicies,
  edgeRouterPolicies,
  serviceEdgeRouterPolicies,
  postureChecks,
  configs,
  cas,
]

/** The names of each kind, in order. */
export type Names = ReadonlyMap<string, NameOrder>

/**
 * The names of everything that is searched by name: read with the first question, and brought level with the store before each question.
 */
export class NameIndex {
  readonly #context: EngineContext
  #names: Names | undefined
  #place: HistoryPoint | undefined
  #queue: Promise<unknown> = Promise.resolve()

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** The names as of now. They go on changing with the store. */
  current(turns: Turns): Promise<Names> {
    const read = this.#queue.then(() => this.#context.storage.read((tx) => this.#at(tx, turns)))
    this.#queue = read.catch(() => undefined)
    return read
  }

  async #at(tx: ReadTransaction, turns: Turns): Promise<Names> {
    if (this.#names !== undefined && this.#place !== undefined && isSamePoint(tx, this.#place)) return this.#names
    const changes = this.#names && (await changesAfter(tx, this.#place))
    const known = changes && this.#names
    const names = known ?? new Map(NAMED.map(({ name }) => [name, new NameOrder()]))
    // Forgotten meanwhile: half-read names are useless.
    this.#names = undefined
    const turn = turns.begin()
    if (known === undefined) {
      for (const resource of NAMED) {
        for await (const { items } of tx.collection(resource).scan(['name'])) {
          for (const record of items) {
            put(names, resource, record)
            await turn()
          }
        }
      }
    }
    for (const { kind, id } of changes ?? []) {
      const resource = NAMED.find(({ name }) => name === kind)
      if (resource === undefined) continue
      const record = await tx.collection(resource).get(id)
      if (record === undefined) names.get(kind)?.remove(id)
      else put(names, resource, record)
      await turn()
    }
    this.#names = names
    this.#place = placeOf(tx)
    return names
  }
}

/** A record, as far as its name is concerned. */
interface Named {
  readonly id: string
  readonly name?: unknown
}

function put(names: Names, { name: kind }: Resource, { id, name }: Named): void {
  if (typeof name === 'string') names.get(kind)?.put(id, name)
}

/** Found names, and whether there are names that the search did not look at. */
interface FoundEntries {
  readonly entries: readonly NameEntry[]
  readonly isPartial: boolean
}

/**
 * Finds names in order, up to a limit. Names that begin with a text come first: the order of names gives them at once.
 * Then come names that hold it anywhere, among the first `looked` others.
 */
export async function searchNames(
  order: NameOrder,
  text: string,
  { most, looked }: { readonly most: number; readonly looked: number },
  turns: Turns,
): Promise<FoundEntries> {
  const wanted = foldName(text)
  const found = await collect(order, { folded: wanted, id: '' }, most, turns, ({ folded }) =>
    folded.startsWith(wanted) ? 'found' : 'done',
  )
  if (found.length >= most) return { entries: found, isPartial: false }
  let left = looked
  const others = await collect(order, { folded: '', id: '' }, most - found.length, turns, ({ folded }) => {
    if (folded.startsWith(wanted)) return 'other'
    left -= 1
    if (left < 0) return 'done'
    return folded.includes(wanted) ? 'found' : 'other'
  })
  return { entries: [...found, ...others], isPartial: left < 0 }
}

/** Names in order from a place on, as `judge` finds them, up to a limit. */
export async function collect(
  order: NameOrder,
  from: Pick<NameEntry, 'folded' | 'id'>,
  most: number,
  turns: Turns,
  judge: (entry: NameEntry) => 'found' | 'other' | 'done',
): Promise<readonly NameEntry[]> {
  const found: NameEntry[] = []
  const turn = turns.begin()
  let place = from
  for (;;) {
    const entries = order.after(place)
    for (const entry of entries) {
      const verdict = judge(entry)
      if (verdict === 'done') return found
      if (verdict === 'found') found.push(entry)
      if (found.length >= most) return found
    }
    const last = entries.at(-1)
    if (last === undefined) return found
    place = last
    await turn()
  }
}
