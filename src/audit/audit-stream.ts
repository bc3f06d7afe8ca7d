import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { AuditEntry, AuditPage, AuditRequest } from '../facts/audit/audit-questions.resource.ts'
import { type Found, ReaderStream } from '../insight/timeline/reader-stream.ts'

/** Records that are handed over at once. */
const RECORDS_PER_READ = 200

/** Records of the trail, the earliest first. */
interface AuditBatch {
  readonly kind: 'entries'
  readonly entries: readonly AuditEntry[]
}

/** The sources that a stream of the trail works with. */
interface AuditStreamSource {
  readonly context: EngineContext
  read(call: Call, request: AuditRequest): Promise<AuditPage>
}

/** Records of the trail for one reader, by its rights at the moment of handing over. A slow reader misses no record that is kept. */
export class AuditStream extends ReaderStream<AuditBatch> {
  readonly #source: AuditStreamSource
  readonly #asked: AuditRequest
  readonly #goesOn: boolean
  #place: string

  /** From `place` on: to the last record, or for as long as it `goesOn`. */
  constructor(source: AuditStreamSource, call: Call, asked: AuditRequest, place: string, goesOn: boolean) {
    super(source.context, call)
    this.#source = source
    this.#asked = asked
    this.#place = place
    this.#goesOn = goesOn
  }

  /** Does nothing: records are handed over once they are written, and events come earlier. */
  override notice(): void {}

  override look(): void {
    this.wakeUp()
  }

  protected async find(call: Call): Promise<Found<AuditBatch>> {
    // The rights are judged for every batch: another process may have withdrawn them in the store.
    this.doubt()
    const { entries, next } = await this.#source.read(call, {
      ...this.#asked,
      after: this.#place,
      limit: RECORDS_PER_READ,
    })
    // A page says where the next one begins, even when none of its records matched.
    this.#place = next ?? entries.at(-1)?.id ?? this.#place
    if (entries.length > 0) return { kind: 'entries', entries }
    if (next !== null) return 'look on'
    return this.#goesOn ? 'wait' : 'end'
  }
}
