import type { AccessIndex } from '../../../domain/access-index/index.ts'
import { type CheckedPolicy, evaluatePolicies, nextPolicyDeadline } from '../../../domain/posture/index.ts'
import type { SessionEnd } from '../../../ports/events.ts'
import type { ReadTransaction } from '../../../ports/storage.ts'
import type { sessions } from '../../../resources/access/sessions.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import type { EngineContext } from '../../context/context.ts'
import { policyFacts } from '../../posture/posture-facts.ts'
import { posturesOf } from '../../posture/posture-of.ts'

type Session = RecordOf<typeof sessions>

/** What becomes of sessions now. */
export interface Judgement {
  /** Sessions that no passing service policy carries any more, with the reason. */
  readonly ending: ReadonlyMap<string, { readonly session: Session; readonly reason: SessionEnd }>
  /** Sessions that go on, carried by other service policies than before. */
  readonly changed: readonly Session[]
  /** The next instant (epoch ms) at which posture may end a session of an identity. */
  readonly deadlines: ReadonlyMap<string, number>
}

/** Judges sessions by the policies and the posture of now (epoch ms). Six reads, whatever their number. */
export async function judgeSessions(
  context: EngineContext,
  tx: ReadTransaction,
  suspects: readonly Session[],
  now: number,
): Promise<Judgement> {
  const index = await context.access.at(tx)
  const granting = grantingPolicies(index, suspects)
  const policies = await policyFacts(tx, index, [...new Set([...granting.values()].flat())])
  const postureOf = await posturesOf(tx, suspects)
  const ending = new Map<string, { session: Session; reason: SessionEnd }>()
  const changed: Session[] = []
  const deadlines = new Map<string, number>()
  for (const session of suspects) {
    const carrying: readonly CheckedPolicy[] = (granting.get(pairOf(session)) ?? []).flatMap(
      (id) => policies.get(id) ?? [],
    )
    const data = postureOf(session)
    const decision = evaluatePolicies(carrying, data, session.apiSessionId, now)
    if (!decision.granted) {
      ending.set(session.id, { session, reason: carrying.length === 0 ? 'access-lost' : 'posture-failed' })
      continue
    }
    if (!isSameList(decision.passing, session.servicePolicies)) {
      changed.push({ ...session, servicePolicies: decision.passing })
    }
    const deadline = nextPolicyDeadline(carrying, data, session.apiSessionId, now)
    if (deadline === undefined) continue
    deadlines.set(session.identityId, Math.min(deadline, deadlines.get(session.identityId) ?? deadline))
  }
  return { ending, changed, deadlines }
}

/** The service policies that grant what the sessions use; sessions of one identity for one service share the answer. */
function grantingPolicies(index: AccessIndex, suspects: readonly Session[]): ReadonlyMap<string, readonly string[]> {
  const granting = new Map<string, readonly string[]>()
  for (const session of suspects) {
    const pair = pairOf(session)
    if (granting.has(pair)) continue
    granting.set(pair, index.grantingPolicies(session.identityId, session.serviceId, session.type))
  }
  return granting
}

function pairOf({ identityId, serviceId, type }: Session): string {
  return JSON.stringify([identityId, serviceId, type])
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((value, position) => value === right[position])
}
