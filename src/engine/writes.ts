import type { Collection, StoredRecord, WriteTransaction } from '../ports/storage.ts'
import type { Call } from './call.ts'
import type { EngineContext } from './context.ts'

interface Recorded {
  readonly operation: 'insert' | 'update' | 'delete'
  readonly kind: string
  readonly id: string
}

/** Kinds whose changes are the controller's own bookkeeping and no news to a host. */
const SILENT_KINDS: ReadonlySet<string> = new Set(['posture-data', 'failed-service-requests'])

/** Runs `work` as one write and tells the host's listeners what changed, after the commit and in order. */
export async function writeAndTell<T>(
  context: EngineContext,
  call: Call,
  work: (tx: WriteTransaction) => Promise<T>,
): Promise<T> {
  const changes: Recorded[] = []
  const result = await context.storage.write((tx) => {
    changes.length = 0
    return work(recording(tx, changes))
  })
  const at = context.clock.now()
  const author = call.caller?.identity.id
  for (const change of changes) {
    if (!SILENT_KINDS.has(change.kind)) context.events.emit('entity.changed', { ...change, author, at })
  }
  return result
}

function recording(tx: WriteTransaction, changes: Recorded[]): WriteTransaction {
  return {
    revision: tx.revision,
    changesSince: (revision) => tx.changesSince(revision),
    collection: (kind) => recordingCollection(kind.name, tx.collection(kind), changes),
  }
}

function recordingCollection<T extends StoredRecord>(
  kind: string,
  collection: Collection<T>,
  changes: Recorded[],
): Collection<T> {
  return {
    get: (id) => collection.get(id),
    find: (query) => collection.find(query),
    insert: async (record) => {
      await collection.insert(record)
      changes.push({ operation: 'insert', kind, id: record.id })
    },
    update: async (record) => {
      const updated = await collection.update(record)
      if (updated) changes.push({ operation: 'update', kind, id: record.id })
      return updated
    },
    delete: async (id) => {
      const deleted = await collection.delete(id)
      if (deleted) changes.push({ operation: 'delete', kind, id })
      return deleted
    },
  }
}
