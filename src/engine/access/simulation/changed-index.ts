import { AccessIndex, apply, type IndexChange } from '../../../domain/access-index/index.ts'
import type { ReadTransaction } from '../../../ports/storage.ts'
import { servicePolicies } from '../../../resources/access/policies.ts'
import type { EngineContext } from '../../context/context.ts'
import { indexedPolicy } from '../access-feed.ts'

/**
 * An index of some identities and of everything that decides what they may dial and bind, as it would be after changes. It is
 * made for one question: what it costs follows from the number of services and service policies, not of identities.
 */
export async function changedIndex(
  { access, turns }: EngineContext,
  tx: ReadTransaction,
  identityIds: readonly string[],
  changes: readonly IndexChange[],
): Promise<AccessIndex> {
  const known = await access.at(tx)
  const index = new AccessIndex()
  const turn = turns.begin()
  for (const kind of ['services', 'posture-checks'] as const) {
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
  const wanted = new Set(identityIds)
  apply(
    index,
    changes.filter(({ kind, id }) => kind !== 'identities' || wanted.has(id)),
  )
  return index
}
