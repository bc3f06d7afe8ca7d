import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { servicePolicies } from '../facts/access/policy.resource.ts'
import { nextPhaseAt, type PolicyPhase, phaseAt } from '../facts/access/policy-term.rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { both, equals, type Filter } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'

/** Policies whose phase one write changes at most: other writers wait for it. */
const IN_ONE_WRITE = 100
/** The instants by which a policy leaves a phase. */
const ENDS = [
  { phase: 'coming', field: 'startsAt' },
  { phase: 'coming', field: 'until' },
  { phase: 'in-force', field: 'until' },
] as const satisfies readonly { readonly phase: PolicyPhase; readonly field: 'startsAt' | 'until' }[]

/**
 * Begins and ends the service policies whose instant has come, whichever process made them. Each is an ordinary write: sessions and
 * circuits without access end with it, lists change, routers and the audit trail get it. The timetable looks again at the next instant.
 */
export async function followTerms(context: EngineContext): Promise<void> {
  const { clock, storage, timetable, writes } = context
  for (;;) {
    const first = await storage.read(firstInPhases)
    const due = first.filter((policy) => phaseAt(policy, clock.now()) !== policy.phase)
    if (due.length === 0) {
      for (const at of first.flatMap((policy) => nextPhaseAt(policy) ?? []))
        timetable.notLater('policy-term', 'next', at)
      return
    }
    await writes.run(SYSTEM_CALL, async (tx) => {
      const now = clock.now()
      for (const { id } of due) {
        // Another process or a caller may have changed it meanwhile.
        const policy = await tx.collection(servicePolicies).get(id)
        if (policy === undefined) continue
        const phase = phaseAt(policy, now)
        if (phase !== policy.phase) await tx.collection(servicePolicies).update({ ...policy, phase, updatedAt: now })
      }
    })
  }
}

/** The policies of each phase that leave it first. */
async function firstInPhases(tx: ReadTransaction): Promise<readonly RecordOf<typeof servicePolicies>[]> {
  const found = new Map<string, RecordOf<typeof servicePolicies>>()
  for (const { phase, field } of ENDS) {
    const isSet: Filter = { kind: 'not', of: equals(field, null) }
    const where = both(equals('phase', phase), isSet)
    const orderBy = [{ field, kind: 'instant', direction: 'asc' }] as const
    const { items } = await tx
      .collection(servicePolicies)
      .find({ ...(where && { where }), orderBy, limit: IN_ONE_WRITE })
    for (const policy of items) found.set(policy.id, policy)
  }
  return [...found.values()]
}
