import type { RecordOf } from '../../kernel/declaration/resource.ts'
import { NEVER } from '../../kernel/records/due-records.ts'
import type { SessionEnd } from '../../ports/events.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import { type DecisionPorts, decide } from '../decision.ts'
import type { sessions } from './session.resource.ts'

type Session = RecordOf<typeof sessions>

/** The outcome for sessions now. */
export interface Judgement {
  /** Sessions that no passing service policy carries any more, with the reason. */
  readonly ending: ReadonlyMap<string, { readonly session: Session; readonly reason: SessionEnd }>
  /** Sessions that go on, carried by other service policies than before, or due at another instant. */
  readonly changed: readonly Session[]
}

/** Judges sessions by the policies and the posture of now (epoch ms). Four reads at most, whatever their number. */
export async function judgeSessions(
  context: DecisionPorts,
  tx: ReadTransaction,
  affected: readonly Session[],
  now: number,
): Promise<Judgement> {
  const decisions = await decide(context, tx, affected, now)
  const ending = new Map<string, { session: Session; reason: SessionEnd }>()
  const changed: Session[] = []
  for (const [position, session] of affected.entries()) {
    const { verdict, reason, policies = [], until: dueAt = NEVER } = decisions[position] ?? {}
    if (verdict !== 'allowed') {
      ending.set(session.id, { session, reason: reason === 'posture-failing' ? 'posture-failed' : 'access-lost' })
      continue
    }
    // A later instant is written once the one before has come: most reports of posture only put it off.
    const isDueAnew = dueAt < session.dueAt || session.dueAt <= now
    const isSame = !isDueAnew && isSameList(policies, session.servicePolicies)
    if (!isSame) changed.push({ ...session, servicePolicies: policies, ...(isDueAnew && { dueAt }) })
  }
  return { ending, changed }
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((value, position) => value === right[position])
}
