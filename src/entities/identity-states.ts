import type { DataPlanePresence, EngineContext } from '../context/context.ts'
import { isDisabled } from '../facts/authority/authority.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { equals, type Filter } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import type { IdentityConnectionStatus, RouterPresence } from '../ports/router-presence.ts'

/** Whether an identity is connected to an edge router. A router's own identity is connected while the router is. */
export function connectionStatus(
  presence: Pick<DataPlanePresence, 'statusOf'>,
  routers: RouterPresence,
  { id, typeId }: { readonly id: string; readonly typeId?: unknown },
): IdentityConnectionStatus {
  const isOwnRouter = typeId === 'Router' && routers.connectionOf(id) !== undefined
  return isOwnRouter ? 'online' : presence.statusOf(id)
}

/** The identities in a state now, found without reading the others. */
export async function identitiesInState(
  { clock, presence }: EngineContext,
  tx: ReadTransaction,
  state: 'online' | 'disabled',
): Promise<ReadonlySet<string>> {
  if (state === 'disabled') return disabledIdentities(tx, clock.now())
  const routers = await presence.at(tx)
  const own = await tx.collection(edgeRouters).findIds()
  return new Set([...presence.onlineIdentities(), ...own.filter((id) => routers.connectionOf(id) !== undefined)])
}

async function disabledIdentities(tx: ReadTransaction, now: number): Promise<ReadonlySet<string>> {
  const where: Filter = { kind: 'or', left: isSet('disabledAt'), right: isSet('directoryDisabledAt') }
  const { items } = await tx.collection(identities).find({ where })
  return new Set(items.filter((identity) => isDisabled(identity, now)).map(({ id }) => id))
}

function isSet(field: string): Filter {
  return { kind: 'not', of: equals(field, null) }
}
