import { isYetToCome } from '../base/time.ts'
import { Gate } from '../concurrency/gate.ts'
import { Lifetime } from '../concurrency/lifetime.ts'
import type { Clock, Logger, Scheduler } from '../ports/runtime.ts'
import { isClosing, logFailure } from './background-failure.ts'

/** How an occasion is handled. */
interface OccasionFacts {
  /**
   * `prompt`: others wait for it, and it is short. `bulk`: it may take long, as it judges or writes much; of such occasions only
   * {@link BULK_AT_ONCE} are handled at once.
   */
  readonly lane: 'prompt' | 'bulk'
  /** Milliseconds after which work that failed is tried again. */
  readonly retryMs: number
}

/** Milliseconds after which work that failed is tried again, unless its occasion says otherwise. */
export const RETRY_MS = 60_000
const PROMPT: OccasionFacts = { lane: 'prompt', retryMs: RETRY_MS }
const BULK: OccasionFacts = { lane: 'bulk', retryMs: RETRY_MS }
/** A process that is silent for half a minute is believed dead by the others. */
const LIFE_SIGN: OccasionFacts = { lane: 'prompt', retryMs: 5000 }

/** The occasions of the timetable. Each has its turns for itself: one that takes long delays no other. */
const OCCASIONS = {
  /** A session is over by time. */
  overdue: BULK,
  /** A withdrawal of credentials could not be enforced: every API session is judged. */
  withdrawn: BULK,
  /** A change of access could not be enforced: every session is judged. */
  access: BULK,
  /** It is settled whether an identity is connected. */
  'identity-connection': PROMPT,
  /** Other processes may have changed the routers that are connected here. */
  'connected-routers': PROMPT,
  /** Other processes hear that this one is alive. */
  presence: LIFE_SIGN,
  /** Routers that lay a circuit are waited for no longer. */
  route: PROMPT,
  /** A dial waits for the storage no longer. */
  'dial-facts': PROMPT,
  /** The data plane does its regular work. */
  fabric: LIFE_SIGN,
  /** A login that nobody completed ends. */
  'auth-request': BULK,
  /** A revocation concerns no good token any more. */
  revocation: BULK,
  /** A stream of events ends. */
  'event-stream': PROMPT,
  /** A router that compares its data model is waited for no longer. */
  'model-validation': PROMPT,
  /** Routers that inspect their state are waited for no longer. */
  inspection: PROMPT,
  /** Routers that compare their terminators are waited for no longer. */
  'terminator-validation': PROMPT,
  /** Connected operators are judged again. */
  operator: PROMPT,
  /** The rights that carry a circuit end by time. */
  'circuit-right': PROMPT,
  /** Routers that are asked to trace channels are waited for no longer. */
  tracing: PROMPT,
  /** Nobody waits for a dial any longer. */
  'dial-trace': PROMPT,
  /** Other processes over the store are looked for. */
  processes: PROMPT,
  /** Other processes that hold routers are waited for no longer. */
  'holder-answer': PROMPT,
  /** Processes that are asked whose circuits those of a router are, are waited for no longer. */
  'circuit-owners': PROMPT,
  /** The next seal of the audit trail is due. */
  audit: BULK,
  /** The next attempt to tell a subscriber of an event. */
  'event-delivery': BULK,
  /** Others changed keys of the network, or one begins or ends by time. */
  keys: BULK,
} as const satisfies Readonly<Record<string, OccasionFacts>>

type Occasion = keyof typeof OCCASIONS
type Work = (ids: readonly string[]) => Promise<void>

/** How many are handled at once; the others follow in their own turn, so that requests are answered in between. */
const BATCH = 500
/** How many occasions that may take long are handled at once: they share the database with requests. */
const BULK_AT_ONCE = 3

/** The work that this process has to do by itself, and when: one timer, however much there is. */
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

  /** Says what is done when an occasion comes. */
  onDue(occasion: Occasion, work: Work): void {
    this.#lane(occasion).work = work
  }

  /** Something is due at `at` (epoch ms) instead of whenever it was due before; never, without an instant. */
  set(occasion: Occasion, id: string, at: number | undefined): void {
    const { deadlines } = this.#lane(occasion)
    if (at === undefined) deadlines.delete(id)
    else deadlines.set(id, at)
    this.#arm()
  }

  /** Something is due at `at` (epoch ms) if it is not due earlier. */
  notLater(occasion: Occasion, id: string, at: number): void {
    const known = this.#lane(occasion).deadlines.get(id)
    if (known === undefined || at < known) this.set(occasion, id, at)
  }

  /** Does now what is done on an occasion, whether or not this process knows that something is due. */
  async look(occasion: Occasion): Promise<void> {
    if (this.#lifetime.isOpen) await this.#lane(occasion).work?.([])
  }

  /** Nothing comes due any more; resolves when the work at hand is done. */
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

  /** Sets the timer for what is due next. A lane at work looks by itself once it is through. */
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

  /** Begins the work of every lane that has something to do; resolves when it is done. */
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

  /** Batches of a lane wait for one another: two at once could judge the same facts. */
  async #handleDue({ occasion, deadlines, work }: Lane): Promise<void> {
    if (!this.#lifetime.isOpen || work === undefined) return
    const ids = deadlines.takeDue(this.#clock.now(), BATCH)
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
  /** A batch of it is being handled. */
  isBusy: boolean
}

interface Entry {
  readonly key: string
  readonly at: number
  /** True once it was replaced or dropped. */
  isOutdated: boolean
}

/**
 * The next instant (epoch ms) at which something is due, for each of many keys: a binary heap. An instant that is replaced
 * or dropped stays in the heap until it comes up, so that setting one costs O(log n); the heap is rebuilt when most of it
 * is out of date.
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

  /** The key is due at `at`, instead of whenever it was due before. */
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

  /** The earliest instant of all. */
  next(): number | undefined {
    this.#dropOutdated()
    return this.#heap[0]?.at
  }

  /** Takes out the keys that are due at `now`, earliest first, at most `limit` of them. */
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

/** Milliseconds for which a finding counts, and after which it is reported again. */
const NOTICED_MS = 5 * 60_000

/**
 * Notices that this process and another one over the same store disagree about the time, by instants of the other that are yet
 * to come. Only the one that is behind can notice; what it refuses then, such as a token that is not valid yet, is no sign of
 * clocks to the one it refuses.
 */
export class OtherClocks {
  readonly #clock: Clock
  readonly #logger: Logger
  #noticed: { readonly behindMs: number; readonly at: number } | undefined

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock
    this.#logger = logger
  }

  /** Something was written at an instant (epoch ms), by whichever process. */
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

  /** By how many milliseconds this clock was behind another one within the last minutes; 0 where nothing shows it. */
  behindMs(): number {
    const { behindMs = 0, at = 0 } = this.#noticed ?? {}
    return Math.abs(this.#clock.now() - at) < NOTICED_MS ? behindMs : 0
  }
}
