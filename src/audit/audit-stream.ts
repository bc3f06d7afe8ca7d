import type { ReaderStream } from '../insight/timeline/event-stream.ts'
import { type Call, isAdminCall } from '../kernel/context/call.ts'
import { type StandingPorts, standingCall } from '../login/standing-call.ts'
import type { AuditEntry, AuditPage, AuditRequest } from './audit-questions.resource.ts'

/** Records that are handed over at once. */
const BATCH = 200

/** The next step of a reader of the trail. */
type AuditStep =
  | { readonly kind: 'entries'; readonly entries: readonly AuditEntry[] }
  /** Nothing was written for a while. */
  | { readonly kind: 'quiet' }
  /** There will be nothing more. */
  | { readonly kind: 'over' }

/** The sources that a stream of the trail works with. */
interface AuditStreamSource {
  readonly ports: StandingPorts
  read(call: Call, request: AuditRequest): Promise<AuditPage>
}

/**
 * Records of the trail for one reader, the earliest first, by the rights that it has when they are handed over. It remembers a
 * place and no records: who reads slowly costs nothing, and misses nothing that is kept.
 */
export class AuditStream implements ReaderStream {
  readonly #source: AuditStreamSource
  readonly #asked: AuditRequest
  readonly #goesOn: boolean
  #call: Call
  #place: string
  #isOver = false
  #isQuiet = false
  #wake: (() => void) | undefined

  /** From `place` on: to the last record, or for as long as it `goesOn`. */
  constructor(source: AuditStreamSource, call: Call, asked: AuditRequest, place: string, goesOn: boolean) {
    this.#source = source
    this.#call = call
    this.#asked = asked
    this.#place = place
    this.#goesOn = goesOn
  }

  get readerId(): string | undefined {
    return this.#call.by === 'caller' ? this.#call.caller.identity.id : undefined
  }

  get isAdministrators(): boolean {
    return isAdminCall(this.#call)
  }

  /** Waits for the next step, and answers it as soon as there is one. */
  async next(): Promise<AuditStep> {
    while (!this.#isOver) {
      const standing = await standingCall(this.#source.ports, this.#call)
      if (standing === undefined) break
      this.#call = standing
      const { entries, next } = await this.#source.read(standing, { ...this.#asked, after: this.#place, limit: BATCH })
      // A page tells where the next one begins, also where nothing on it was wanted.
      this.#place = next ?? entries.at(-1)?.id ?? this.#place
      if (entries.length > 0) return { kind: 'entries', entries }
      if (next !== null) continue
      if (!this.#goesOn) break
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

  /** Says nothing to this stream: a record is told once it is written, not as something happens. */
  notice(): void {}

  look(): void {
    this.#wakeUp()
  }

  beat(): void {
    this.#isQuiet = true
    this.#wakeUp()
  }

  end(): void {
    this.#isOver = true
    this.#wakeUp()
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}
