import { ControllerError } from '../base/errors.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import {
  type AuditHead,
  type AuditPage,
  AuditPageRequest,
  type AuditRequest,
} from '../facts/audit/audit-questions.resource.ts'
import { auditRecords, auditSeals, auditStates } from '../facts/audit/audit-record.resource.ts'
import { sealId } from '../facts/audit/audit-trail.rules.ts'
import { readRequest } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import {
  both,
  equals,
  type Filter,
  FilterError,
  type FilterSymbol,
  matches,
  parseQuery,
} from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { auditEntries, mayReadRecord } from './audit-entry.ts'
import { CHAIN, lastRecordId, recordsOf, unsealed } from './audit-sealing.ts'
import { AuditStream } from './audit-stream.ts'
import type { AuditTrail } from './audit-trail.ts'
import { type AuditFinding, verifyTrail } from './audit-verification.ts'

/** The names by which filters ask for records. */
const AUDIT_SYMBOLS: Readonly<Record<string, FilterSymbol>> = {
  id: { field: 'id', kind: 'string' },
  at: { field: 'createdAt', kind: 'instant' },
  type: { field: 'type', kind: 'string' },
  kind: { field: 'kind', kind: 'string' },
  entityId: { field: 'entityId', kind: 'string' },
  actorId: { field: 'actorId', kind: 'string' },
}

/**
 * Reads a condition on audit records; undefined when all records meet it.
 *
 * @throws {ControllerError} INVALID_FILTER when it cannot be read.
 */
export function auditFilter(text: string): Filter | undefined {
  try {
    const { where } = parseQuery(text, AUDIT_SYMBOLS, () => ({}))
    return where
  } catch (error) {
    if (!(error instanceof FilterError)) throw error
    throw new ControllerError('INVALID_FILTER', { code: 'UNHANDLED', message: error.message })
  }
}

type AuditRecord = RecordOf<typeof auditRecords>

/** The most records that one question looks at; the next question goes on there. */
const LOOKED_AT = 2000
/** Records that are looked at between two answers to others. */
const RECORDS_PER_TURN = 200

/** The audit trail for callers with the right to read it. */
export class AuditReading {
  readonly #context: EngineContext
  readonly #trail: AuditTrail

  constructor(context: EngineContext, trail: AuditTrail) {
    this.#context = context
    this.#trail = trail
  }

