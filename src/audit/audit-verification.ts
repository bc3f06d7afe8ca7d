import type { EngineContext } from '../context/context.ts'
import { auditRecords, auditSeals, auditStates } from '../facts/audit/audit-record.resource.ts'
import { recordText, sealId, sealText } from '../facts/audit/audit-trail.rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { ifReadable } from '../records/read-records.ts'
import { CHAIN, recordsOf } from './audit-sealing.ts'

type AuditState = RecordOf<typeof auditStates>
type AuditSeal = RecordOf<typeof auditSeals>

/** The first thing of the trail that is not as it was sealed. */
export interface AuditTampering {
  readonly what:
    | 'record-altered'
    | 'record-removed'
    | 'record-added'
    | 'seal-altered'
    | 'seal-removed'
    | 'chain-cut'
    | 'other-chain'
  /** The id of the record; null where a seal is meant. */
  readonly record: string | null
  /** The number of the seal; null for a record that none holds. */
  readonly seal: number | null
}

/** The outcome of a verification. */
export interface AuditFinding {
  readonly isWhole: boolean
  /** Seals and records that are as they were. */
  readonly seals: number
  readonly records: number
  /** Records that are not sealed yet, of about the last second. */
  readonly unsealed: number
  /** Records that were removed by age or for room. */
  readonly removed: number
  /** The number and the hash of the last seal that is as it was. */
  readonly head: { readonly number: number; readonly hash: string }
  readonly tampering: AuditTampering | null
}

type Ports = Pick<EngineContext, 'storage' | 'digest'>

/** Verifies every seal and every record from the first that is kept, in order, and stops at the first that is not as it was. */
export async function verifyTrail(
  { storage, digest }: Ports,
  kept: { readonly number: number; readonly hash: string } | undefined,
): Promise<AuditFinding> {
  const state = await storage.read((tx) => tx.collection(auditStates).get(CHAIN))
  const total = await storage.read(async (tx) => (await tx.collection(auditRecords).find({ limit: 0 })).totalCount)
  const found = { seals: 0, records: 0, removed: state?.removed ?? 0, head: { number: 0, hash: '' } }
  const tampered = (tampering: AuditTampering): AuditFinding => ({ ...found, unsealed: 0, isWhole: false, tampering })
  const ofSeal = (what: AuditTampering['what'], seal: number) => tampered({ what, record: null, seal })
  if (state === undefined) {
    if (kept !== undefined && kept.number > 0) return ofSeal('chain-cut', kept.number)
    return { ...found, unsealed: total, isWhole: true, tampering: null }
  }
  let last: AuditSeal | undefined
  for (let number = state.firstKept; number <= state.seals; number += 1) {
    const { seal, tampering } = await storage.read((tx) => verifySeal(tx, digest.sha256, number, last))
    if (seal === undefined || tampering !== undefined)
      return tampered(tampering ?? { what: 'seal-removed', record: null, seal: number })
    if (kept?.number === number && kept.hash !== seal.hash) return ofSeal('other-chain', number)
    found.seals += 1
    found.records += seal.records.length
    found.head = { number, hash: seal.hash }
    last = seal
  }
  if (kept !== undefined && kept.number > state.seals) return ofSeal('chain-cut', state.seals + 1)
  if (last !== undefined && (last.hash !== state.hash || last.firstKept !== state.firstKept)) {
    return ofSeal('seal-removed', last.hash === state.hash ? last.firstKept : state.seals + 1)
  }
  const { unsealed, added } = await storage.read((tx) => unlisted(tx, state, total - found.records))
  if (added !== undefined) return tampered({ what: 'record-added', record: added, seal: null })
  return { ...found, unsealed, isWhole: true, tampering: null }
}

async function verifySeal(
  tx: ReadTransaction,
  sha256: (text: string) => string,
  number: number,
  before: AuditSeal | undefined,
): Promise<{ readonly seal?: AuditSeal; readonly tampering?: AuditTampering }> {
  const seal = await ifReadable(() => tx.collection(auditSeals).get(sealId(number)))
  if (seal === undefined) return { tampering: { what: 'seal-removed', record: null, seal: number } }
  const isLinked = before === undefined || seal.previous === before.hash
  if (seal.number !== number || !isLinked || sha256(sealText(seal)) !== seal.hash) {
    return { tampering: { what: 'seal-altered', record: null, seal: number } }
  }
  const found = await recordsOf(
    tx,
    seal.records.map(({ id }) => id),
  )
  const records = new Map(found.map((record) => [record.id, record]))
  for (const { id, digest } of seal.records) {
    const record = records.get(id)
    if (record === undefined) {
      const isThere = (await tx.collection(auditRecords).findIds({ where: idIs(id), limit: 1 })).length > 0
      return { tampering: { what: isThere ? 'record-altered' : 'record-removed', record: id, seal: number } }
    }
    if (sha256(recordText(record)) !== digest)
      return { tampering: { what: 'record-altered', record: id, seal: number } }
  }
  return { seal }
}

function idIs(id: string) {
  return { kind: 'compare', operand: { kind: 'field', field: 'id' }, operator: '=', value: id } as const
}

/** The records that no seal holds: those after the last seal, and the first of any others. */
async function unlisted(
  tx: ReadTransaction,
  { sealed }: AuditState,
  expected: number,
): Promise<{ readonly unsealed: number; readonly added?: string }> {
  const where = { kind: 'compare', operand: { kind: 'field', field: 'id' }, operator: '>', value: sealed } as const
  const { totalCount: unsealed } = await tx.collection(auditRecords).find({ where, limit: 0 })
  if (unsealed >= expected) return { unsealed }
  const listed = new Set<string>()
  for await (const { items } of tx.collection(auditSeals).scan(['records'])) {
    for (const { records } of items) for (const { id } of records) listed.add(id)
  }
  for await (const { items } of tx.collection(auditRecords).scan([])) {
    const added = items.find(({ id }) => id <= sealed && !listed.has(id))
    if (added !== undefined) return { unsealed, added: added.id }
  }
  return { unsealed }
}
