import { isSameList } from '../../base/collections.ts'
import { SYSTEM_CALL } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { RETRY_MS } from '../../context/occasions.ts'
import { changesTo, type RecordedChange } from '../../context/recorded-changes.ts'
import { servicePolicies } from '../../facts/access/policy.resource.ts'
import { postureChecks } from '../../facts/access/posture/posture-check.resource.ts'
import { endpointStates, postureData } from '../../facts/access/posture/posture-data.resource.ts'
import { sessions } from '../../facts/access/session.resource.ts'
import { attributesHeld } from '../../facts/authority/authority.rules.ts'
import { identities } from '../../facts/identities/identity.resource.ts'
import { apiSessions } from '../../facts/login/api-session.resource.ts'
import type { SessionEnd } from '../../facts/network/events.ts'
import { services } from '../../facts/services/service.resource.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import { ids } from '../../kernel/filter/index.ts'
import type { ReadTransaction, WriteTransaction } from '../../ports/record-storage.ts'
import { deleteBatch } from '../../records/deletion.ts'
import { dueRecords, NEVER } from '../../records/due-records.ts'
import { MORE, newBatch } from '../../records/write-batches.ts'
import { decide } from '../decision.ts'

type Ending = { readonly session: RecordOf<typeof sessions>; readonly reason: SessionEnd }
type Outcome = Omit<Judgement, 'changed'>
type FindIds = (tx: ReadTransaction) => Promise<readonly string[]>

/** How many sessions are judged in one write at most. */
const SESSIONS = 50
/** How many are read and judged at a time before that. */
const READ_AT_ONCE = 500

/**
 * Ends the sessions from which a committed write took access, in as many further writes as that takes, before the writer is answered.
 *
 * Between the writes, and after a crash there, such a session is still listed, but it opens nothing: a request for
 * a session is judged anew, and a restart judges every stored session before it answers its first request.
 */
export async function enforceAccess(context: EngineContext, changes: readonly RecordedChange[]): Promise<void> {
  const affected = changedEntitiesIn(changes)
  if (Object.values(affected).every(({ size }) => size === 0)) return
  try {
    await endAffected(context, affected)
  } catch (error) {
    // The change is committed and its writer gets the failure. Sessions that lost their access must end all the same.
    context.timetable.notLater('access', 'every session', context.clock.now() + RETRY_MS)
    throw error
  }
}

async function endAffected(context: EngineContext, affected: ChangedEntities): Promise<void> {
  const { ending } = await judgeAndEnd(context, (tx) => affectedIds(context, tx, affected))
  for (const { session, reason } of ending.values()) {
    // A loss by an identity's own role attributes is reported with that change.
    if (reason !== 'access-lost' || affected.identities.has(session.identityId)) continue
    const { identityId, serviceId, type } = session
    context.events.emit('access.changed', { identityId, serviceId, type, change: 'lost', at: context.clock.now() })
  }
}

/**
 * Judges the sessions that `find` finds, ends the sessions without a carrying policy, and notes when to look again. A
 * session that begins meanwhile is judged by the committed policies, so the sessions found first are all.
 */
async function judgeAndEnd(context: EngineContext, find: FindIds): Promise<Outcome> {
  const found = await context.storage.read(find)
  const ending: Map<string, Ending> = new Map()
  const turn = context.turns.begin()
  for (let first = 0; first < found.length; first += READ_AT_ONCE) {
    const outcome = await judgeSome(context, found.slice(first, first + READ_AT_ONCE))
    for (const [id, ended] of outcome.ending) ending.set(id, ended)
    await turn()
  }
  return { ending }
}

async function judgeSome(context: EngineContext, ids: readonly string[]): Promise<Outcome> {
  const judged = await context.storage.read(async (tx) =>
    judgeSessions(context, tx, await sessionsWith(tx, ids), context.clock.now()),
  )
  const unsettled = [...judged.ending.keys(), ...judged.changed.map(({ id }) => id)]
  const ending: Map<string, Ending> = new Map()
  for (let settled = 0; settled < unsettled.length; ) {
    const part = await settleInWrite(context, unsettled.slice(settled, settled + SESSIONS))
    settled += part.settled
    for (const [id, ended] of part.ending) ending.set(id, ended)
  }
  return { ending }
}

/** Judges every session whose posture deadline has come, whichever process began it. Answers when (epoch ms) the next one is due. */
export async function endOverdueSessions(context: EngineContext): Promise<number | undefined> {
  for (;;) {
    const { ids, next } = await context.storage.read((tx) => dueRecords(tx, sessions, 'dueAt', context.clock.now()))
    if (ids.length === 0) return next
    await judgeAndEnd(context, async () => ids)
  }
}

interface Settled extends Outcome {
  /** How many of the sessions this write settled, from the first one on. */
  readonly settled: number
}

