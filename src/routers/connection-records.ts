import { Gate } from '../concurrency/gate.ts'
import { Lifetime } from '../concurrency/lifetime.ts'
import { logFailure } from '../context/background-failure.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { Timetable } from '../context/timetable.ts'
import type { Writes } from '../context/writes.ts'
import { controllerProcesses, routerConnections } from '../facts/routers/router-connection.resource.ts'
import { equals } from '../kernel/filter/index.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import type { RouterConnection } from '../ports/router-presence.ts'
import type { Clock, Logger } from '../ports/runtime.ts'
import { deleteEach } from '../records/deletion.ts'
import { newRecord } from '../records/read-records.ts'
import { MORE, newBatch, type WriteBatch, writeEachInParts, writeInBatches } from '../records/write-batches.ts'

interface Ports {
  readonly writes: Writes
  readonly clock: Clock
  readonly logger: Logger
  readonly timetable: Timetable
}

/** The routers that are connected to this process. */
interface OwnConnections {
  ids(): Iterable<string>
  /** Undefined for a router that is not connected here. */
  connectionOf(routerId: string): RouterConnection | undefined
  /** Whether this process has circuits, which lead over routers of others where it holds none. */
  hasCircuits(): boolean
}

/** Milliseconds for which a process counts as alive after its last sign of life. */
const BELIEVED_MS = 30_000
/** Milliseconds between two signs of life of a process that holds routers or has circuits. */
const RENEWAL_MS = 10_000
/** Milliseconds between two writes, so that a crowd of connecting routers costs few of them. */
const PAUSE_MS = 100
/** Milliseconds after which the records of a dead process are deleted. */
const FORGOTTEN_MS = 5 * 60_000
/** Routers that are noted in the same write as the process; seldom there are more. */
const ROUTERS_AT_ONCE = 50

/**
 * Keeps in the store which routers are connected to this process, for the others over the same store. A change is
 * written at once, and further changes within a moment together. Messages that only keep a router connected are never
 * written. A killed process counts as alive for half a minute more.
 */
export class ConnectionRecords {
  readonly #processId: string
  readonly #ports: Ports
  readonly #own: OwnConnections
  readonly #changed = new Set<string>()
  #address: string | null = null
  /** True while the store lists this process. */
  #isListed = false
  /** Epoch ms of the last write. */
  #writtenAt = Number.NEGATIVE_INFINITY
  /** The next write; it includes every change until it begins. */
  #next: Promise<void> | undefined
  readonly #writing = new Gate(1)
  readonly #lifetime = new Lifetime('this process has withdrawn its connections')

  constructor(processId: string, ports: Ports, own: OwnConnections) {
    this.#processId = processId
    this.#ports = ports
    this.#own = own
    ports.timetable.onDue('presence', () => this.#writeSoon())
  }

  /** Routers reach this process at an address from now on. The records of a former process at that address are void. */
  async open(address: string): Promise<void> {
    this.#address = address
    await writeInBatches(this.#ports, SYSTEM_CALL, async (tx, batch) => {
      const { items } = await tx.collection(controllerProcesses).find({ where: equals('address', address) })
      for (const { id } of items) {
        if (id !== this.#processId && (await forget(tx, id, batch)) === MORE) return MORE
      }
      return undefined
    })
  }

  /** A router came, went, or reported something about itself. */
  changed(routerId: string): void {
    const { clock, timetable } = this.#ports
    this.#changed.add(routerId)
    const from = this.#writtenAt + PAUSE_MS
    if (clock.now() < from) timetable.notLater('presence', 'process', from)
    else void this.#writeSoon()
  }

  /** Removes the records of this process from the store. */
  close(): Promise<void> {
    return this.#lifetime.close(
      () => this.#writing.idle(),
      () => this.#withdraw(),
    )
  }

  async #withdraw(): Promise<void> {
    if (!this.#isListed) return
    try {
      await writeInBatches(this.#ports, SYSTEM_CALL, (tx, batch) => forget(tx, this.#processId, batch))
    } catch (error) {
      logFailure(this.#ports.logger, 'connections of routers could not be withdrawn', error)
    }
  }

  /** Says now that this process is alive. */
  renew(): Promise<void> {
    return this.#writeSoon()
  }

  #writeSoon(): Promise<void> {
    this.#next ??= this.#writing.run(() => this.#write())
    return this.#next
  }

  async #write(): Promise<void> {
    this.#next = undefined
    if (!this.#lifetime.isOpen) return
    const { writes, clock, logger, timetable } = this.#ports
    const routerIds = [...this.#changed]
    this.#changed.clear()
    this.#writtenAt = clock.now()
    try {
      const { isListed, concerned } = await writes.run(SYSTEM_CALL, (tx) => this.#store(tx, routerIds, clock.now()))
      this.#isListed = isListed
      const others = concerned.slice(ROUTERS_AT_ONCE)
      await writeEachInParts(this.#ports, SYSTEM_CALL, others, (tx, id) => this.#storeOne(tx, id, clock.now()))
    } catch (error) {
      logFailure(logger, 'connections of routers could not be stored', error)
      for (const routerId of routerIds) this.#changed.add(routerId)
    }
    if (this.#isListed || this.#changed.size > 0) timetable.notLater('presence', 'process', clock.now() + RENEWAL_MS)
  }

  /** Stores the record of this process, and of the first of the routers whose records are due. */
  async #store(tx: WriteTransaction, routerIds: readonly string[], now: number) {
    const processes = tx.collection(controllerProcesses)
    const connected = [...this.#own.ids()]
    const known = await processes.get(this.#processId)
    const aliveUntil = now + BELIEVED_MS
    // Others ask the process for its circuits as long as they know it.
    const isListed = connected.length > 0 || this.#own.hasCircuits()
    if (!isListed) await processes.delete(this.#processId)
    else if (known !== undefined) await processes.update({ ...known, aliveUntil, updatedAt: now })
    else await processes.insert(newRecord(this.#processId, now, { address: this.#address, aliveUntil }))
    // Other processes deleted the records of this one while it was suspended for long.
    const concerned = this.#isListed && known === undefined ? [...new Set([...connected, ...routerIds])] : routerIds
    for (const routerId of concerned.slice(0, ROUTERS_AT_ONCE)) await this.#storeOne(tx, routerId, now)
    const batch = newBatch(this.#ports.clock)
    for (const { id, aliveUntil: until } of (await processes.find()).items) {
      // The rest of it goes with the next write.
      if (now - until > FORGOTTEN_MS && (await forget(tx, id, batch)) === MORE) break
    }
    return { isListed, concerned }
  }

  async #storeOne(tx: WriteTransaction, routerId: string, now: number): Promise<void> {
    const records = tx.collection(routerConnections)
    const id = `${this.#processId}.${routerId}`
    const connection = this.#own.connectionOf(routerId)
    if (connection === undefined) {
      await records.delete(id)
      return
    }
    const known = await records.get(id)
    if (known !== undefined) await records.update({ ...known, connection, updatedAt: now })
    else await records.insert(newRecord(id, now, { routerId, processId: this.#processId, connection }))
  }
}

async function forget(tx: WriteTransaction, processId: string, batch: WriteBatch): Promise<undefined | typeof MORE> {
  if ((await deleteEach(tx, routerConnections, equals('processId', processId), batch)) === MORE) return MORE
  await tx.collection(controllerProcesses).delete(processId)
  return undefined
}
