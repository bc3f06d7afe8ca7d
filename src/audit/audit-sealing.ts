import { utf8Bytes } from '../base/bytes.ts'
import { auditRecords, auditSeals, auditStates, type SealedRecord } from '../facts/audit/audit-record.resource.ts'
import { idBefore, NO_HASH, recordText, sealId, sealText } from '../facts/audit/audit-trail.rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { both, type Filter, ids } from '../kernel/filter/index.ts'
import type { ReadTransaction, StoredRecord, WriteTransaction } from '../ports/record-storage.ts'
import { newRecord } from '../records/read-records.ts'

type AuditRecord = RecordOf<typeof auditRecords>
type AuditState = RecordOf<typeof auditStates>

/** How long, and how many bytes of records, a trail keeps. */
export interface Keeping {
  readonly keepMs: number
  readonly mostBytes: number
}

/** The id of the one record that says how far the chain goes. */
export const CHAIN = 'chain'

/** A chain without a seal. */
const FIRST_STATE = {
  sealed: '',
  seals: 0,
  hash: NO_HASH,
  records: 0,
  bytes: 0,
  firstKept: 1,
  removed: 0,
  removedTo: null,
  keptSince: null,
} as const

/** Records of one seal: some milliseconds of work. */
const RECORDS_PER_SEAL = 200
/** Seals that one write removes at most. */
const REMOVED_AT_ONCE = 4

type JournalKind = typeof auditRecords | typeof auditSeals

interface Sealing {
  readonly now: number
  readonly sha256: (text: string) => string
  readonly keeping: Keeping
}

/**
 * Seals the next records, and removes records beyond the age and the bytes that the trail keeps. Answers whether all records are sealed.
 */
export async function sealNext(tx: WriteTransaction, { now, sha256, keeping }: Sealing): Promise<boolean> {
  const known = await tx.collection(auditStates).get(CHAIN)
  const state = await withRemovedTo(tx, (await soundState(tx, known)) ?? (await stateOfSeals(tx, known, now)))
  const { records, isLast } = await nextUnsealed(tx, state.sealed)
  const last = records.at(-1)
  if (last === undefined) return true
  const kept = await removeOld(tx, state, keeping, now)
  const texts = records.map(recordText)
  const sealed = records.map(({ id }, at): SealedRecord => ({ id, digest: sha256(texts[at] ?? '') }))
  const bytes = texts.reduce((sum, text) => sum + utf8Bytes(text), 0)
  const { firstKept, removed, hash: previous } = kept
  const number = kept.seals + 1
  const seal = { number, createdAt: now, records: sealed, firstKept, removed, previous }
  const hash = sha256(sealText(seal))
  await tx.collection(auditSeals).insert(newRecord(sealId(number), now, { ...seal, bytes, hash }))
  const next: AuditState = {
    ...kept,
    sealed: last.id,
    seals: number,
    hash,
    records: kept.records + records.length,
    bytes: kept.bytes + bytes,
    keptSince: kept.keptSince ?? now,
    updatedAt: now,
  }
  await (known === undefined ? tx.collection(auditStates).insert(next) : tx.collection(auditStates).update(next))
  return isLast
}

/** The records of the next seal. Damaged records are left out, and end no round: others may stand behind them. */
async function nextUnsealed(
  tx: ReadTransaction,
  sealed: string,
): Promise<{ readonly records: readonly AuditRecord[]; readonly isLast: boolean }> {
  for (let after = sealed; ; ) {
    const found = await idsAfter(tx, after, RECORDS_PER_SEAL)
    const records = await recordsOf(tx, found)
    const isLast = found.length < RECORDS_PER_SEAL
    if (isLast || records.length > 0) return { records, isLast }
    after = found.at(-1) ?? after
  }
}

/** Reports whether the state of the chain is missing, or contradicts the last seal. */
export async function isStateLost(tx: ReadTransaction): Promise<boolean> {
  return (await soundState(tx, await tx.collection(auditStates).get(CHAIN))) === undefined && (await hasSeals(tx))
}

async function hasSeals(tx: ReadTransaction): Promise<boolean> {
  return (await firstOf(tx, auditSeals)) !== ''
}

/** The state of the chain, where it agrees with its last seal. */
async function soundState(tx: ReadTransaction, state: AuditState | undefined): Promise<AuditState | undefined> {
  if (state === undefined) return undefined
  const last = state.seals === 0 ? undefined : await tx.collection(auditSeals).get(sealId(state.seals))
  const isNext = (await tx.collection(auditSeals).get(sealId(state.seals + 1))) === undefined
  const isLast =
    last?.hash === state.hash &&
    last.records.at(-1)?.id === state.sealed &&
    last.firstKept === state.firstKept &&
    last.removed === state.removed
  return isNext && (isLast || (state.seals === 0 && state.sealed === '')) ? state : undefined
}

