import type { AccessIndex, Grant } from '../../../domain/access-index/index.ts'
import type { SessionEnd } from '../../../ports/events.ts'
import type { ReadTransaction } from '../../../ports/storage.ts'
import type { sessions } from '../../../resources/access/sessions.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import type { EngineContext } from '../../context/context.ts'
import { checkedGrants, grantsOf } from '../../posture/posture-facts.ts'
import { posturesOf } from '../../posture/posture-of.ts'
import { NEVER } from '../../records/due-records.ts'
import { carriedBy } from '../service-access.ts'

type Session = RecordOf<typeof sessions>

/** What becomes of sessions now. */
export interface Judgement {
  /** Sessions that no passing service policy carries any more, with the reason. */
  readonly ending: ReadonlyMap<string, { readonly session: Session; readonly reason: SessionEnd }>
  /** Sessions that go on, carried by other service policies than before, or due at another instant. */
  readonly changed: readonly Session[]
}

/** Judges sessions by the policies and the posture of now (epoch ms). Five reads, whatever their number. */
export async function judgeSessions(
  context: EngineContext,
  tx: ReadTransaction,
  suspects: readonly Session[],
  now: number,
): Promise<Judgement> {
  const index = await context.access.at(tx)
  const granting = grantsByPair(context, index, suspects)
  const checked = await checkedGrants(tx, [...granting.values()].flat())
  const postureOf = await posturesOf(tx, suspects)
  const ending = new Map<string, { session: Session; reason: SessionEnd }>()
  const changed: Session[] = []
  for (const session of suspects) {
    const grants = (granting.get(pairOf(session)) ?? []).flatMap((grant) => checked.get(grant) ?? [])
    const carried = carriedBy(context, grants, postureOf(session), session.apiSessionId, now)
    if (carried === undefined) {
      ending.set(session.id, { session, reason: grants.length === 0 ? 'access-lost' : 'posture-failed' })
      continue
    }
    const { policyIds, until: dueAt = NEVER } = carried
    // A later instant is written once the one before has come: most reports of posture only put it off.
    const isDueAnew = dueAt < session.dueAt || session.dueAt <= now
    const isSame = !isDueAnew && isSameList(policyIds, session.servicePolicies)
    if (!isSame) changed.push({ ...session, servicePolicies: policyIds, ...(isDueAnew && { dueAt }) })
  }
  return { ending, changed }
}

/** The grants that the sessions use; sessions of one identity for one service share the answer. */
function grantsByPair(
  context: EngineContext,
  index: AccessIndex,
  suspects: readonly Session[],
): ReadonlyMap<string, readonly Grant[]> {
  const granting = new Map<string, readonly Grant[]>()
  for (const session of suspects) {
    const pair = pairOf(session)
    if (granting.has(pair)) continue
    const [grants = []] = grantsOf(context, index, session.identityId, [session.serviceId])
    granting.set(
      pair,
      grants.filter(({ type }) => type === session.type),
    )
  }
  return granting
}

function pairOf({ identityId, serviceId, type }: Session): string {
  return JSON.stringify([identityId, serviceId, type])
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((value, position) => value === right[position])
}
