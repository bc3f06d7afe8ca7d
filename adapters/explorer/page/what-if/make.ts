import type { Apis } from '../api/apis.ts'
import { type Change, policyBody } from './change.ts'

/** Makes a change at the controller. Rejects with `ApiError` where it refuses. */
export async function make({ management }: Apis, change: Change): Promise<void> {
  if (change.kind !== 'service-policies') {
    const request = { params: { id: change.id }, body: { roleAttributes: [...change.roleAttributes] } }
    if (change.kind === 'identities') await management.call('PATCH /identities/{id}', request)
    else await management.call('PATCH /services/{id}', request)
    return
  }
  if (change.action === 'create') {
    await management.call('POST /service-policies', { body: policyBody(change.policy) })
    return
  }
  const params = { id: change.id }
  if (change.action === 'delete') await management.call('DELETE /service-policies/{id}', { params })
  else await management.call('PATCH /service-policies/{id}', { params, body: policyBody(change.policy) })
}
