import { type Call, isAdminCall, mayRead } from '../context/call.ts'
import type { AuditEntry } from '../facts/audit/audit-questions.resource.ts'
import type { auditRecords, FieldChange } from '../facts/audit/audit-record.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { RESOURCES } from '../facts/resources/index.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { ids } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'

type AuditRecord = RecordOf<typeof auditRecords>

/**
 * Reports whether a caller may read a record: the right to read the entities that it is about, or administrators alone
 * for a record about no entity.
 */
export function mayReadRecord(call: Call, { reader }: Pick<AuditRecord, 'reader'>): boolean {
  return reader === null ? isAdminCall(call) : mayRead(call, reader)
}

/** Audit records as a caller may read them. Only administrators read the address and the proof of an actor. */
export async function auditEntries(
  tx: ReadTransaction,
  call: Call,
  records: readonly AuditRecord[],
): Promise<readonly AuditEntry[]> {
  const isAdmin = isAdminCall(call)
  const names = mayRead(call, identities.definition.permission) ? await namesOf(tx, records) : new Map<string, string>()
  return records.map((record) => {
    const { id, createdAt, type, kind, entityId, actorId, content } = record
    const { author, remoteAddress, requestId, entityName, reason, changes = {}, facts = {} } = content
    const isNamed = kind !== identities.name || names.size > 0 || isAdmin
    return {
      id,
      at: new Date(createdAt).toISOString(),
      type,
      entity:
        entityId === null
          ? null
          : {
              kind: kind ?? identities.name,
              id: entityId,
              name: (isNamed ? entityName : null) ?? names.get(entityId) ?? null,
            },
      actor: actorId === null ? null : { id: actorId, name: names.get(actorId) ?? null },
      author: isAdmin ? author : null,
      remoteAddress: isAdmin ? (remoteAddress ?? null) : null,
      requestId: isAdmin ? (requestId ?? null) : null,
      reason: isAdmin ? (reason ?? null) : null,
      changes: isAdmin ? changes : shownChanges(kind, changes),
      facts: isAdmin ? facts : {},
    }
  })
}

/** The names that identities have now, or had when they acted, for identities that are gone. */
async function namesOf(tx: ReadTransaction, records: readonly AuditRecord[]): Promise<ReadonlyMap<string, string>> {
  const wanted = new Set(records.flatMap(({ actorId, kind, entityId }) => [actorId, kind === null ? entityId : null]))
  wanted.delete(null)
  const known = records.flatMap(({ actorId, content }): [string, string][] =>
    actorId === null || content.author.name === undefined ? [] : [[actorId, content.author.name]],
  )
  if (wanted.size === 0) return new Map()
  const { items } = await tx.collection(identities).find({ where: ids([...wanted].filter((id) => id !== null)) })
  return new Map([...known, ...items.map(({ id, name }): [string, string] => [id, name])])
}

const HIDDEN = new Map(RESOURCES.map(({ name, definition }) => [name, new Set(definition.hidden)]))

/** The changes of fields that the reader may read of the entity itself. */
function shownChanges(kind: string | null, changes: Readonly<Record<string, FieldChange>>) {
  const hidden = kind === null ? undefined : HIDDEN.get(kind)
  return Object.fromEntries(Object.entries(changes).filter(([field]) => !hidden?.has(field)))
}
