import { utf8Bytes } from '../base/bytes.ts'
import type { EngineContext } from '../context/context.ts'
import { auditRecords, auditSeals, auditStates } from '../facts/audit/audit-record.resource.ts'
import { NO_HASH, recordText, sealId, sealText } from '../facts/audit/audit-trail.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { ReadTransaction, StoredRecord } from '../ports/record-storage.ts'
import { ifReadable } from '../records/read-records.ts'
import { CHAIN, firstOf, lastOf, recordsAfter, recordsOf } from './audit-sealing.ts'

type AuditState = RecordOf<typeof auditStates>
type AuditSeal = RecordOf<typeof auditSeals>

/** The first thing of the trail that is not as it was sealed. */
export interface AuditTampering {
  readonly what:
    | 'record-altered'
    | 'record-removed'
    | 'record-added'
    | 'record-unsealed'
    | 'seal-altered'
    | 'seal-removed'
    | 'seal-added'
    | 'state-altered'
    | 'trail-removed'
    | 'chain-cut'
    | 'head-removed'
    | 'other-chain'
  /** The id of the record; null where a seal is meant. */
  readonly record: string | null
  /** The number of the seal; null for a record outside of all seals. */
  readonly seal: number | null
}

/** The outcome of a verification. */
export interface AuditFinding {
  readonly isWhole: boolean
  /** Seals and records that are unaltered. */
  readonly seals: number
  readonly records: number
  /** Records that are not sealed yet, of about the last second. */
  readonly unsealed: number
  /** Records that were removed by age or for room. */
  readonly removed: number
  /** How many of them were removed after the kept head; null without one. */
  readonly removedSinceHead: number | null
  /** When the first seal that is kept was made, RFC 3339; null before the first. */
  readonly since: string | null
  /** The number and the hash of the last unaltered seal. */
  readonly head: { readonly number: number; readonly hash: string }
  readonly tampering: AuditTampering | null
}

/** A head of the chain that was kept elsewhere. */
interface KeptHead {
  readonly number: number
  readonly hash: string
}

/** Milliseconds between the first and the last record without a seal. A longer gap means that the sealing was prevented. */
const UNSEALED_MS = 600_000

/**
 * Verifies every seal and every record from the first kept one on, in order, and stops at the first that was altered.
 * The seals themselves say how far the chain goes; the state of the chain has to agree.
 */
export async function verifyTrail(
  { storage, digest }: EngineContext,
  kept: KeptHead | undefined,
): Promise<AuditFinding> {
  const { state, first, last, sealCount, total, hasIdentities } = await storage.read(async (tx) => ({
    state: await ifReadable(() => tx.collection(auditStates).get(CHAIN)),
    first: numberOf(await firstOf(tx, auditSeals)),
    last: numberOf(await lastOf(tx, auditSeals)),
    sealCount: (await tx.collection(auditSeals).find({ limit: 0 })).totalCount,
    total: (await tx.collection(auditRecords).find({ limit: 0 })).totalCount,
    hasIdentities: (await tx.collection(identities).findIds({ limit: 1 })).length > 0,
  }))
  const found = {
    seals: 0,
    records: 0,
    removed: state?.removed ?? 0,
    removedSinceHead: null as number | null,
    since: null as string | null,
    head: { number: 0, hash: '' },
  }
  const tampered = (tampering: AuditTampering): AuditFinding => ({ ...found, unsealed: 0, isWhole: false, tampering })
  const ofSeal = (what: AuditTampering['what'], seal: number | null) => tampered({ what, record: null, seal })
  if (kept !== undefined && kept.number > last) return ofSeal('chain-cut', last + 1)
  if (kept !== undefined && kept.number < first - 1) return ofSeal('head-removed', kept.number)
  if (sealCount === 0) {
    if (state !== undefined && state.seals > 0) return ofSeal('seal-removed', state.firstKept)
    if (total === 0 && hasIdentities) return ofSeal('trail-removed', null)
  } else if (sealCount !== last - first + 1) {
    const gap = await storage.read((tx) => firstGap(tx, first, last))
    return ofSeal(gap === undefined ? 'seal-added' : 'seal-removed', gap ?? null)
  }

  let before: AuditSeal | undefined
  let bytes = 0
  for (let number = first; number <= last && sealCount > 0; number += 1) {
    const verified = await storage.read((tx) => verifySeal(tx, digest.sha256, number, before))
    if ('tampering' in verified) return tampered(verified.tampering)
    const { seal } = verified
    const isKept = kept?.number === number
    const isOther = isKept ? kept.hash !== seal.hash : kept?.number === number - 1 && kept.hash !== seal.previous
    if (isOther && kept !== undefined && kept.number > 0) return ofSeal('other-chain', kept.number)
    if (isKept) found.removedSinceHead = Math.max(0, found.removed - seal.removed)
    found.since ??= new Date(seal.createdAt).toISOString()
    found.seals += 1
    if (before !== undefined && seal.firstKept > before.firstKept && seal.removed === before.removed) {
      // A sealing that removes seals counts their records.
      return ofSeal('seal-removed', before.firstKept)
    }
    found.records += seal.records.length
    found.head = { number, hash: seal.hash }
    bytes += seal.bytes
    before = seal
  }
  if (before !== undefined) {
    // Old seals are removed when a seal is made, which names the first kept one.
    if (before.firstKept !== first) return ofSeal('seal-removed', Math.min(before.firstKept, first))
    if (!isStateOf(state, before, { records: found.records, bytes })) return ofSeal('state-altered', null)
  }
  const sealed = before?.records.at(-1)?.id ?? ''
  const rest = await storage.read((tx) => unlisted(tx, sealed, total - found.records))
  if (rest.tampering !== undefined) return tampered(rest.tampering)
  return { ...found, unsealed: rest.unsealed, isWhole: true, tampering: null }
}

