import { isYetToCome } from '../base/time.ts'
import { Gate } from '../concurrency/gate.ts'
import { Lifetime } from '../concurrency/lifetime.ts'
import type { Clock, Logger, Scheduler } from '../ports/runtime.ts'
import { isClosing, logFailure } from './background-failure.ts'
import { OCCASIONS, type Occasion } from './occasions.ts'

type Work = (ids: readonly string[]) => Promise<void>

/** Ids that are handled at once; further ids follow in later turns, so that requests are answered in between. */
const IDS_PER_TURN = 500
/** Bulk occasions that are handled at once: they share the database with requests. */
const BULK_AT_ONCE = 3

/** The schedule of this process's own work: one timer for all of it. */
export class Timetable {
  readonly #clock: Clock
  readonly #scheduler: Scheduler
  readonly #logger: Logger
  readonly #lanes = new Map<Occasion, Lane>()
  readonly #bulk = new Gate(BULK_AT_ONCE)
  #timer: { readonly at: number; readonly cancel: () => void } | undefined
  readonly #running = new Set<Promise<void>>()
  readonly #lifetime = new Lifetime('the timetable is closed')

  constructor(ports: { readonly clock: Clock; readonly scheduler: Scheduler; readonly logger: Logger }) {
    this.#clock = ports.clock
    this.#scheduler = ports.scheduler
    this.#logger = ports.logger
  }

  /** Sets the work of an occasion. */
  onDue(occasion: Occasion, work: Work): void {
    this.#lane(occasion).work = work
  }

  /** Sets the instant `at` (epoch ms) at which an id is due, in place of any earlier setting; never due without an instant. */
  set(occasion: Occasion, id: string, at: number | undefined): void {
    const { deadlines } = this.#lane(occasion)
    if (at === undefined) deadlines.delete(id)
    else deadlines.set(id, at)
    this.#arm()
  }

  /** Makes an id due at `at` (epoch ms), unless it is due earlier. */
  notLater(occasion: Occasion, id: string, at: number): void {
    const known = this.#lane(occasion).deadlines.get(id)
    if (known === undefined || at < known) this.set(occasion, id, at)
  }

  /** Runs the work of an occasion now, whether or not this process knows that an id is due. */
  async look(occasion: Occasion): Promise<void> {
    if (this.#lifetime.isOpen) await this.#lane(occasion).work?.([])
  }

  /** Ends the schedule; resolves when running work is done. */
  close(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    return this.#lifetime.close(async () => void (await Promise.all(this.#running)))
  }

  #lane(occasion: Occasion): Lane {
    const known = this.#lanes.get(occasion)
    if (known !== undefined) return known
    const lane: Lane = { occasion, deadlines: new Deadlines(), work: undefined, isBusy: false }
    this.#lanes.set(occasion, lane)
    return lane
  }

  /** Sets the timer for the next due id. A busy lane checks its deadlines itself once it is done. */
  #arm(): void {
    let at: number | undefined
    for (const { deadlines, isBusy } of this.#lanes.values()) {
      const next = isBusy ? undefined : deadlines.next()
      if (next !== undefined && (at === undefined || next < at)) at = next
    }
    if (!this.#lifetime.isOpen || this.#timer?.at === at) return
    this.#timer?.cancel()
    this.#timer = at === undefined ? undefined : { at, cancel: this.#scheduler.at(at, () => this.#wake()) }
  }

