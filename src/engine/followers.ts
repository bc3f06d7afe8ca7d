import { enforceAccess } from '../access/service-sessions/enforcement.ts'
import { containRights } from '../authority/containment.ts'
import { noteFormerInviters } from '../authority/invitation-secrets.ts'
import { keepAnAdministrator } from '../authority/last-administrator.ts'
import type { EngineContext } from '../context/context.ts'
import type { RecordedChange } from '../context/recorded-changes.ts'
import { requireValidSession } from '../credentials/api-session-validity.ts'
import { isIndexed } from '../facts/access/indexed-records.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions as apiSessionRecords } from '../facts/login/api-session.resource.ts'
import { revocations as revocationRecords } from '../facts/login/revocation.resource.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../facts/routers/transit-router.resource.ts'
import { endClaims } from '../login/api-session-ends.ts'
import { noteSightings } from '../login/api-session-start.ts'
import type { ApiSessions } from '../login/api-sessions.ts'
import type { Revocations } from '../login/revocations.ts'
import { lookForEnds, noteDueRecords } from './due-work.ts'
import { tellWrites } from './write-events.ts'

/** The guards that judge every write before it is committed. */
export function guardWrites(context: EngineContext): void {
  const { writes, clock } = context
  writes.admit((tx, call) => requireValidSession(context, tx, call, clock.now()))
  writes.guard((tx, write) => containRights(context, tx, write))
  writes.guard((tx, write) => keepAnAdministrator(context, tx, write))
}

/** The changes that writes bring along, in the same commit and before the guards judge it. */
export function amendWrites(context: EngineContext, revocations: Revocations): void {
  const { writes } = context
  writes.amend((tx, changes) => endClaims(context, tx, changes), [apiSessionRecords])
  writes.amend((tx, changes) => revocations.revokeEnded(tx, changes), [apiSessionRecords])
  writes.amend((tx, changes) => noteSightings(context, tx, changes), [apiSessionRecords])
  writes.amend((tx, changes) => noteFormerInviters(context, tx, changes), [identities])
}

/**
 * The consequences of every committed write, in this order. Withdrawals come first: routers that lost the right to be connected are
 * disconnected, and API sessions on withdrawn credentials and sessions without a carrying policy end. The host gets its events last.
 */
export function followWrites(context: EngineContext, apiSessions: ApiSessions, revocations: Revocations): void {
  const { presence, writes } = context
  writes.follow(({ changes }) => presence.follow(changes), [edgeRouters, transitRouters])
  writes.follow((write) => revocations.follow(write), [revocationRecords])
  noteDueRecords(context)
  writes.follow((write) => apiSessions.follow(write))
  writes.follow(({ changes }) => enforceAccess(context, changes))
  if (context.settings.profile.tellsPassingAccess) writes.follow(({ changes }) => seeEachChange(context, changes))
  writes.doubt(() => followDoubted(context))
  writes.tell(({ changes }) => seeInstants(context, changes))
  tellWrites(context)
}

/** Milliseconds after a commit without an answer until its consequences are looked for: the storage may be away as long. */
const DOUBTED_MS = 1000

/** Has the timetable do what follows from any write: a commit without an answer may have made its changes, and no follower saw them. */
function followDoubted(context: EngineContext): void {
  const { timetable, clock } = context
  timetable.notLater('access', 'every session', clock.now() + DOUBTED_MS)
  timetable.notLater('withdrawn', 'every API session', clock.now() + DOUBTED_MS)
  lookForEnds(context)
}

/** Compares this clock with the instants of records before their change, which any process may have written. */
function seeInstants({ otherClocks }: EngineContext, changes: readonly RecordedChange[]): void {
  for (const { before } of changes) {
    const writtenAt: unknown = before === undefined ? undefined : Reflect.get(before, 'updatedAt')
    if (typeof writtenAt === 'number') otherClocks.seen(writtenAt)
  }
}

/**
 * Brings the access index level with every single write: otherwise access that one write gives and the next one takes would go unnoticed.
 */
async function seeEachChange({ storage, access }: EngineContext, changes: readonly RecordedChange[]): Promise<void> {
  if (changes.some(({ kind }) => isIndexed(kind))) await storage.read((tx) => access.at(tx))
}
