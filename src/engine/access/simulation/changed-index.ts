import { AccessIndex, applying, type IndexChange } from '../../../domain/access-index/index.ts'
import type { ReadTransaction } from '../../../ports/storage.ts'
import { servicePolicies } from '../../../resources/access/policies.ts'
import { resourceNamed } from '../../../resources/index.ts'
import type { EngineContext } from '../../context/context.ts'
import { indexedPolicy } from '../access-feed.ts'

/**
 * An index of some identities and of everything that decides what they may dial and bind, as it would be after changes; with
 * edge routers and their policies on request. It is made for one question: what it costs follows from the number of services
 * and policies, not of identities.
 */
export async function changedIndex(
  { access, turns }: EngineContext,
  tx: ReadTransaction,
  identityIds: readonly string[],
  changes: readonly IndexChange[],
  withRouters = false,
): Promise<AccessIndex> {
  const known = await access.at(tx)
  const index = new AccessIndex()
  const turn = turns.begin()
  const kinds = ['services', 'posture-checks', ...(withRouters ? (['edge-routers'] as const) : [])] as const
  for (const kind of kinds) {
    const roster = known.roster(kind)
    for (const [slot, id] of roster.ids.entries()) {
      if (id !== undefined) index.putEntity(kind, { id, roleAttributes: roster.attributesOf(slot) })
      await turn()
    }
  }
  for (const id of identityIds) {
    const roleAttributes = known.rolesOf('identities', id).map((role) => role.slice(1))
    index.putEntity('identities', { id, roleAttributes })
  }
  for (const policy of (await tx.collection(servicePolicies).find()).items) {
    index.putPolicy('service-policies', indexedPolicy(servicePolicies, policy))
    await turn()
  }
  for (const kind of withRouters ? (['edge-router-policies', 'service-edge-router-policies'] as const) : []) {
    const resource = resourceNamed(kind)
    for (const policy of (await tx.collection(resource).find()).items) {
      index.putPolicy(kind, indexedPolicy(resource, policy))
      await turn()
    }
  }
  const wanted = new Set(identityIds)
  const concerned = changes.filter(({ kind, id }) => kind !== 'identities' || wanted.has(id))
  for (const _ of applying(index, concerned)) await turn()
  return index
}
