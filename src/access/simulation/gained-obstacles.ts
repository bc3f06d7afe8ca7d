import type { EngineContext } from '../../context/context.ts'
import { decideAccess, type Reason } from '../../facts/access/decision.rules.ts'
import { isDisabled } from '../../facts/authority/authority.rules.ts'
import { identities } from '../../facts/identities/identity.resource.ts'
import { terminators } from '../../facts/services/terminator.resource.ts'
import { equals, ids } from '../../kernel/filter/index.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import { factsFor } from '../decision.ts'
import { newestApiSession } from '../explain.ts'
import { changedIndex } from './access-mirror.ts'
import type { PairKey } from './audience-changes.ts'
import type { ResolvedChanges } from './resolve-changes.ts'

/**
 * Finds what would stand in the way of gained pairs after the changes: the reason of the decision, with posture, edge routers and
 * terminators as they are now. Null where a connection would work, and for a lost pair.
 */
export async function gainedObstacles(
  context: EngineContext,
  tx: ReadTransaction,
  resolved: ResolvedChanges,
  keys: readonly PairKey[],
): Promise<readonly (Reason | null)[]> {
  const gained = keys.filter(({ change }) => change === 'gained')
  if (gained.length === 0) return keys.map(() => null)
  const now = context.clock.now()
  const dialers = new Set(gained.map(({ identityId }) => identityId))
  const index = await changedIndex(context, tx, [...dialers], resolved.indexChanges, true)
  const records = (await tx.collection(identities).find({ where: ids(dialers) })).items
  const disabled = new Set(records.filter((one) => isDisabled(one, now)).map(({ id }) => id))
  const sessions = new Map<string, string | undefined>()
  for (const id of dialers) sessions.set(id, await newestApiSession(tx, id))
  const hosted = new Map<string, number>()
  for (const serviceId of new Set(gained.map((key) => key.serviceId))) {
    const { totalCount } = await tx.collection(terminators).find({ where: equals('serviceId', serviceId), limit: 1 })
    hosted.set(serviceId, totalCount)
  }
  const pairs = gained.map((key) => ({ ...key, apiSessionId: sessions.get(key.identityId) }))
  const facts = await factsFor(context, tx, pairs, { index, routers: true, everyPolicy: false })
  const presence = await context.presence.at(tx)
  const obstacles = new Map<PairKey, Reason | null>()
  for (const [place, key] of gained.entries()) {
    const loaded = facts[place]
    if (loaded === undefined) continue
    const { identity, routers } = loaded
    const online = routers?.common.filter((id) => presence.connectionOf(id) !== undefined)
    const { reason } = decideAccess(
      key.type,
      {
        ...loaded,
        identity: identity && { isDisabled: disabled.has(key.identityId) },
        routers: routers && { ...routers, ...(online && { online }) },
        terminators: hosted.get(key.serviceId),
      },
      now,
    )
    // No party at an edge router is involved.
    obstacles.set(key, reason === 'granted' ? null : (reason as Reason))
  }
  return keys.map((key) => obstacles.get(key) ?? null)
}