/** Ends and changes sessions as far as one write should. */
async function settleInWrite(context: EngineContext, ids: readonly string[]): Promise<Settled> {
  const reasons = new Map<string, SessionEnd>()
  const work = async (tx: WriteTransaction): Promise<Settled> => {
    const part = newBatch(context.clock)
    const { ending, changed } = await judgeSessions(context, tx, await sessionsWith(tx, ids), context.clock.now())
    reasons.clear()
    const ended = new Map<string, Ending>()
    let settled = 0
    for (const id of ids) {
      if (part.isOver()) break
      const end = ending.get(id)
      const change = changed.find((session) => session.id === id)
      if (end !== undefined) {
        reasons.set(id, end.reason)
        if ((await deleteBatch(tx, sessions, id, part)) === MORE) break
        ended.set(id, end)
      } else if (change !== undefined) await tx.collection(sessions).update(change)
      part.count()
      settled += 1
    }
    return { ending: ended, settled }
  }
  return context.writes.run(SYSTEM_CALL, work, { sessions: reasons })
}

/**
 * Judges every stored session at the start, so that no session outlives the policy that carried it. Sessions that time
 * ended meanwhile end after the first requests are answered: each request judges the sessions that it uses.
 */
export async function resume(context: EngineContext): Promise<void> {
  const stored = await context.storage.read((tx) => tx.collection(sessions).findIds())
  await judgeAndEnd(context, async () => stored)
  context.timetable.notLater('overdue', 'next', context.clock.now())
}

/** The entities of a write whose change may have taken access from a session, by their ids. */
interface ChangedEntities {
  readonly apiSessions: ReadonlySet<string>
  readonly identities: ReadonlySet<string>
  readonly services: ReadonlySet<string>
  readonly servicePolicies: ReadonlySet<string>
  readonly postureChecks: ReadonlySet<string>
}

/**
 * Finds the changes of a write that may take access from a session. Only a new or stricter rule can: an entity that is created
 * is used by no session yet, a deleted one took its sessions with it, and without a deleted check its policies ask for less.
 */
function changedEntitiesIn(changes: readonly RecordedChange[]): ChangedEntities {
  const updated = changes.filter(({ operation }) => operation === 'update')
  const regrouped = updated.filter(({ before, after }) => rolesOf(before) !== rolesOf(after))
  const reported = changesTo(changes, postureData)
  const begun = idsOf(changesTo(changes, apiSessions).filter(({ operation }) => operation === 'insert'))
  const states = changesTo(changes, endpointStates).filter(({ id, after }) => after !== undefined && !begun.has(id))
  const checks = changesTo(changes, postureChecks).filter(({ operation }) => operation !== 'delete')
  const policies = changesTo(changes, servicePolicies).filter(({ operation }) => operation !== 'insert')
  return {
    apiSessions: idsOf(states),
    identities: idsOf([...changesTo(regrouped, identities), ...reported]),
    services: idsOf(changesTo(regrouped, services)),
    servicePolicies: idsOf(policies),
    postureChecks: idsOf(checks),
  }
}

/** The ids of the sessions that the affected concern, each once. A session knows the service policies that carry it. */
async function affectedIds(
  context: EngineContext,
  tx: ReadTransaction,
  affected: ChangedEntities,
): Promise<readonly string[]> {
  const policies = new Set(affected.servicePolicies)
  // The index notices gained access as it is brought level, whether or not there are sessions.
  const index = await context.access.at(tx)
  if (affected.postureChecks.size > 0) {
    for (const check of affected.postureChecks) {
      for (const id of index.policiesSelecting('service-policies', 'posture-checks', check)) policies.add(id)
    }
  }
  const found = new Set<string>()
  const questions = [
    { values: affected.apiSessions, operand: { kind: 'field', field: 'apiSessionId' } },
    { values: affected.identities, operand: { kind: 'field', field: 'identityId' } },
    { values: affected.services, operand: { kind: 'field', field: 'serviceId' } },
    { values: policies, operand: { kind: 'anyOf', field: 'servicePolicies' } },
  ] as const
  for (const { values, operand } of questions) {
    if (values.size === 0) continue
    for (const id of await tx.collection(sessions).findIds({ where: { kind: 'in', operand, values } })) found.add(id)
  }
  return [...found]
}

/** The sessions with some ids. */
async function sessionsWith(
  tx: ReadTransaction,
  list: readonly string[],
): Promise<readonly RecordOf<typeof sessions>[]> {
  return (await tx.collection(sessions).find({ where: ids(list) })).items
}

function rolesOf(record: object | undefined): string {
  return JSON.stringify(record && attributesHeld(record))
}

function idsOf(changes: readonly RecordedChange[]): ReadonlySet<string> {
  return new Set(changes.map(({ id }) => id))
}

type Session = RecordOf<typeof sessions>

/** The outcome for sessions now. */
interface Judgement {
  /** Sessions that no passing service policy carries any more, with the reason. */
  readonly ending: ReadonlyMap<string, { readonly session: Session; readonly reason: SessionEnd }>
  /** Sessions that go on, carried by other service policies than before, or due at another instant. */
  readonly changed: readonly Session[]
}

/** Judges sessions by the policies and the posture of now (epoch ms). Four reads at most, whatever their number. */
async function judgeSessions(
  context: EngineContext,
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
    // A later instant is written only once the earlier one has come: most reports of posture only put it off.
    const isDueAnew = dueAt < session.dueAt || session.dueAt <= now
    const isSame = !isDueAnew && isSameList(policies, session.servicePolicies)
    if (!isSame) changed.push({ ...session, servicePolicies: policies, ...(isDueAnew && { dueAt }) })
  }
  return { ending, changed }
}
