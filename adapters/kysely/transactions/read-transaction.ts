import type { Connection } from '../connections/connection.ts'
import type { ReadCollection, ReadTransaction, RecordKind, StoredRecord } from '../core.ts'
import { find } from '../records/find.ts'
import { decodeRecord } from '../records/record-row.ts'
import type { Lifetime } from './lifetime.ts'
import type { Shared } from './shared.ts'
import type { StoredState } from './state.ts'

/** Reads through one connection, whose snapshot has reached `state`. */
export function readTransaction(
  shared: Shared,
  connection: Connection,
  state: StoredState,
  lifetime: Lifetime,
): ReadTransaction {
  return {
    revision: state.revision,
    collection<T extends StoredRecord>(kind: RecordKind<T>): ReadCollection<T> {
      lifetime.assertOpen()
      return readCollection<T>(shared, connection, kind, lifetime)
    },
    async changesSince(revision) {
      lifetime.assertOpen()
      return shared.state.changesSince(connection, state, revision)
    },
  }
}

export function readCollection<T extends StoredRecord>(
  shared: Shared,
  connection: Connection,
  kind: RecordKind,
  lifetime: Lifetime,
): ReadCollection<T> {
  const table = shared.tableOf(kind)
  const { get } = shared.statementsOf(table)
  return {
    async get(id) {
      lifetime.assertOpen()
      const [row] = await connection.rows(get([id]))
      return row && ofKind<T>(decodeRecord(table, row))
    },
    async find(query = {}) {
      lifetime.assertOpen()
      const { items, totalCount } = await find(shared.database, connection, table, query)
      return { items: ofKind<readonly T[]>(items), totalCount }
    },
  }
}

function ofKind<R>(stored: unknown): R {
  // A table is reached through its kind alone, so what it holds is what the kind's own insert and update took in.
  return stored as R
}
