import { auditEntries } from '../audit/audit-entry.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { AuditEntry } from '../facts/audit/audit-questions.resource.ts'
import type { auditRecords } from '../facts/audit/audit-record.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'

type AuditRecord = RecordOf<typeof auditRecords>

/** An event as subscribers get it: an audit record as administrators read it. */
export interface EventMessage {
  /** The same for every delivery of the event: a receiver recognises a repeated one by it. */
  readonly id: string
  /** The type of the audit record, as `entity.updated`. */
  readonly type: string
  /** When it happened, RFC 3339. */
  readonly timestamp: string
  readonly data: AuditEntry
}

/** The events of audit records, in their order. */
export async function eventMessages(
  tx: ReadTransaction,
  records: readonly AuditRecord[],
): Promise<readonly EventMessage[]> {
  const entries = await auditEntries(tx, SYSTEM_CALL, records)
  return entries.map((data) => ({ id: `msg_${data.id}`, type: data.type, timestamp: data.at, data }))
}

/** The subject of an event: the events of one subject are delivered in order. An event about no entity has its actor as subject. */
export function subjectOf({ id, kind, entityId, actorId }: AuditRecord): string {
  return entityId !== null ? `${kind ?? 'identities'} ${entityId}` : actorId !== null ? `identities ${actorId}` : id
}
