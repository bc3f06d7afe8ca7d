import type { EngineContext } from '../context/context.ts'
import type { PkiStatus } from '../facts/pki/pki-requests.resource.ts'

/** Milliseconds for which a count is told again; longer where counting takes more than a hundredth of that. */
const KEPT_MS = 60_000
const SHARE = 100

/** Counts of holders whose certificates somebody has to look at, as gauges tell them. */
interface Counted {
  readonly due: PkiStatus['due']
  readonly at: number
  readonly tookMs: number
}

/**
 * Counts the identities and routers that have no certificate of the latest authority, and those whose certificates end or have ended.
 * Every certificate is looked at, so that a count is told for a while: for a minute, or a hundred times as long as it took.
 */
export class DueFigures {
  readonly #clock: EngineContext['clock']
  readonly #count: () => Promise<PkiStatus>
  #known: Counted | undefined
  #counting: Promise<PkiStatus['due']> | undefined

  constructor({ clock, events }: Pick<EngineContext, 'clock' | 'events'>, count: () => Promise<PkiStatus>) {
    this.#clock = clock
    this.#count = count
    // Counts from before a change of keys are void.
    events.on('pki.changed', () => {
      this.#known = undefined
    })
  }

  /** The count of late, or a new one. Rejects where the storage is away. */
  async read(): Promise<PkiStatus['due']> {
    const known = this.#known
    const age = known === undefined ? Infinity : this.#clock.now() - known.at
    if (known !== undefined && age < Math.max(KEPT_MS, known.tookMs * SHARE)) return known.due
    this.#counting ??= this.#recount().finally(() => {
      this.#counting = undefined
    })
    return this.#counting
  }

  async #recount(): Promise<PkiStatus['due']> {
    const at = this.#clock.now()
    const { due } = await this.#count()
    this.#known = { due, at, tookMs: this.#clock.now() - at }
    return due
  }
}