  /**
   * Reads a page of the records that the caller may read: the latest first, or from `after` on the earliest first.
   *
   * @throws {ControllerError} INVALID_FILTER when the filter cannot be read.
   */
  async read(call: Call, input: AuditRequest = {}): Promise<AuditPage> {
    const { filter, entity, actor, after, before, limit } = readRequest(AuditPageRequest, input)
    const where = filter === undefined ? undefined : auditFilter(filter)
    const isWanted = (record: AuditRecord) =>
      (where === undefined || matches(where, record)) &&
      (entity === undefined || record.entityId === entity) &&
      (actor === undefined || record.actorId === actor) &&
      mayReadRecord(call, record)
    await this.#trail.seal()
    const isForward = after !== undefined
    const named = entity === undefined ? undefined : equals('entityId', entity)
    const found: AuditRecord[] = []
    let place = isForward ? after : before
    let next: string | null = null
    for (let seen = 0; seen < LOOKED_AT && found.length < limit; ) {
      const batch = await this.#context.storage.read((tx) =>
        named === undefined ? sealedFrom(tx, place, isForward) : indexedFrom(tx, named, place, isForward),
      )
      next = batch.next
      for (const record of batch.records) {
        place = record.id
        if (isWanted(record)) found.push(record)
        if (found.length < limit) continue
        next = record.id
        break
      }
      seen += RECORDS_PER_TURN
      if (next === null) break
      place = next
    }
    const entries = await this.#context.storage.read((tx) => auditEntries(tx, call, found))
    return { entries, next }
  }

  /**
   * A stream of the records that the caller may read, the earliest first: from `after` on, or from the first one, up to the last. Where
   * it `goesOn`, it also hands over records as they are written; without `after` it then hands over nothing else.
   *
   * @throws {ControllerError} INVALID_FILTER when the filter cannot be read.
   */
  async stream(
    call: Call,
    { after, filter, entity, actor }: Pick<AuditRequest, 'after' | 'filter' | 'entity' | 'actor'>,
    goesOn: boolean,
  ): Promise<AuditStream> {
    const asked = { filter, entity, actor }
    readRequest(AuditPageRequest, { ...asked, after })
    if (filter !== undefined) auditFilter(filter)
    const place = after ?? (goesOn ? await this.#context.storage.read(lastRecordId) : '')
    const source = { context: this.#context, read: (by: Call, request: AuditRequest) => this.read(by, request) }
    return new AuditStream(source, call, asked, place, goesOn)
  }

  /** Answers how far the trail goes. */
  async head(): Promise<AuditHead> {
    await this.#trail.seal()
    const state = await this.#context.storage.read((tx) => tx.collection(auditStates).get(CHAIN))
    const { seals = 0, hash = '', records = 0, removed = 0 } = state ?? {}
    return { number: seals, hash, records, removed }
  }

  /**
   * The head as a JSON Web Token, signed with the key of the server certificate. It should be kept where access to the
   * store gives no access.
   */
  async signedHead(): Promise<AuditHead & { readonly token: string }> {
    const head = await this.head()
    const iat = Math.floor(this.#context.clock.now() / 1000)
    return { ...head, token: await this.#context.tokens.sign({ aud: 'audit-head', iat, head: { ...head } }) }
  }

  /** Verifies the whole chain, and compares it with a kept head where there is one. Names the first record that was altered. */
  verify(kept?: Pick<AuditHead, 'number' | 'hash'>): Promise<AuditFinding> {
    return verifyTrail(this.#context, kept)
  }
}

interface Batch {
  readonly records: readonly AuditRecord[]
  /** The place from which the next batch is asked for; null at the end. */
  readonly next: string | null
}

/** The records of the seal after a place, or before it: nothing else of the trail is looked at. */
async function sealedFrom(tx: ReadTransaction, place: string | undefined, isForward: boolean): Promise<Batch> {
  const state = await tx.collection(auditStates).get(CHAIN)
  if (state === undefined) return { records: [], next: null }
  const { firstKept, seals } = state
  const number = place === undefined ? (isForward ? firstKept : seals) : await sealAt(tx, place, state, isForward)
  const seal = await tx.collection(auditSeals).get(sealId(number))
  if (seal === undefined) {
    const isBeyond = isForward && number > seals
    return { records: isBeyond ? await unsealed(tx, place ?? '') : [], next: null }
  }
  const wanted = seal.records.flatMap(({ id }) =>
    place === undefined || (isForward ? id > place : id < place) ? [id] : [],
  )
  const records = await recordsOf(tx, wanted)
  const ordered = isForward ? records : records.toReversed()
  const edge = isForward ? seal.records.at(-1)?.id : seal.records[0]?.id
  const isLast = isForward ? number >= seals : number <= firstKept
  return { records: ordered, next: isLast ? null : (edge ?? null) }
}

/** The number of the first seal that holds a record after a place, or of the last seal that holds a record before it. */
async function sealAt(
  tx: ReadTransaction,
  place: string,
  { firstKept, seals }: Pick<RecordOf<typeof auditStates>, 'firstKept' | 'seals'>,
  isForward: boolean,
): Promise<number> {
  let [low, high] = [firstKept, seals + 1]
  while (low < high) {
    const middle = (low + high) >>> 1
    const seal = await tx.collection(auditSeals).get(sealId(middle))
    const edge = isForward ? seal?.records.at(-1)?.id : seal?.records[0]?.id
    const isBelow = isForward ? (edge ?? '') <= place : (edge ?? '') < place
    if (isBelow) low = middle + 1
    else high = middle
  }
  return isForward ? low : low - 1
}

/** The records of an entity, by the index of the store. */
async function indexedFrom(
  tx: ReadTransaction,
  named: Filter,
  place: string | undefined,
  isForward: boolean,
): Promise<Batch> {
  const bound: Filter | undefined =
    place === undefined
      ? undefined
      : { kind: 'compare', operand: { kind: 'field', field: 'id' }, operator: isForward ? '>' : '<', value: place }
  const where = both(named, bound) ?? named
  const orderBy = [{ field: 'id', kind: 'string', direction: isForward ? 'asc' : 'desc' }] as const
  const found = await tx.collection(auditRecords).findIds({ where, orderBy, limit: RECORDS_PER_TURN })
  const records = await recordsOf(tx, found)
  const next = found.length < RECORDS_PER_TURN ? null : (found.at(-1) ?? null)
  return { records: isForward ? records : records.toReversed(), next }
}
