import { Deadlines } from '../../base/deadlines.ts'
import { Gate } from '../../concurrency/gate.ts'
import { Lifetime } from '../../concurrency/lifetime.ts'
import type { Clock, Logger, Scheduler } from '../../ports/runtime.ts'

/**
 * The occasions of the timetable: sessions that time ends, every API session because a withdrawal could not be enforced, the
 * end of not knowing whether an identity is connected, judging every session because a change could not be enforced, looking
 * at what other processes did to the routers that are connected here, saying to them that this one is alive, the end of
 * waiting for routers that lay a circuit, what the data plane has to do at intervals, the end of a login that nobody
 * completed, of a revocation that concerns no good token any more, of waiting for a router that compares its data model, of
 * waiting for routers that are asked for values of their state or for their terminators, judging operators that are connected,
 * of what carries a circuit, and the next seal of the audit trail.
 */
type Occasion =
  | 'overdue'
  | 'withdrawn'
  | 'identity-connection'
  | 'access'
  | 'connected-routers'
  | 'presence'
  | 'route'
  | 'fabric'
  | 'auth-request'
  | 'revocation'
  | 'event-stream'
  | 'model-validation'
  | 'inspection'
  | 'terminator-validation'
  | 'operator'
  | 'circuit-right'
  | 'audit'
type Work = (ids: readonly string[]) => Promise<void>

/** How many are handled at once; the others follow in their own turn, so that requests are answered in between. */
const BATCH = 500
/** Milliseconds after which work that failed is tried again. */
export const RETRY_MS = 60_000

/** The work that this process has to do by itself, and when: one timer, however much there is. */
export class Timetable {
  readonly #clock: Clock
  readonly #scheduler: Scheduler
  readonly #logger: Logger
  readonly #deadlines: Readonly<Record<Occasion, Deadlines>> = {
    overdue: new Deadlines(),
    withdrawn: new Deadlines(),
    'identity-connection': new Deadlines(),
    access: new Deadlines(),
    'connected-routers': new Deadlines(),
    presence: new Deadlines(),
    route: new Deadlines(),
    fabric: new Deadlines(),
    'auth-request': new Deadlines(),
    revocation: new Deadlines(),
    'event-stream': new Deadlines(),
    'model-validation': new Deadlines(),
    inspection: new Deadlines(),
    'terminator-validation': new Deadlines(),
    operator: new Deadlines(),
    'circuit-right': new Deadlines(),
    audit: new Deadlines(),
  }
  readonly #work = new Map<Occasion, Work>()
  #timer: { readonly at: number; readonly cancel: () => void } | undefined
  /** Batches wait for one another: two at once could judge the same facts. */
  readonly #batches = new Gate(1)
  readonly #lifetime = new Lifetime('the timetable is closed')

  constructor(ports: { readonly clock: Clock; readonly scheduler: Scheduler; readonly logger: Logger }) {
    this.#clock = ports.clock
    this.#scheduler = ports.scheduler
    this.#logger = ports.logger
  }

  /** Says what is done when an occasion comes. */
  onDue(occasion: Occasion, work: Work): void {
    this.#work.set(occasion, work)
  }

  /** Something is due at `at` (epoch ms) instead of whenever it was due before; never, without an instant. */
  set(occasion: Occasion, id: string, at: number | undefined): void {
    if (at === undefined) this.#deadlines[occasion].delete(id)
    else this.#deadlines[occasion].set(id, at)
    this.#arm()
  }

  /** Something is due at `at` (epoch ms) if it is not due earlier. */
  notLater(occasion: Occasion, id: string, at: number): void {
    const known = this.#deadlines[occasion].get(id)
    if (known === undefined || at < known) this.set(occasion, id, at)
  }

  /** Does now what is done on an occasion, whether or not this process knows that something is due. */
  async look(occasion: Occasion): Promise<void> {
    if (this.#lifetime.isOpen) await this.#work.get(occasion)?.([])
  }

  /** Nothing comes due any more; resolves when the work at hand is done. */
  close(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    return this.#lifetime.close(() => this.#batches.idle())
  }

  #arm(): void {
    const instants = Object.values(this.#deadlines).flatMap((deadlines) => deadlines.next() ?? [])
    const at = instants.length === 0 ? undefined : Math.min(...instants)
    if (!this.#lifetime.isOpen || this.#timer?.at === at) return
    this.#timer?.cancel()
    this.#timer = at === undefined ? undefined : { at, cancel: this.#scheduler.at(at, () => this.#wake()) }
  }

  #wake(): Promise<void> {
    this.#timer = undefined
    return this.#batches.run(() => this.#handleDue())
  }

  async #handleDue(): Promise<void> {
    for (const [occasion, work] of this.#work) {
      if (!this.#lifetime.isOpen) return
      const ids = this.#deadlines[occasion].takeDue(this.#clock.now(), BATCH)
      if (ids.length === 0) continue
      try {
        await work(ids)
      } catch (error) {
        this.#logger.error('work that was due failed and is tried again', { occasion, error: String(error) })
        for (const id of ids) this.notLater(occasion, id, this.#clock.now() + RETRY_MS)
      }
    }
    this.#arm()
  }
}