  /** Begins the work of every lane with due ids; resolves when it is done. */
  async #wake(): Promise<void> {
    this.#timer = undefined
    const now = this.#clock.now()
    const begun = [...this.#lanes.values()].flatMap((lane) => {
      const next = lane.deadlines.next()
      return lane.isBusy || lane.work === undefined || next === undefined || next > now ? [] : [this.#begin(lane)]
    })
    this.#arm()
    await Promise.all(begun)
  }

  #begin(lane: Lane): Promise<void> {
    lane.isBusy = true
    const handle = () => this.#handleDue(lane)
    const begun = OCCASIONS[lane.occasion].lane === 'bulk' ? this.#bulk.run(handle) : handle()
    const done = begun.finally(() => {
      lane.isBusy = false
      this.#running.delete(done)
      this.#arm()
    })
    this.#running.add(done)
    return done
  }

  /** Batches of a lane run one after the other: two at once could judge the same facts. */
  async #handleDue({ occasion, deadlines, work }: Lane): Promise<void> {
    if (!this.#lifetime.isOpen || work === undefined) return
    const ids = deadlines.takeDue(this.#clock.now(), IDS_PER_TURN)
    if (ids.length === 0) return
    try {
      await work(ids)
    } catch (error) {
      if (isClosing(error)) return
      logFailure(this.#logger, 'work that was due failed and is tried again', error, { occasion })
      for (const id of ids) this.notLater(occasion, id, this.#clock.now() + OCCASIONS[occasion].retryMs)
    }
  }
}

/** The deadlines of one occasion, and its work. */
interface Lane {
  readonly occasion: Occasion
  readonly deadlines: Deadlines
  work: Work | undefined
  /** True while a batch of the lane is handled. */
  isBusy: boolean
}

interface Entry {
  readonly key: string
  readonly at: number
  /** True once the entry was replaced or dropped. */
  isOutdated: boolean
}

/**
 * The instant (epoch ms) at which each of many keys is due, in a binary heap. A replaced or dropped instant stays in the heap until it
 * reaches the top, so that setting an instant costs O(log n). The heap is rebuilt when most of it is outdated.
 */
export class Deadlines {
  readonly #current = new Map<string, Entry>()
  #heap: Entry[] = []

  get size(): number {
    return this.#current.size
  }

  /** The instant of a key. */
  get(key: string): number | undefined {
    return this.#current.get(key)?.at
  }

  /** Makes a key due at `at`, in place of any earlier setting. */
  set(key: string, at: number): void {
    const known = this.#current.get(key)
    if (known?.at === at) return
    if (known !== undefined) known.isOutdated = true
    const entry = { key, at, isOutdated: false }
    this.#current.set(key, entry)
    this.#push(entry)
    if (this.#heap.length > 2 * this.#current.size + 64) this.#rebuild()
  }

  delete(key: string): void {
    const known = this.#current.get(key)
    if (known !== undefined) known.isOutdated = true
    this.#current.delete(key)
  }

  /** The earliest instant. */
  next(): number | undefined {
    this.#dropOutdated()
    return this.#heap[0]?.at
  }

  /** Removes and answers the keys that are due at `now`, earliest first, at most `limit`. */
  takeDue(now: number, limit = Number.POSITIVE_INFINITY): readonly string[] {
    const due: string[] = []
    for (let next = this.next(); next !== undefined && next <= now && due.length < limit; next = this.next()) {
      const key = this.#pop()
      this.#current.delete(key)
      due.push(key)
    }
    return due
  }

  #dropOutdated(): void {
    while (this.#heap[0]?.isOutdated) this.#pop()
  }

  #rebuild(): void {
    // A sorted array is a heap.
    this.#heap = [...this.#current.values()].sort((a, b) => a.at - b.at)
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let position = heap.length
    while (position > 0) {
      const above = (position - 1) >>> 1
      const parent = heap[above]
      if (parent === undefined || parent.at <= entry.at) break
      heap[position] = parent
      position = above
    }
    heap[position] = entry
  }

  /** Removes the top and answers its key. */
  #pop(): string {
    const heap = this.#heap
    const key = heap[0]?.key ?? ''
    const last = heap.pop()
    if (last !== undefined && heap.length > 0) this.#sink(last)
    return key
  }

  #sink(entry: Entry): void {
    const heap = this.#heap
    let position = 0
    for (;;) {
      const left = 2 * position + 1
      const right = heap[left + 1]
      const smaller = right !== undefined && right.at < (heap[left]?.at ?? 0) ? left + 1 : left
      const child = heap[smaller]
      if (child === undefined || child.at >= entry.at) break
      heap[position] = child
      position = smaller
    }
    heap[position] = entry
  }
}

/** Milliseconds for which a difference of clocks counts, and after which it is reported again. */
const NOTICED_MS = 5 * 60_000

/**
 * Notices that the clock of this process is behind that of another process over the same store, by instants in the future that the other
 * process wrote. Only the process that is behind can notice: a caller whose token it refuses as not yet valid learns nothing about clocks.
 */
export class OtherClocks {
  readonly #clock: Clock
  readonly #logger: Logger
  #noticed: { readonly behindMs: number; readonly at: number } | undefined

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock
    this.#logger = logger
  }

  /** Takes the instant (epoch ms) of a write by any process. */
  seen(writtenAt: number): void {
    const now = this.#clock.now()
    if (!isYetToCome(writtenAt, now)) return
    const behindMs = writtenAt - now
    const isNew = this.#noticed === undefined || Math.abs(now - this.#noticed.at) >= NOTICED_MS
    if (!isNew) return
    this.#noticed = { behindMs, at: now }
    const message =
      'the clock is behind that of another process over the same storage: sessions of one are refused by the other'
    this.#logger.warn(message, { behindSeconds: Math.round(behindMs / 1000) })
  }

  /** Milliseconds by which this clock was behind that of another process within the last minutes; 0 without a sign of it. */
  behindMs(): number {
    const { behindMs = 0, at = 0 } = this.#noticed ?? {}
    return Math.abs(this.#clock.now() - at) < NOTICED_MS ? behindMs : 0
  }
}
