import { BoundedMap } from '../base/collections.ts'
import { type Call, type Caller, callerOf, SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { whatIsLeft } from '../context/recorded-changes.ts'
import { changesAfter, placeOf } from '../context/store-level.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { traitsOf } from '../facts/resources/index.ts'
import { serviceViews } from '../facts/services/service.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { Change, HistoryPoint, ReadTransaction } from '../ports/record-storage.ts'
import { newRecord } from '../records/read-records.ts'
import { type ServiceView, viewServices } from './service-view.ts'

/** How many API sessions are remembered; the view of a forgotten one is taken anew. */
const MAX_REMEMBERED = 100_000

/** The outcome of the last look at a view, which holds until the store or the time moves on. */
interface Look {
  readonly place: HistoryPoint
  readonly until: number | undefined
  readonly lastChangeAt: number
}

/**
 * Tells API sessions when they have to read their service list again. The instant moves when, and only when, the list with all configs
 * would look different to that API session than at its last look; under the profile of deployed controllers, also for access that came
 * and went since. The first look is taken with the first question of a session, so that a login costs the same however many services
 * there are. The session then learns that something may have changed, whether it shows or not.
 */
export class ServiceUpdates {
  readonly #context: EngineContext
  readonly #looks = new BoundedMap<string, Look>(MAX_REMEMBERED)

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** When (epoch ms) the caller's view of its services last changed. */
  async lastChangeAt(call: Call): Promise<number> {
    const caller = callerOf(call)
    const now = this.#context.clock.now()
    const known = this.#looks.get(caller.apiSession.id)
    const lookAgain = async (tx: ReadTransaction): Promise<Look | ServiceView> => {
      const isCurrent = known !== undefined && (known.until === undefined || now < known.until)
      if (isCurrent && !(await mayHaveChanged(tx, known.place, caller))) return { ...known, place: placeOf(tx) }
      return viewServices(this.#context, tx, caller)
    }
    const look = await this.#context.storage.read(lookAgain, { mayBeginAgain: true })
    const lastChangeAt = 'lastChangeAt' in look ? look.lastChangeAt : await keepServiceView(this.#context, caller, look)
    this.#looks.set(caller.apiSession.id, { place: look.place, until: look.until, lastChangeAt })
    return lastChangeAt
  }
}

/** Compares a view with the kept one, keeps it, and answers when it last changed. */
async function keepServiceView(context: EngineContext, caller: Caller, view: ServiceView): Promise<number> {
  const { id, createdAt } = caller.apiSession
  const isSame = async (tx: ReadTransaction, before: RecordOf<typeof serviceViews>) =>
    before.digest === view.digest && !(await cameAndWent(context, tx, caller, before.revision))
  const known = await context.storage.read(async (tx) => {
    const kept = await whatIsLeft(() => tx.collection(serviceViews).get(id))
    return kept !== undefined && (await isSame(tx, kept)) ? kept.lastChangeAt : undefined
  })
  if (known !== undefined) return known
  const { digest } = view
  const { revision } = view.place
  const now = context.clock.now()
  return context.writes.run(SYSTEM_CALL, async (tx) => {
    const collection = tx.collection(serviceViews)
    const before = await whatIsLeft(() => collection.get(id))
    if (before === undefined) {
      // A session that ended while its services were looked at leaves no view behind.
      if ((await tx.collection(apiSessions).get(id)) === undefined) return createdAt
      const lastChangeAt = (await hasMovedSinceStart(tx, caller)) ? Math.max(now, createdAt + 1) : createdAt
      await collection.insert(newRecord(id, now, { apiSessionId: id, digest, revision, lastChangeAt }))
      return lastChangeAt
    }
    if (before.revision > revision || (await isSame(tx, before))) return before.lastChangeAt
    // Clients compare for inequality, at a resolution of milliseconds.
    const lastChangeAt = Math.max(now, before.lastChangeAt + 1)
    await collection.update({ ...before, digest, revision, lastChangeAt, updatedAt: now })
    return lastChangeAt
  })
}

/** Under the profile of deployed controllers: whether access, or the reports of the endpoint, changed, even if they are as before again. */
async function cameAndWent(
  { access, settings }: EngineContext,
  tx: ReadTransaction,
  { identity, apiSession }: Caller,
  since: number,
): Promise<boolean> {
  if (!settings.profile.tellsPassingAccess) return false
  if (access.hasMoved(since, identity.id)) return true
  const isReport = ({ kind, id }: Change) =>
    (kind === 'posture-data' && id === identity.id) || (kind === 'endpoint-states' && id === apiSession.id)
  return (await tx.changesSince(since))?.some(isReport) ?? false
}

/** Whether a service may look different than when the session began, for a session that never listed services. */
async function hasMovedSinceStart(tx: ReadTransaction, caller: Caller): Promise<boolean> {
  const { startRevision } = caller.apiSession
  return startRevision === null || (await mayHaveChanged(tx, { revision: startRevision }, caller))
}

async function mayHaveChanged(
  tx: ReadTransaction,
  since: HistoryPoint,
  { identity, apiSession }: Caller,
): Promise<boolean> {
  const concerns = ({ kind, id }: Change) => {
    const { lists } = traitsOf(kind)
    return lists === 'everybody' || (lists === 'owner' && (id === identity.id || id === apiSession.id))
  }
  return (await changesAfter(tx, since))?.some(concerns) ?? true
}
