import { auditRecords, auditSeals, type auditStates } from '../facts/audit/audit-record.resource.ts'
import { sealId } from '../facts/audit/audit-trail.rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'

type AuditState = RecordOf<typeof auditStates>

/** How long, and how many bytes of records, a trail keeps. */
export interface Keeping {
  readonly keepMs: number
  readonly mostBytes: number
}

/** Seals that one sealing removes or thins at most. */
const REMOVED_AT_ONCE = 4
/** Seals that one look for records of endpoints passes over at most. */
const LOOKED_AT = 100
/** The part of the bytes that records of endpoints keep in any case: a fourth. */
const ENDPOINTS_PART = 4
/** Bytes that a seal counts for whose records were removed. */
export const THIN_SEAL_BYTES = 512

/**
 * Removes the first seals with their records while they are too old. Where all together are too many bytes, the first records of
 * endpoints go, of which the seals stay; and whole seals where they have no more than their part.
 */
export async function makeRoom(
  tx: WriteTransaction,
  state: AuditState,
  { keepMs, mostBytes }: Keeping,
  now: number,
): Promise<AuditState> {
  let kept = state
  for (let count = 0; count < REMOVED_AT_ONCE && kept.firstKept <= kept.seals; count += 1) {
    const isOld = kept.keptSince !== null && kept.keptSince + keepMs <= now
    if (!isOld && kept.bytes <= mostBytes) break
    const isThinning = !isOld && (kept.endpointBytes ?? 0) > mostBytes / ENDPOINTS_PART
    kept = (isThinning ? await thinNext(tx, kept) : undefined) ?? (await removeFirst(tx, kept))
  }
  return kept
}

async function removeFirst(tx: WriteTransaction, state: AuditState): Promise<AuditState> {
  const seal = await tx.collection(auditSeals).get(sealId(state.firstKept))
  const gone = seal?.thinned === null ? seal.records : []
  for (const { id } of gone) await tx.collection(auditRecords).delete(id)
  await tx.collection(auditSeals).delete(sealId(state.firstKept))
  const next = await tx.collection(auditSeals).get(sealId(state.firstKept + 1))
  return {
    ...state,
    firstKept: state.firstKept + 1,
    removed: state.removed + gone.length,
    removedTo: seal?.records.at(-1)?.id ?? state.removedTo,
    records: state.records - gone.length,
    bytes: state.bytes - (seal?.bytes ?? 0),
    endpointBytes: (state.endpointBytes ?? 0) - (seal?.isOfEndpoints === true ? seal.bytes : 0),
    keptSince: next?.createdAt ?? null,
  }
}

/** Removes the records of the next seal of endpoints, and keeps its place in the chain; undefined where there is none. */
async function thinNext(tx: WriteTransaction, state: AuditState): Promise<AuditState | undefined> {
  const from = Math.max((state.thinnedTo ?? 0) + 1, state.firstKept)
  const to = Math.min(from + LOOKED_AT - 1, state.seals)
  for (let number = from; number <= to; number += 1) {
    const seal = await tx.collection(auditSeals).get(sealId(number))
    if (seal?.isOfEndpoints !== true || seal.thinned !== null || seal.bytes <= THIN_SEAL_BYTES) continue
    for (const { id } of seal.records) await tx.collection(auditRecords).delete(id)
    const gone = seal.records.length
    // The first and the last id tell the place of the seal in the order of records.
    const records = seal.records.filter((_, place) => place === 0 || place === gone - 1)
    await tx.collection(auditSeals).update({ ...seal, records, bytes: THIN_SEAL_BYTES, thinned: gone })
    const bytes = seal.bytes - THIN_SEAL_BYTES
    return {
      ...state,
      thinnedTo: number,
      removed: state.removed + gone,
      records: state.records - gone,
      bytes: state.bytes - bytes,
      endpointBytes: (state.endpointBytes ?? 0) - bytes,
    }
  }
  return to < from ? undefined : { ...state, thinnedTo: to }
}
