import type { Apis } from '../api/apis.ts'
import { type Change, changedBy, differenceOf, type GroupChange, policyBody } from './change.ts'
import { readAttributes, readPolicy } from './read-entity.ts'

/** How many entities a change has written, and entities whose pages the reader may want next. */
export interface Made {
  readonly written: number
  readonly open: readonly { readonly kind: string; readonly id: string; readonly name: string }[]
}

/**
 * Makes a change at the controller, on top of changes of others since it began: role attributes that they added or removed stay so.
 * Rejects with `ApiError` where the controller refuses, and with `Error` when a policy has changed
 * meanwhile.
 */
export async function make(apis: Apis, change: Change): Promise<Made> {
  const { management } = apis
  if (change.kind === 'group') return { written: await giveToGroup(apis, change), open: [] }
  if (change.kind !== 'service-policies') {
    const { before: now } = await readAttributes(apis, change.kind, change.id)
    const body = { roleAttributes: changedBy(differenceOf(change), now) }
    const request = { params: { id: change.id }, body }
    if (change.kind === 'identities') await management.call('PATCH /identities/{id}', request)
    else await management.call('PATCH /services/{id}', request)
    return { written: 1, open: [change] }
  }
  if (change.action === 'create') {
    const { data } = await management.call('POST /service-policies', { body: policyBody(change.policy) })
    return { written: 1, open: [{ kind: change.kind, id: data.id, name: change.policy.name }] }
  }
  const now = await readPolicy(apis, change.id)
  if (JSON.stringify(policyBody(now)) !== JSON.stringify(policyBody(change.before))) {
    throw new Error(`Somebody changed the policy ${change.name} meanwhile. Drop this change and begin it again.`)
  }
  const params = { id: change.id }
  if (change.action === 'delete') {
    await management.call('DELETE /service-policies/{id}', { params })
    return { written: 1, open: [] }
  }
  await management.call('PATCH /service-policies/{id}', { params, body: policyBody(change.policy) })
  return { written: 1, open: [{ ...change, name: change.policy.name }] }
}

/**
 * Gives each holder of a role attribute another role attribute, page by page. An identity that has it already stays as it is, and is not
 * counted.
 */
async function giveToGroup({ management, portcullis }: Apis, { holders, roleAttribute }: GroupChange): Promise<number> {
  let count = 0
  const scope = JSON.stringify([{ any: [holders] }])
  let cursor: string | undefined
  do {
    const query = { kind: 'identities' as const, scope, limit: '200', ...(cursor !== undefined && { cursor }) }
    const { data } = await portcullis.call('GET /access-map/members', { query })
    for (const { id } of data.members) {
      const held = (await management.call('GET /identities/{id}', { params: { id } })).data.roleAttributes ?? []
      if (held.includes(roleAttribute)) continue
      const body = { roleAttributes: [...held, roleAttribute] }
      await management.call('PATCH /identities/{id}', { params: { id }, body })
      count += 1
    }
    cursor = data.nextCursor ?? undefined
  } while (cursor !== undefined)
  return count
}