/** The state of the chain that follows from its seals. */
async function stateOfSeals(tx: WriteTransaction, known: AuditState | undefined, now: number): Promise<AuditState> {
  const blank: AuditState = { ...newRecord(CHAIN, now, FIRST_STATE), ...(known && { createdAt: known.createdAt }) }
  const last = await tx.collection(auditSeals).get(await lastOf(tx, auditSeals))
  const first = await tx.collection(auditSeals).get(await firstOf(tx, auditSeals))
  if (last === undefined || first === undefined) return blank
  let [records, bytes] = [0, 0]
  for await (const { items } of tx.collection(auditSeals).scan(['records', 'bytes'])) {
    for (const seal of items) {
      records += seal.records.length
      bytes += seal.bytes
    }
  }
  const { number: seals, hash, removed } = last
  const sealed = last.records.at(-1)?.id ?? ''
  return { ...blank, sealed, seals, hash, records, bytes, firstKept: first.number, removed, keptSince: first.createdAt }
}

/**
 * The state with the end of the removed records, which seals do not hold: a subscriber that has read less missed records. In a rebuilt
 * state it is the last id before the first sealed record, which may be later than the last removed record.
 */
async function withRemovedTo(tx: ReadTransaction, state: AuditState): Promise<AuditState> {
  if (state.removed === 0 || state.removedTo !== null) return state
  const first = await tx.collection(auditSeals).get(sealId(state.firstKept))
  return { ...state, removedTo: idBefore(first?.records[0]?.id ?? '') ?? null }
}

/** The id of the first record of a kind; empty without one. */
export async function firstOf(tx: ReadTransaction, kind: JournalKind): Promise<string> {
  const [first = ''] = await tx.collection<StoredRecord>(kind).findIds({ orderBy: BY_ID, limit: 1 })
  return first
}

/** The id of the last record of a kind; empty without one. */
export async function lastOf(tx: ReadTransaction, kind: JournalKind): Promise<string> {
  const [last = ''] = await tx.collection<StoredRecord>(kind).findIds({ orderBy: LATEST_FIRST, limit: 1 })
  return last
}

/** The records after the last sealed one, in order, as many as a seal takes. */
export function unsealed(tx: ReadTransaction, sealed: string): Promise<readonly AuditRecord[]> {
  return recordsAfter(tx, sealed, RECORDS_PER_SEAL)
}

/** The readable records after a given one, in order, `limit` at most; `of` narrows them. */
export async function recordsAfter(
  tx: ReadTransaction,
  id: string,
  limit: number,
  of?: Filter,
): Promise<readonly AuditRecord[]> {
  return recordsOf(tx, await idsAfter(tx, id, limit, of))
}

function idsAfter(tx: ReadTransaction, id: string, limit: number, of?: Filter): Promise<readonly string[]> {
  const later: Filter = { kind: 'compare', operand: { kind: 'field', field: 'id' }, operator: '>', value: id }
  return tx.collection(auditRecords).findIds({ where: both(of, later) ?? later, orderBy: BY_ID, limit })
}

/** The id of the last record; empty before the first. */
export function lastRecordId(tx: ReadTransaction): Promise<string> {
  return lastOf(tx, auditRecords)
}

/** The id of the first record that is kept; empty before the first. */
export function firstRecordId(tx: ReadTransaction): Promise<string> {
  return firstOf(tx, auditRecords)
}

const BY_ID = [{ field: 'id', kind: 'string', direction: 'asc' }] as const
const LATEST_FIRST = [{ field: 'id', kind: 'string', direction: 'desc' }] as const

/** The readable records of some ids, in the order of ids. */
export async function recordsOf(tx: ReadTransaction, wanted: readonly string[]): Promise<readonly AuditRecord[]> {
  if (wanted.length === 0) return []
  const { items } = await tx.collection(auditRecords).find({ where: ids(new Set(wanted)) })
  return items
}

/** Removes the first seals with their records while they are too old, or all records together have too many bytes. */
async function removeOld(
  tx: WriteTransaction,
  state: AuditState,
  { keepMs, mostBytes }: Keeping,
  now: number,
): Promise<AuditState> {
  let kept = state
  for (let count = 0; count < REMOVED_AT_ONCE && kept.firstKept <= kept.seals; count += 1) {
    const isOld = kept.keptSince !== null && kept.keptSince + keepMs <= now
    if (!isOld && kept.bytes <= mostBytes) break
    const seal = await tx.collection(auditSeals).get(sealId(kept.firstKept))
    for (const { id } of seal?.records ?? []) await tx.collection(auditRecords).delete(id)
    await tx.collection(auditSeals).delete(sealId(kept.firstKept))
    const next = await tx.collection(auditSeals).get(sealId(kept.firstKept + 1))
    const gone = seal?.records.length ?? 0
    kept = {
      ...kept,
      firstKept: kept.firstKept + 1,
      removed: kept.removed + gone,
      removedTo: seal?.records.at(-1)?.id ?? kept.removedTo,
      records: kept.records - gone,
      bytes: kept.bytes - (seal?.bytes ?? 0),
      keptSince: next?.createdAt ?? null,
    }
  }
  return kept
}
