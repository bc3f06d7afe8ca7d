import { type Call, isAdminCall } from '../../context/call.ts'
import { type CurrentCallPorts, currentCall } from '../../login/current-call.ts'

/** Nothing happened for a while: the reader learns that its stream is alive. */
export interface QuietStep {
  readonly kind: 'quiet'
}

/** There will be nothing more. */
export interface LastStep {
  readonly kind: 'over'
}

/** The outcome of a look for something to hand over: that, or whether to look on, to wait, or to end. */
export type Found<Told> = Told | 'look on' | 'wait' | 'end'

/**
 * A stream that is open for a reader, who is judged again whenever its rights may be others. It remembers a place and nothing of
 * what it hands over: who reads slowly costs nothing.
 */
export abstract class ReaderStream<Told extends object = object> {
  readonly #ports: CurrentCallPorts
  #call: Call
  #isOver = false
  #isQuiet = false
  /** The rights of the reader may be others than they were. */
  #isDoubtful = true
  #wake: (() => void) | undefined

  protected constructor(ports: CurrentCallPorts, call: Call) {
    this.#ports = ports
    this.#call = call
  }

  /** Looks for what comes next, by the rights that the reader has now, and goes on to the place behind it. */
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

  /** An event happened; `concernsReader` when it may change what the reader may hear. */
  notice(concernsReader: boolean): void {
    this.#isDoubtful ||= concernsReader
    this.wakeUp()
  }

  /** A second went by, in which another process may have written something. */
  look(): void {}

  /** Time went by: the reader learns that its stream is alive, and is judged again. */
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
    const current = await currentCall(this.#ports, this.#call)
    if (current === undefined) this.#isOver = true
    else this.#call = current
  }
}
