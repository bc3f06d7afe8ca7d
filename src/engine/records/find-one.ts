import { equals } from '../../domain/filter/index.ts'
import type { ReadTransaction, RecordKind, StoredRecord } from '../../ports/storage.ts'

/** The record with `value` in an indexed or unique field. */
export async function findOne<T extends StoredRecord>(
  tx: ReadTransaction,
  kind: RecordKind<T>,
  field: keyof T & string,
  value: string,
): Promise<T | undefined> {
  const { items } = await tx.collection(kind).find({ where: equals(field, value), limit: 1 })
  return items[0]
}
