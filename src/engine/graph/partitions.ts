import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { DRAWN_KINDS, drawnFor, networkFacts } from './network-facts.ts'
import { Partition } from './partition.ts'

/** Callers with the same rights to read share what is made for them; so many different rights are remembered. */
const MOST_VIEWS = 4

/** The view that each caller has of the network, made when it is first asked for and kept as long as nothing changes it. */
export class Partitions {
  readonly #context: EngineContext
  readonly #kept = new BoundedMap<string, Partition>(MOST_VIEWS)
  /** One after the other: what one of them makes the next one may use. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(context: EngineContext) {
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
