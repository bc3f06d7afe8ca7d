import { isSame } from '../authority/trust.ts'
import { BoundedMap } from '../base/collections.ts'
import { type Call, SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo, type RecordedChange } from '../context/recorded-changes.ts'
import { apiSessionValidity } from '../credentials/api-session-validity.ts'
import { sessions } from '../facts/access/session.resource.ts'
import { hasRights } from '../facts/authority/authority.rules.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { dueAtOf } from '../facts/credentials/login-basis.rules.ts'
import { claimFields, hasClaimsOf } from '../facts/credentials/signers/claimed-attributes.rules.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { both, equals, type Filter, isIn } from '../kernel/filter/index.ts'
import { type ReadTransaction, StorageUnavailable, type WriteTransaction } from '../ports/record-storage.ts'
import { deleteBatch, endReasonsOf } from '../records/deletion.ts'
import { dueRecords } from '../records/due-records.ts'
import { ifReadable } from '../records/read-records.ts'
import { MORE, type WriteBatch, writeInBatches } from '../records/write-batches.ts'

/** Ends API sessions: by a call, by time, or with their credentials. Their service sessions end with them. */
export class SessionEnds {
  readonly #context: EngineContext
  readonly #activity: SessionActivity

  constructor(context: EngineContext, activity: SessionActivity) {
    this.#context = context
    this.#activity = activity
  }

  /** Ends an API session with its service sessions. */
  async end(call: Call, id: string): Promise<void> {
    await writeInBatches(
      this.#context,
      call,
      (tx, batch) => deleteBatch(tx, apiSessions, id, batch),
      endReasonsOf(apiSessions),
    )
  }

  /** Ends every API session that is over by time, whichever process began it. Answers when (epoch ms) the next one is due. */
  async endOverdue(): Promise<number | undefined> {
    const { clock, storage } = this.#context
    for (;;) {
      const { ids, next } = await storage.read((tx) => dueRecords(tx, apiSessions, 'dueAt', clock.now()))
      if (ids.length === 0) return next
      await this.endOver(ids, 'timeout')
    }
  }