/** The number in the id of a seal; 0 for none, or for another text. */
function numberOf(id: string): number {
  const number = /^\d+$/.test(id) ? Number(id) : 0
  return sealId(number) === id ? number : 0
}

async function firstGap(tx: ReadTransaction, first: number, last: number): Promise<number | undefined> {
  for (let number = first; number <= last; number += 1) {
    const isThere = (await tx.collection(auditSeals).findIds({ where: idIs(sealId(number)), limit: 1 })).length > 0
    if (!isThere) return number
  }
  return undefined
}

/** Reports whether the state of the chain agrees with its last seal. */
function isStateOf(
  state: AuditState | undefined,
  last: AuditSeal,
  kept: { readonly records: number; readonly bytes: number },
): boolean {
  if (state === undefined) return false
  return (
    state.sealed === last.records.at(-1)?.id &&
    state.seals === last.number &&
    state.hash === last.hash &&
    state.firstKept === last.firstKept &&
    state.removed === last.removed &&
    state.records === kept.records &&
    state.bytes === kept.bytes
  )
}

/** Records and seals are written once, and without tags. */
function isUntouched({ tags, createdAt, updatedAt }: Pick<AuditSeal, 'tags' | 'createdAt' | 'updatedAt'>): boolean {
  return createdAt === updatedAt && Object.keys(tags).length === 0
}

async function verifySeal(
  tx: ReadTransaction,
  sha256: (text: string) => string,
  number: number,
  before: AuditSeal | undefined,
): Promise<{ readonly seal: AuditSeal } | { readonly tampering: AuditTampering }> {
  const tampered = (what: AuditTampering['what'], record: string | null = null) => ({
    tampering: { what, record, seal: number },
  })
  const seal = await ifReadable(() => tx.collection(auditSeals).get(sealId(number)))
  if (seal === undefined)
    return tampered((await isThere(tx, auditSeals, sealId(number))) ? 'seal-altered' : 'seal-removed')
  const previous = number === 1 ? NO_HASH : (before?.hash ?? seal.previous)
  const isLinked = seal.number === number && seal.previous === previous
  if (!isLinked || !isUntouched(seal) || sha256(sealText(seal)) !== seal.hash) return tampered('seal-altered')
  const found = await recordsOf(
    tx,
    seal.records.map(({ id }) => id),
  )
  const records = new Map(found.map((record) => [record.id, record]))
  let bytes = 0
  for (const { id, digest } of seal.records) {
    const record = records.get(id)
    if (record === undefined) {
      return tampered((await isThere(tx, auditRecords, id)) ? 'record-altered' : 'record-removed', id)
    }
    const text = recordText(record)
    if (!isUntouched(record) || sha256(text) !== digest) return tampered('record-altered', id)
    bytes += utf8Bytes(text)
  }
  return bytes === seal.bytes ? { seal } : tampered('seal-altered')
}

async function isThere(
  tx: ReadTransaction,
  kind: typeof auditSeals | typeof auditRecords,
  id: string,
): Promise<boolean> {
  return (await tx.collection<StoredRecord>(kind).findIds({ where: idIs(id), limit: 1 })).length > 0
}

function idIs(id: string) {
  return { kind: 'compare', operand: { kind: 'field', field: 'id' }, operator: '=', value: id } as const
}

/** The records outside of all seals: the records after the last seal, and the first of any others. */
async function unlisted(
  tx: ReadTransaction,
  sealed: string,
  expected: number,
): Promise<{ readonly unsealed: number; readonly tampering?: AuditTampering }> {
  const where = { kind: 'compare', operand: { kind: 'field', field: 'id' }, operator: '>', value: sealed } as const
  const { totalCount: unsealed } = await tx.collection(auditRecords).find({ where, limit: 0 })
  const [oldest] = await recordsAfter(tx, sealed, 1)
  const [newest] = await recordsOf(tx, [await lastOf(tx, auditRecords)])
  if (oldest !== undefined && newest !== undefined && newest.createdAt - oldest.createdAt > UNSEALED_MS) {
    return { unsealed, tampering: { what: 'record-unsealed', record: oldest.id, seal: null } }
  }
  if (unsealed >= expected) return { unsealed }
  const listed = new Set<string>()
  for await (const { items } of tx.collection(auditSeals).scan(['records'])) {
    for (const { records } of items) for (const { id } of records) listed.add(id)
  }
  for await (const { items } of tx.collection(auditRecords).scan([])) {
    const added = items.find(({ id }) => id <= sealed && !listed.has(id))
    if (added !== undefined) return { unsealed, tampering: { what: 'record-added', record: added.id, seal: null } }
  }
  return { unsealed }
}
