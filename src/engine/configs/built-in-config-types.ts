import { BUILT_IN_CONFIG_TYPES, isFormerSchema } from '../../domain/config-types/index.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import { configTypes } from '../../resources/services/config-types.ts'
import type { EngineContext } from '../context/context.ts'
import { ifReadable } from '../records/damaged-records.ts'
import { newRecord } from '../records/new-record.ts'

/**
 * Gives a store that has no config type the built-in ones. In a store that has some, built-in ones whose schema is that of an
 * earlier version get the present one, which accepts the same configs; one that was changed or deleted stays so.
 */
export async function keepBuiltInConfigTypes(
  { digest }: EngineContext,
  tx: WriteTransaction,
  now: number,
): Promise<void> {
  const collection = tx.collection(configTypes)
  const { totalCount: known } = await collection.find({ limit: 1 })
  for (const builtIn of BUILT_IN_CONFIG_TYPES) {
    const { id, schema } = builtIn
    if (known === 0) await collection.insert(newRecord(id, now, builtIn))
    const stored = known === 0 ? undefined : await ifReadable(() => collection.get(id))
    if (stored?.schema && isFormerSchema(stored.schema, digest.sha256)) {
      await collection.update({ ...stored, schema, updatedAt: now })
    }
  }
}
