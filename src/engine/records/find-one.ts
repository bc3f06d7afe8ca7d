import { equals } from '../../domain/filter/index.ts'
import type { ReadTransaction, RecordKind, StoredRecord } from '../../ports/storage.ts'

/** The record with `value` in an indexed or unique field. Throws a `DamagedRecord` for one that cannot be read. */
export async function findOne<T extends StoredRecord>(
  tx: ReadTransaction,
  kind: RecordKind<T>,
  field: keyof T & string,
  value: string,
): Promise<T | undefined> {
  const { items, damaged = [] } = await tx.collection(kind).find({ where: equals(field, value), limit: 1 })
  if (damaged[0] !== undefined) throw damaged[0]
  return items[0]
}
