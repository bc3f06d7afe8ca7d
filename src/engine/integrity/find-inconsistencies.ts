import type { ReadTransaction } from '../../ports/storage.ts'
import { RESOURCES } from '../../resources/index.ts'
import type { RecordOf, Resource } from '../../resources/resource.ts'
import { type Inconsistency, inconsistenciesOf } from './inconsistency.ts'

/** The first `limit` things in one snapshot of the store that the declarations rule out. */
export async function findInconsistencies(tx: ReadTransaction, limit: number): Promise<readonly Inconsistency[]> {
  const records = new Map<string, readonly RecordOf<Resource>[]>()
  for (const resource of RESOURCES) records.set(resource.name, (await tx.collection(resource).find()).items)
  const ids = new Map([...records].map(([kind, items]) => [kind, new Set(items.map(({ id }) => id))]))
  const none: ReadonlySet<string> = new Set()
  const found: Inconsistency[] = []
  for (const resource of RESOURCES) {
    const known = (kind: string) => ids.get(kind) ?? none
    for (const inconsistency of inconsistenciesOf(resource, records.get(resource.name) ?? [], known)) {
      if (found.length >= limit) return found
      found.push(inconsistency)
    }
  }
  return found
}
