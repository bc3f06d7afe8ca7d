import { BoundedMap, grouped } from '../../base/collections.ts'
import type { EngineContext } from '../../context/context.ts'
import type { ProcessChannel } from '../../facts/fabric/messages/index.ts'

/** The circuits that are remembered for each other process; the other processes are asked about any more. */
const MOST_REMEMBERED = 500_000
/** Milliseconds within which other processes claim their circuits. */
const ANSWER_MS = 5000

/** A process that uses routers of this one. */
export interface UsingProcess {
  readonly channel: ProcessChannel
  readonly isOpen: boolean
}

/** Circuits by the process that laid each, and the circuits that no process laid. */
export interface SortedCircuits {
  readonly owned: ReadonlyMap<UsingProcess, readonly string[]>
  readonly ofNobody: readonly string[]
}

interface Pending {
  readonly circuitIds: ReadonlySet<string>
  readonly asked: Set<UsingProcess>
  /** The circuits that a process claimed. */
  readonly claimed: Set<string>
  readonly settle: (haveAllAnswered: boolean) => void
}

/** Knows the process that laid each circuit over routers of this process. */
export class CircuitOwners {
  readonly #context: EngineContext
  /**
   * The circuits of each process that is connected. The circuits of a lost process are removed: they would keep its connection in memory.
   */
  readonly #laid = new Map<UsingProcess, BoundedMap<string, true>>()
  readonly #pending = new Map<number, Pending>()
  #number = 0

  constructor(context: EngineContext) {
    this.#context = context
    context.timetable.onDue('circuit-owners', async (numbers) => {
      for (const number of numbers) this.#settle(Number(number), false)
    })
  }

  set(circuitId: string, owner: UsingProcess): void {
    if (!owner.isOpen) return
    const laid = this.#laid.get(owner) ?? new BoundedMap<string, true>(MOST_REMEMBERED)
    this.#laid.set(owner, laid)
    laid.set(circuitId, true)
  }

  forget(circuitId: string): void {
    for (const laid of this.#laid.values()) laid.delete(circuitId)
  }

  /** The process that laid a circuit, as long as it is connected. */
  ownerOf(circuitId: string): UsingProcess | undefined {
    for (const [owner, laid] of this.#laid) if (laid.get(circuitId) === true) return owner
    return undefined
  }

  /**
   * Sorts circuits that this process did not lay. A circuit that no process claimed has no owner. While a process has not answered, a
   * circuit is in neither list: its router asks again.
   */
  async sort(circuitIds: readonly string[], processes: readonly UsingProcess[]): Promise<SortedCircuits> {
    const unknown = new Set(circuitIds.filter((id) => this.ownerOf(id) === undefined))
    const claimed = new Set<string>()
    const isSure = unknown.size === 0 || (await this.#ask([...unknown], processes, claimed))
    const byOwner = grouped(circuitIds, (id) => this.ownerOf(id))
    const owned = new Map([...byOwner].flatMap(([owner, ids]) => (owner === undefined ? [] : [[owner, ids] as const])))
    // A circuit that left a router meanwhile has no owner here any more: no question named it, or its process claimed it.
    const ofNobody = (byOwner.get(undefined) ?? []).filter((id) => isSure && unknown.has(id) && !claimed.has(id))
    return { owned, ofNobody }
  }

  /** A process claims its own among the circuits of a question. */
  answered(process: UsingProcess, number: number, circuitIds: readonly string[]): void {
    const pending = this.#pending.get(number)
    if (pending?.asked.delete(process) !== true) return
    for (const id of circuitIds.filter((one) => pending.circuitIds.has(one))) {
      this.set(id, process)
      pending.claimed.add(id)
    }
    if (pending.asked.size === 0) this.#settle(number, true)
  }

  /** A process is gone: no question waits for it, and it owns no circuit. */
  gone(process: UsingProcess): void {
    this.#laid.delete(process)
    for (const [number, { asked }] of [...this.#pending]) if (asked.has(process)) this.#settle(number, false)
  }

  #ask(circuitIds: readonly string[], processes: readonly UsingProcess[], claimed: Set<string>): Promise<boolean> {
    if (processes.length === 0) return Promise.resolve(true)
    this.#number += 1
    const number = this.#number
    return new Promise((settle) => {
      this.#pending.set(number, { circuitIds: new Set(circuitIds), asked: new Set(processes), claimed, settle })
      this.#context.timetable.set('circuit-owners', String(number), this.#context.clock.now() + ANSWER_MS)
      for (const { channel } of processes) channel.send({ type: 'whose-circuits', number, circuitIds })
    })
  }

  #settle(number: number, haveAllAnswered: boolean): void {
    const pending = this.#pending.get(number)
    this.#pending.delete(number)
    this.#context.timetable.set('circuit-owners', String(number), undefined)
    pending?.settle(haveAllAnswered)
  }
}
