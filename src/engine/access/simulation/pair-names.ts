import { ids } from '../../../domain/filter/index.ts'
import type { ReadTransaction } from '../../../ports/storage.ts'
import { resourceNamed } from '../../../resources/index.ts'
import type { PairKey } from './cursor.ts'
import type { ResolvedChanges } from './resolve-changes.ts'
import type { SimulatedKind } from './simulated-change.ts'
import type { ChangedPair } from './simulation-result.ts'

/** Pairs with the names of their entities, as they are or would be. */
export async function withNames(
  tx: ReadTransaction,
  resolved: ResolvedChanges,
  keys: readonly PairKey[],
): Promise<readonly ChangedPair[]> {
  const identities = await namesOf(tx, 'identities', resolved, new Set(keys.map(({ identityId }) => identityId)))
  const services = await namesOf(tx, 'services', resolved, new Set(keys.map(({ serviceId }) => serviceId)))
  return keys.map(({ identityId, serviceId, type, change }) => ({
    identity: { id: identityId, name: identities.get(identityId) ?? '' },
    service: { id: serviceId, name: services.get(serviceId) ?? '' },
    type,
    change,
  }))
}

async function namesOf(
  tx: ReadTransaction,
  kind: SimulatedKind,
  resolved: ResolvedChanges,
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const { items } = await tx.collection(resourceNamed(kind)).find({ where: ids(wanted) })
  const stored = new Map(items.map(({ id, name }) => [id, String(name)]))
  return new Map([...wanted].map((id) => [id, resolved.nameOf(kind, id) ?? stored.get(id) ?? '']))
}
