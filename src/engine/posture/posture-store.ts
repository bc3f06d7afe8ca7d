import type { PostureData } from '../../domain/posture/index.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import { postureData } from '../../resources/posture-records.ts'
import { whatIsLeft } from '../context/recorded-changes.ts'
import { newRecord } from '../records/new-record.ts'

/** Keeps what is now known of an identity's endpoints. */
export async function storePostureData(
  tx: WriteTransaction,
  identityId: string,
  data: PostureData,
  now: number,
): Promise<void> {
  const collection = tx.collection(postureData)
  const known = await whatIsLeft(() => collection.get(identityId))
  if (known === undefined) {
    await collection.insert(newRecord(identityId, now, { identityId, data }))
  } else {
    await collection.update({ ...known, updatedAt: now, data })
  }
}
