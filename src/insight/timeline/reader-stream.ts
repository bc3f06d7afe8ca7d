import { type Call, isAdminCall } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { currentCall } from '../../login/current-call.ts'

/** Nothing happened for a while; the stream shows its reader that it is alive. */
export interface QuietStep {
  readonly kind: 'quiet'
}

/** The stream ends. */
export interface LastStep {
  readonly kind: 'over'
}

/** The outcome of a look for something to hand over: the finding, or whether to look on, to wait, or to end. */
export type Found<Told> = Told | 'look on' | 'wait' | 'end'

/**
 * A stream that is open for a reader. Its rights are judged again whenever they may have changed. The stream remembers
 * a place and no events, so a slow reader costs nothing.
 */
export abstract class ReaderStream<Told extends object = object> {
  readonly #context: EngineContext
  #call: Call
  #isOver = false
  #isQuiet = false
  /** The rights of the reader may have changed. */
  #isDoubtful = true
  #wake: (() => void) | undefined

  protected constructor(context: EngineContext, call: Call) {
    this.#context = context
    this.#call = call
  }

  /** Looks for the next events, by the present rights of the reader, and goes on to the place behind them. */
  protected abstract find(call: Call): Promise<Found<Told>>

  /** The identity that reads; undefined for the host. */
  get readerId(): string | undefined {
    return this.#call.by === 'caller' ? this.#call.caller.identity.id : undefined
  }

  /** True when an administrator reads, or the host. */
  get isAdministrators(): boolean {
    return isAdminCall(this.#call)
  }

  /** Waits for the next step, and answers it as soon as there is one. */
  async next(): Promise<Told | QuietStep | LastStep> {
    while (!this.#isOver) {
      if (this.#isDoubtful) await this.#judge()
      if (this.#isOver) break
      const found = await this.find(this.#call)
      if (found === 'end') break
      if (typeof found === 'object') return found
      if (found === 'look on') continue
      if (this.#isQuiet) {
        this.#isQuiet = false
        return { kind: 'quiet' }
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return { kind: 'over' }
  }

  /** An event happened; `concernsReader` when it may change the rights of the reader. */
  notice(concernsReader: boolean): void {
    this.#isDoubtful ||= concernsReader
    this.wakeUp()
  }

  /** A second went by, in which another process may have written something. */
  look(): void {}

  /** Time went by: the stream shows its reader that it is alive, and judges its rights again. */
  beat(): void {
    this.#isQuiet = true
    this.#isDoubtful = true
    this.wakeUp()
  }

  /** Nothing more is handed over. */
  end(): void {
    this.#isOver = true
    this.wakeUp()
  }

  /** Judges the reader before anything more is handed over. */
  protected doubt(): void {
    this.#isDoubtful = true
  }

  /** Looks again, now. */
  protected wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  async #judge(): Promise<void> {
    this.#isDoubtful = false
    const current = await currentCall(this.#context, this.#call)
    if (current === undefined) this.#isOver = true
    else this.#call = current
  }
}
