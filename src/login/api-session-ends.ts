import { hasRights } from '../../domain/authority.ts'
import { equals, type Filter, isIn } from '../../domain/filter/index.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import { cas } from '../../resources/enrollment/cas.ts'
import { identities } from '../../resources/identities/identities.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import { authPolicies } from '../../resources/login/auth-policies.ts'
import { authenticators } from '../../resources/login/authenticators.ts'
import { externalJwtSigners } from '../../resources/login/external-jwt-signers.ts'
import { isSame } from '../authority/trust.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo, type RecordedChange } from '../context/recorded-changes.ts'
import { RETRY_MS } from '../context/timetable.ts'
import { apiSessionStanding } from '../credentials/api-session-standing.ts'
import { ifReadable } from '../records/damaged-records.ts'
import type { SessionEnds } from './api-session-ends.ts'

/** API sessions that are judged in one snapshot; others have the event loop in between. */
const JUDGED_AT_ONCE = 200
/** Identities of an auth policy whose sessions are asked for at once. */
const IDENTITIES_AT_ONCE = 500

/** The ids of what a write changed that API sessions stand on. */
interface Withdrawn {
  readonly authPolicies: readonly string[]
  readonly identities: readonly string[]
  readonly authenticators: readonly string[]
  readonly trustAnchors: readonly string[]
}

/**
 * Ends the API sessions whose credentials would not let in any more since a committed write, in further writes and before
 * the writer is answered. Between the writes, and after a crash there, such a session is refused wherever it is used.
 */
export async function endWithdrawn(
  context: EngineContext,
  ends: SessionEnds,
  changes: readonly RecordedChange[],
): Promise<void> {
  const withdrawn = withdrawnBy(changes)
  if (Object.values(withdrawn).every(({ length }) => length === 0)) return
  try {
    for await (const ids of sessionsOn(context, withdrawn)) await endOver(context, ends, ids)
  } catch (error) {
    context.timetable.notLater('withdrawn', 'every API session', context.clock.now() + RETRY_MS)
    throw error
  }
}

/** Judges every API session, because a withdrawal could not be enforced. */
export async function endAllWithdrawn(context: EngineContext, ends: SessionEnds): Promise<void> {
  await endOver(context, ends, await context.storage.read((tx) => tx.collection(apiSessions).findIds()))
}

/** Only a record that was changed or deleted takes a way in away; a new one gives one. */
function withdrawnBy(changes: readonly RecordedChange[]): Withdrawn {
  const policies = changesTo(changes, authPolicies).filter(
    ({ before, after }) => before !== undefined && after !== undefined && !isSame(before, after, ['primary']),
  )
  const named = changesTo(changes, identities).filter(({ before, after }) => {
    if (before === undefined || after === undefined) return false
    return !isSame(before, after, ['authPolicyId', 'externalId']) || (hasRights(after) && !hasRights(before))
  })
  const replaced = changesTo(changes, authenticators).filter(
    ({ before, after }) =>
      before !== undefined && after !== undefined && !isSame(before, after, ['fingerprint', 'identityId']),
  )
  const anchors = [...changesTo(changes, cas), ...changesTo(changes, externalJwtSigners)].filter(
    ({ operation }) => operation !== 'insert',
  )
  const idsOf = (list: readonly { readonly id: string }[]) => [...new Set(list.map(({ id }) => id))]
  return {
    authPolicies: idsOf(policies),
    identities: idsOf(named),
    authenticators: idsOf(replaced),
    trustAnchors: idsOf(anchors),
  }
}

async function* sessionsOn({ storage }: EngineContext, withdrawn: Withdrawn): AsyncGenerator<readonly string[]> {
  const sessionsWhere = (where: Filter) => storage.read((tx) => tx.collection(apiSessions).findIds({ where }))
  const { identities: named, authenticators: replaced, trustAnchors } = withdrawn
  if (named.length > 0) yield await sessionsWhere(isIn('identityId', named))
  if (replaced.length > 0) yield await sessionsWhere(isIn('authenticatorId', replaced))
  if (trustAnchors.length > 0) yield await sessionsWhere(isIn('trustAnchorId', trustAnchors))
  for (const policyId of withdrawn.authPolicies) {
    const where = equals('authPolicyId', policyId)
    const holders = await storage.read((tx) => tx.collection(identities).findIds({ where }))
    for (let first = 0; first < holders.length; first += IDENTITIES_AT_ONCE) {
      yield await sessionsWhere(isIn('identityId', holders.slice(first, first + IDENTITIES_AT_ONCE)))
    }
  }
}

/** Ends those of the API sessions that are over; the others cost a read. */
async function endOver(context: EngineContext, ends: SessionEnds, ids: readonly string[]): Promise<void> {
  const turn = context.turns.begin()
  for (let first = 0; first < ids.length; first += JUDGED_AT_ONCE) {
    const part = ids.slice(first, first + JUDGED_AT_ONCE)
    const over = await context.storage.read((tx) => overAmong(context, tx, part))
    if (over.length > 0) await ends.endOver(over, undefined)
    await turn()
  }
}

async function overAmong(
  context: EngineContext,
  tx: ReadTransaction,
  ids: readonly string[],
): Promise<readonly string[]> {
  const now = context.clock.now()
  const over: string[] = []
  for (const id of ids) {
    const stored = await ifReadable(() => tx.collection(apiSessions).get(id))
    const standing = stored && (await ifReadable(() => apiSessionStanding(context, tx, stored, now)))
    if (standing?.is === 'over') over.push(id)
  }
  return over
}
