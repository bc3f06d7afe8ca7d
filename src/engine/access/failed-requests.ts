import { equals } from '../../domain/filter/index.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import { failedServiceRequests } from '../../resources/posture-records.ts'
import type { EngineContext } from '../context/context.ts'
import { newRecord } from '../records/new-record.ts'

/** So many failed service requests of an identity are kept (interface: Limits). */
const KEPT_PER_IDENTITY = 50

/** Notes a service request that posture refused and lets go of the oldest beyond fifty. */
export async function recordFailedRequest(
  context: EngineContext,
  tx: WriteTransaction,
  identityId: string,
  request: Readonly<Record<string, unknown>>,
): Promise<void> {
  const collection = tx.collection(failedServiceRequests)
  const { items } = await collection.find({
    where: equals('identityId', identityId),
    orderBy: [{ field: 'when', kind: 'instant', direction: 'asc' }],
  })
  for (const { id } of items.slice(0, Math.max(0, items.length - KEPT_PER_IDENTITY + 1))) await collection.delete(id)
  const when = context.clock.now()
  await collection.insert(newRecord(context.random.id(), when, { identityId, when, request }))
}
