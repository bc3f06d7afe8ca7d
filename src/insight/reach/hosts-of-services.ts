import type { EngineContext } from '../../context/context.ts'
import { StoreLevel } from '../../context/store-level.ts'
import { terminators } from '../../facts/services/terminator.resource.ts'
import type { Change, ReadTransaction } from '../../ports/record-storage.ts'

/** The services that have a terminator: read once, and brought level with the store by the changes since. */
export class HostedServices {
  readonly #context: EngineContext
  readonly #serviceOf = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  readonly #level = new StoreLevel((tx, changes) => this.#catchUp(tx, changes))

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** Tells of a service by its id whether it has a terminator, as of the snapshot or later. */
  async at(tx: ReadTransaction): Promise<(serviceId: string) => boolean> {
    await this.#level.reach(tx)
    return (serviceId) => this.#counts.has(serviceId)
  }

  async #catchUp(tx: ReadTransaction, changes: readonly Change[] | undefined): Promise<void> {
    const turn = this.#context.turns.begin()
    const collection = tx.collection(terminators)
    if (changes === undefined) {
      this.#serviceOf.clear()
      this.#counts.clear()
      for await (const { items } of collection.scan(['serviceId'])) {
        for (const { id, serviceId } of items) {
          this.#put(id, serviceId)
          await turn()
        }
      }
    }
    for (const { kind, id } of changes ?? []) {
      if (kind !== terminators.name) continue
      this.#put(id, (await collection.get(id))?.serviceId)
      await turn()
    }
  }

  #put(id: string, serviceId: string | undefined): void {
    const before = this.#serviceOf.get(id)
    if (before === serviceId) return
    if (before !== undefined) this.#count(before, -1)
    if (serviceId === undefined) this.#serviceOf.delete(id)
    else {
      this.#serviceOf.set(id, serviceId)
      this.#count(serviceId, 1)
    }
  }

  #count(serviceId: string, more: number): void {
    const count = (this.#counts.get(serviceId) ?? 0) + more
    if (count > 0) this.#counts.set(serviceId, count)
    else this.#counts.delete(serviceId)
  }
}
