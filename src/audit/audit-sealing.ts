import { utf8Bytes } from '../base/bytes.ts'
import { auditRecords, auditSeals, auditStates, type SealedRecord } from '../facts/audit/audit-record.resource.ts'
import { NO_HASH, recordListText, recordText, sealId, sealText } from '../facts/audit/audit-trail.rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { both, type Filter, ids } from '../kernel/filter/index.ts'
import type { ReadTransaction, StoredRecord, WriteTransaction } from '../ports/record-storage.ts'
import { newRecord } from '../records/read-records.ts'
import { type Keeping, makeRoom } from './audit-room.ts'

type AuditRecord = RecordOf<typeof auditRecords>
type AuditState = RecordOf<typeof auditStates>

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
  thinnedTo: null,
  endpointBytes: 0,
} as const

/** Records of one seal: some milliseconds of work. */
const RECORDS_PER_SEAL = 200

type JournalKind = typeof auditRecords | typeof auditSeals

interface Sealing {
  readonly now: number
  readonly sha256: (text: string) => string
  readonly keeping: Keeping
}

/** Seals the next records, a seal for each run of one kind, and makes room before. Answers whether none is left to be sealed. */
export async function sealNext(tx: WriteTransaction, { now, sha256, keeping }: Sealing): Promise<boolean> {
  const known = await tx.collection(auditStates).get(CHAIN)
  const state = (await soundState(tx, known)) ?? (await stateOfSeals(tx, known, now))
  const { records, isLast } = await nextUnsealed(tx, state.sealed)
  if (records.length === 0) return true
  let next = state
  for (const run of runsOf(records)) {
    next = await seal(tx, await makeRoom(tx, next, keeping, now), run, { now, sha256 })
  }
  const stored = { ...next, updatedAt: now }
  await (known === undefined ? tx.collection(auditStates).insert(stored) : tx.collection(auditStates).update(stored))
  return isLast
}

/** Records of one seal are all of endpoints, or none is: those of endpoints may go before the others. */
function runsOf(records: readonly AuditRecord[]): readonly (readonly AuditRecord[])[] {
  const runs: AuditRecord[][] = []
  for (const record of records) {
    const run = runs.at(-1)
    if (run?.[0] !== undefined && isOfEndpoints(run[0]) === isOfEndpoints(record)) run.push(record)
    else runs.push([record])
  }
  return runs
}

function isOfEndpoints({ content }: AuditRecord): boolean {
  return content.isOfEndpoints === true
}

/** Seals a run of records, and answers the state of the chain after it. */
async function seal(
  tx: WriteTransaction,
  state: AuditState,
  run: readonly AuditRecord[],
  { now, sha256 }: Pick<Sealing, 'now' | 'sha256'>,
): Promise<AuditState> {
  const texts = run.map(recordText)
  const records = run.map(({ id }, at): SealedRecord => ({ id, digest: sha256(texts[at] ?? '') }))
  const bytes = texts.reduce((sum, text) => sum + utf8Bytes(text), 0)
  const { firstKept, removed, thinnedTo, hash: previous } = state
  const number = state.seals + 1
  const ofEndpoints = run.some(isOfEndpoints)
  const recordsHash = sha256(recordListText(records))
  const facts = { number, records, recordsHash, isOfEndpoints: ofEndpoints, firstKept, thinnedTo, removed, previous }
  const hash = sha256(sealText({ ...facts, createdAt: now }))
  await tx.collection(auditSeals).insert(newRecord(sealId(number), now, { ...facts, bytes, hash, thinned: null }))
  return {
    ...state,
    sealed: run.at(-1)?.id ?? state.sealed,
    seals: number,
    hash,
    records: state.records + run.length,
    bytes: state.bytes + bytes,
    endpointBytes: (state.endpointBytes ?? 0) + (ofEndpoints ? bytes : 0),
    keptSince: state.keptSince ?? now,
  }
}

/** The records of the next seal. Damaged ones are left out, and end no round: others may stand behind them. */
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

/** Reports whether the state of the chain is gone, or another than the last seal says. */
export async function isStateLost(tx: ReadTransaction): Promise<boolean> {
  return (await soundState(tx, await tx.collection(auditStates).get(CHAIN))) === undefined && (await hasSeals(tx))
}

async function hasSeals(tx: ReadTransaction): Promise<boolean> {
  return (await firstOf(tx, auditSeals)) !== ''
}

/** The state of the chain, where it is that of its last seal. */
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

/** The state of the chain as its seals say it. */
async function stateOfSeals(tx: WriteTransaction, known: AuditState | undefined, now: number): Promise<AuditState> {
  const blank: AuditState = { ...newRecord(CHAIN, now, FIRST_STATE), ...(known && { createdAt: known.createdAt }) }
  const last = await tx.collection(auditSeals).get(await lastOf(tx, auditSeals))
  const first = await tx.collection(auditSeals).get(await firstOf(tx, auditSeals))
  if (last === undefined || first === undefined) return blank
  let [records, bytes, endpointBytes] = [0, 0, 0]
  for await (const { items } of tx.collection(auditSeals).scan(['records', 'bytes', 'thinned', 'isOfEndpoints'])) {
    for (const one of items) {
      records += one.thinned === null ? one.records.length : 0
      bytes += one.bytes
      endpointBytes += one.isOfEndpoints === true ? one.bytes : 0
    }
  }
  const { number: seals, hash, removed, thinnedTo } = last
  const sealed = last.records.at(-1)?.id ?? ''
  const kept = {
    records,
    bytes,
    endpointBytes,
    firstKept: first.number,
    thinnedTo,
    removed,
    keptSince: first.createdAt,
  }
  return { ...blank, sealed, seals, hash, ...kept }
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

/** The readable records after one, in order, `limit` at most; `of` narrows them. */
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
