import { jsonBytes } from '../../base/bytes.ts'
import type { EngineContext } from '../../kernel/context/context.ts'
import { equals } from '../../kernel/filter/index.ts'
import { newRecord } from '../../kernel/records/read-records.ts'
import type { WriteTransaction } from '../../ports/record-storage.ts'
import { type FailedRequest, failedServiceRequests } from '../posture/posture-data.resource.ts'
import type { PolicyFailure } from '../posture/rules/index.ts'

/** How many failed service requests of an identity are kept. */
const KEPT_PER_IDENTITY = 50

/** Notes a service request that posture refused and lets go of the oldest beyond fifty. */
export async function recordFailedRequest(
  { settings, random, clock }: Pick<EngineContext, 'clock' | 'random' | 'settings'>,
  tx: WriteTransaction,
  identityId: string,
  request: FailedRequest,
): Promise<void> {
  const collection = tx.collection(failedServiceRequests)
  const { items } = await collection.find({
    where: equals('identityId', identityId),
    orderBy: [{ field: 'when', kind: 'instant', direction: 'asc' }],
  })
  for (const { id } of items.slice(0, Math.max(0, items.length - KEPT_PER_IDENTITY + 1))) await collection.delete(id)
  const when = clock.now()
  const kept = withinBytes(request, settings.limits.failedRequestBytes)
  await collection.insert(newRecord(random.id(), when, { identityId, when, request: kept }))
}

/** The request with as many of the failed checks, in order, as fit into `most` bytes. */
function withinBytes(request: FailedRequest, most: number): FailedRequest {
  if (jsonBytes(request) <= most) return request
  const policyFailures: PolicyFailure[] = []
  let bytes = jsonBytes({ ...request, policyFailures })
  for (const failure of request.policyFailures) {
    const checks: PolicyFailure['checks'][number][] = []
    bytes += jsonBytes({ ...failure, checks }) + 1
    if (bytes > most) break
    for (const check of failure.checks) {
      const added = jsonBytes(check) + 1
      if (bytes + added > most) break
      checks.push(check)
      bytes += added
    }
    policyFailures.push({ ...failure, checks })
    if (checks.length < failure.checks.length) break
  }
  return { ...request, policyFailures }
}
