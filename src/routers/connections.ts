import type { RouterConnection } from '../../ports/router-presence.ts'
import type { Change, ReadTransaction } from '../../ports/storage.ts'
import { controllerProcesses } from '../../resources/routers/controller-processes.ts'
import { routerConnections } from '../../resources/routers/router-connections.ts'
import { StoreLevel } from '../context/store-level.ts'

type Connections = Map<string, RouterConnection>

/**
 * The routers that are connected to other processes over the same store, as those keep it there.
 */
export class OtherConnections {
  readonly #processId: string
  readonly #level: StoreLevel
  /** Router to the processes that hold it. */
  readonly #connections = new Map<string, Connections>()
  /** Which router and process a record is about, because one that is gone cannot be asked. */
  readonly #recorded = new Map<string, { readonly routerId: string; readonly processId: string }>()
  /** Until when (epoch ms) a process is believed. */
  readonly #aliveUntil = new Map<string, number>()

  /** `processId` is this process, of which nothing is kept; `latestRevision` asks the store in a snapshot of its own. */
  constructor(processId: string, latestRevision: () => Promise<number>) {
    this.#processId = processId
    this.#level = new StoreLevel((tx, changes) => this.#catchUp(tx, changes), latestRevision)
  }

  /** From now on it is known what the snapshot holds, or a later one. */
  levelWith(tx: ReadTransaction): Promise<void> {
    return this.#level.reach(tx)
  }

  /** The connection of a router to a process that is alive at `now` (epoch ms). */
  connectionOf(routerId: string, now: number): RouterConnection | undefined {
    for (const [processId, connection] of this.#connections.get(routerId) ?? []) {
      if (now < (this.#aliveUntil.get(processId) ?? 0)) return connection
    }
    return undefined
  }

  /** Whether a process other than this one is alive at `now` (epoch ms). */
  areThere(now: number): boolean {
    return [...this.#aliveUntil].some(([processId, until]) => processId !== this.#processId && now < until)
  }

  async #catchUp(tx: ReadTransaction, changes: readonly Change[] | undefined): Promise<void> {
    if (changes === undefined) await this.#readAll(tx)
    const touched = new Map(changes?.map(({ kind, id }) => [`${kind} ${id}`, { kind, id }]))
    for (const { kind, id } of touched.values()) {
      if (kind === routerConnections.name) this.#put(id, await tx.collection(routerConnections).get(id))
      if (kind === controllerProcesses.name) this.#believe(id, await tx.collection(controllerProcesses).get(id))
    }
  }

  async #readAll(tx: ReadTransaction): Promise<void> {
    this.#connections.clear()
    this.#recorded.clear()
    this.#aliveUntil.clear()
    for (const process of (await tx.collection(controllerProcesses).find()).items) this.#believe(process.id, process)
    for (const record of (await tx.collection(routerConnections).find()).items) this.#put(record.id, record)
  }

  #believe(processId: string, process: { readonly aliveUntil: number } | undefined): void {
    if (process === undefined) this.#aliveUntil.delete(processId)
    else this.#aliveUntil.set(processId, process.aliveUntil)
  }

  #put(
    id: string,
    record:
      | { readonly routerId: string; readonly processId: string; readonly connection: RouterConnection }
      | undefined,
  ): void {
    const known = this.#recorded.get(id)
    if (known !== undefined) {
      this.#recorded.delete(id)
      this.#connections.get(known.routerId)?.delete(known.processId)
      if (this.#connections.get(known.routerId)?.size === 0) this.#connections.delete(known.routerId)
    }
    if (record === undefined || record.processId === this.#processId) return
    const { routerId, processId, connection } = record
    const connections = this.#connections.get(routerId) ?? new Map<string, RouterConnection>()
    this.#connections.set(routerId, connections.set(processId, connection))
    this.#recorded.set(id, { routerId, processId })
  }
}