  /** Ends the API sessions that are over, with their service sessions, and notes when to look at the others again. */
  async endOver(ids: readonly string[], reason: 'timeout' | undefined): Promise<void> {
    const { clock, settings } = this.#context
    const work = async (tx: WriteTransaction, batch: WriteBatch) => {
      const now = clock.now()
      for (const id of ids) {
        const stored = await tx.collection(apiSessions).get(id)
        if (stored === undefined) continue
        const known = { ...stored, lastActivityAt: this.#activity.lastActivityAt(stored) }
        if (batch.isOver()) return MORE
        const validity = await ifReadable(() => apiSessionValidity(this.#context, tx, known, now))
        if (validity?.is === 'over') {
          if ((await deleteBatch(tx, apiSessions, id, batch)) === MORE) return MORE
        } else if (stored.dueAt <= now) {
          // A session from the future of a clock that went back may be due at no later instant than now.
          const dueAt = Math.max(dueAtOf(known, settings, now), now + 1)
          await tx.collection(apiSessions).update({ ...known, dueAt })
          batch.count()
        }
      }
      return undefined
    }
    const reasons = { ...endReasonsOf(apiSessions), ...(reason !== undefined && { apiSessions: reason }) }
    await writeInBatches(this.#context, SYSTEM_CALL, work, reasons)
  }

  /** The holder of an ended session is refused whether or not the storage records the end. */
  async endForGood(id: string): Promise<void> {
    try {
      await this.endOver([id], 'timeout')
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error
    }
  }
}

/** Milliseconds after which every API session is judged, where those on withdrawn credentials could not be ended. */
const JUDGED_AGAIN_MS = 1000
/** API sessions that are judged in one snapshot; other work has the event loop in between. */
const JUDGED_AT_ONCE = 200
/** Identities of an auth policy whose sessions are asked for at once. */
const IDENTITIES_AT_ONCE = 500

/** The ids of the changed entities that API sessions depend on. */
interface Withdrawn {
  readonly authPolicies: readonly string[]
  readonly identities: readonly string[]
  readonly authenticators: readonly string[]
  readonly trustAnchors: readonly string[]
}

/**
 * Ends the API sessions whose credentials are not accepted any more since a committed write, in further writes and before the writer is
 * answered. Between the writes, and after a crash there, such a session is refused wherever it is used.
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
    context.timetable.notLater('withdrawn', 'every API session', context.clock.now() + JUDGED_AGAIN_MS)
    throw error
  }
}

/** Judges every API session, because a withdrawal could not be enforced. */
export async function endAllWithdrawn(context: EngineContext, ends: SessionEnds): Promise<void> {
  await endOver(context, ends, await context.storage.read((tx) => tx.collection(apiSessions).findIds()))
}

/**
 * Takes the role attributes of claims from identities whose last API session by the signer ended, within the write that ended it. There are
 * few API sessions of an identity.
 */
export async function endClaims(
  { clock }: EngineContext,
  tx: WriteTransaction,
  changes: readonly RecordedChange[],
): Promise<void> {
  for (const { operation, before } of changesTo(changes, apiSessions)) {
    if (operation !== 'delete' || !before?.trustAnchorId) continue
    const { identityId, trustAnchorId } = before
    const identity = await ifReadable(() => tx.collection(identities).get(identityId))
    if (identity === undefined || !hasClaimsOf(identity, trustAnchorId)) continue
    const where = both(equals('identityId', identityId), equals('trustAnchorId', trustAnchorId))
    if ((await tx.collection(apiSessions).findIds({ ...(where && { where }), limit: 1 })).length > 0) continue
    const ended = { ...claimFields(identity, trustAnchorId, []), updatedAt: clock.now() }
    await tx.collection(identities).update({ ...identity, ...ended })
  }
}

/** Only a changed or deleted record withdraws credentials; a new record adds some. */
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

/** Ends the API sessions that are over; the others cost a read. */
async function endOver(context: EngineContext, ends: SessionEnds, ids: readonly string[]): Promise<void> {
  const turn = context.turns.begin()
  for (let first = 0; first < ids.length; first += JUDGED_AT_ONCE) {
    const batch = ids.slice(first, first + JUDGED_AT_ONCE)
    const over = await context.storage.read((tx) => overAmong(context, tx, batch))
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
    const validity = stored && (await ifReadable(() => apiSessionValidity(context, tx, stored, now)))
    if (validity?.is === 'over') over.push(id)
  }
  return over
}

/** The use of an API session is stored at most this often (ms); in between this process alone knows of it. */
const WRITE_INTERVAL_MS = 60_000
/** At least this many writes fit into the timeout of an unused session: other processes end it by the stored use. */
const WRITES_PER_TIMEOUT = 10
/** How many sessions are remembered at most; for a forgotten one the stored use counts. */
const MAX_REMEMBERED = 100_000

/** When API sessions were last used: exact within this process, and at most a minute late for others. */
export class SessionActivity {
  readonly #context: EngineContext
  readonly #latest = new BoundedMap<string, { at: number; written: number }>(MAX_REMEMBERED)

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** The last use (epoch ms) of a stored API session. */
  lastActivityAt(stored: { readonly id: string; readonly lastActivityAt: number }): number {
    const known = this.#latest.get(stored.id)
    if (known === undefined) {
      this.#latest.set(stored.id, { at: stored.lastActivityAt, written: stored.lastActivityAt })
      return stored.lastActivityAt
    }
    known.written = stored.lastActivityAt
    return Math.max(stored.lastActivityAt, known.at)
  }

  /** Records a use of the API session at `now` (epoch ms). */
  async touch(id: string, now: number): Promise<void> {
    const known = this.#latest.get(id) ?? { at: now, written: now }
    this.#latest.set(id, known)
    known.at = Math.max(known.at, now)
    const { settings, writes } = this.#context
    const interval = Math.min(WRITE_INTERVAL_MS, settings.apiSessionTimeoutMs / WRITES_PER_TIMEOUT)
    if (now - known.written < interval) return
    known.written = now
    await writes.run(SYSTEM_CALL, async (tx) => {
      const stored = await tx.collection(apiSessions).get(id)
      if (stored === undefined) return
      const used = { ...stored, lastActivityAt: now }
      await tx.collection(apiSessions).update({ ...used, dueAt: dueAtOf(used, settings, now) })
    })
  }

  forget(id: string): void {
    this.#latest.delete(id)
  }
}

/** Reports whether a session was used, or is due at another instant, and nothing else about it changed. */
export function isSessionUse({
  operation,
  kind,
  before,
  after,
}: Pick<RecordedChange, 'operation' | 'kind' | 'before' | 'after'>): boolean {
  if (kind !== apiSessions.name && kind !== sessions.name) return false
  if (operation !== 'update' || before === undefined || after === undefined) return false
  const fields = Object.keys(after).filter((field) => Reflect.get(before, field) !== Reflect.get(after, field))
  return fields.every((field) => field === 'lastActivityAt' || field === 'dueAt')
}
