import type { DamagedRecord, ReadTransaction } from '../../../ports/storage.ts'
import type { Turns } from '../../../ports/turns.ts'
import type { RecordOf, Resource } from '../../../resources/declaration/resource.ts'
import { RESOURCES } from '../../../resources/index.ts'
import { damage, type Inconsistency, inconsistenciesOf } from './inconsistency.ts'

/** The first `limit` things in one snapshot of the store that the declarations rule out. `turns` shares the thread. */
export async function findInconsistencies(
  tx: ReadTransaction,
  limit: number,
  turns: Turns,
): Promise<readonly Inconsistency[]> {
  const turn = turns.begin()
  const records = new Map<string, readonly RecordOf<Resource>[]>()
  const unreadable = new Map<string, readonly DamagedRecord[]>()
  const ids = new Map<string, Set<string>>()
  for (const resource of RESOURCES) {
    const { items, damaged = [] } = await tx.collection(resource).find()
    const known = new Set(damaged.map(({ id }) => id))
    unreadable.set(resource.name, damaged)
    for (const { id } of items) {
      known.add(id)
      await turn()
    }
    records.set(resource.name, items)
    ids.set(resource.name, known)
  }
  const none: ReadonlySet<string> = new Set()
  const found: Inconsistency[] = []
  for (const resource of RESOURCES) {
    const known = (kind: string) => ids.get(kind) ?? none
    found.push(...(unreadable.get(resource.name) ?? []).map((record) => damage(resource, record)))
    if (found.length >= limit) return found.slice(0, limit)
    for (const inconsistency of inconsistenciesOf(resource, records.get(resource.name) ?? [], known)) {
      await turn()
      if (inconsistency === undefined) continue
      if (found.length >= limit) return found
      found.push(inconsistency)
    }
  }
  return found
}
