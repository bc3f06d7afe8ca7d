import { equals, ids, isIn } from '../../domain/filter/index.ts'
import { emptyPostureData, type PostureData, type SessionPosture } from '../../domain/posture/index.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { endpointStates, postureData, reportedProcesses } from '../../resources/posture/posture-records.ts'
import { ifReadable } from '../records/damaged-records.ts'
import type { CheckedGrant } from './posture-facts.ts'

type PostureRecord = RecordOf<typeof postureData>

/** What the endpoints of an identity reported, with what is known of one API session; empty when nothing is. */
export async function postureDataOf(
  tx: ReadTransaction,
  identityId: string,
  apiSessionId: string,
): Promise<PostureData> {
  const session = { identityId, apiSessionId }
  return (await posturesOf(tx, [session]))(session)
}

/** The same for what is granted: nothing is read where no posture check stands before it. */
export async function postureFor(
  grants: readonly Pick<CheckedGrant, 'checks'>[],
  tx: ReadTransaction,
  identityId: string,
  apiSessionId: string,
): Promise<PostureData> {
  const isAsked = grants.some(({ checks }) => checks.length > 0)
  return isAsked ? postureDataOf(tx, identityId, apiSessionId) : emptyPostureData()
}

/** The same with what is known of every API session of the identity. */
export async function wholePostureOf(tx: ReadTransaction, identityId: string): Promise<PostureData> {
  const { items } = await tx.collection(endpointStates).find({ where: equals('identityId', identityId) })
  const record = await ifReadable(() => tx.collection(postureData).get(identityId))
  const { items: processes } = await tx.collection(reportedProcesses).find({ where: equals('identityId', identityId) })
  const known = together(record, processes)
  return { ...known, sessions: [...known.sessions, ...items.map(({ state }) => state)] }
}

/** Whose posture is asked for. */
interface Session {
  readonly identityId: string
  readonly apiSessionId: string
}

/** The posture data of any number of API sessions, each with its own state alone. Three reads, whatever their number. */
export async function posturesOf(
  tx: ReadTransaction,
  sessions: readonly Session[],
): Promise<(session: Session) => PostureData> {
  const identityIds = new Set(sessions.map(({ identityId }) => identityId))
  const records = await tx.collection(postureData).find({ where: ids(identityIds) })
  const processes = await tx.collection(reportedProcesses).find({ where: isIn('identityId', identityIds) })
  const wanted = new Set(sessions.map(({ apiSessionId }) => apiSessionId))
  const states = await tx.collection(endpointStates).find({ where: ids(wanted) })
  const stateOf = new Map(states.items.map(({ id, state }) => [id, state]))
  const ofIdentity = new Map<string, PostureData>()
  for (const identityId of identityIds) {
    const record = records.items.find(({ id }) => id === identityId)
    const own = processes.items.filter((one) => one.identityId === identityId)
    ofIdentity.set(identityId, together(record, own))
  }
  return ({ identityId, apiSessionId }) => {
    const known = ofIdentity.get(identityId) ?? emptyPostureData()
    const state = stateOf.get(apiSessionId) ?? known.sessions.find((one) => one.apiSessionId === apiSessionId)
    return { ...known, sessions: state === undefined ? [] : [state] }
  }
}

/**
 * What a record says that endpoints reported; nothing of what no type of check asked for when it was stored. Earlier versions
 * kept processes and API sessions in it as well.
 */
export function knownPosture(record: Pick<PostureRecord, 'data'> | undefined): PostureData {
  return { ...emptyPostureData(), ...record?.data }
}

/** A record with the processes that are kept beside it. */
function together(
  record: PostureRecord | undefined,
  parts: readonly RecordOf<typeof reportedProcesses>[],
): PostureData {
  const known = knownPosture(record)
  if (parts.length === 0) return known
  const byAge = (a: { readonly lastUpdatedAt: number }, b: { readonly lastUpdatedAt: number }) =>
    a.lastUpdatedAt - b.lastUpdatedAt
  const processes = [...known.processes, ...parts.flatMap(({ reports }) => reports.processes)].sort(byAge)
  const byPath = [...known.processesByPath, ...parts.flatMap(({ reports }) => reports.processesByPath)].sort(byAge)
  return { ...known, processes, processesByPath: byPath }
}

/** The states of the API sessions of an identity that are kept in the record of the identity, by an earlier version. */
export function statesWithin(record: PostureRecord | undefined): readonly SessionPosture[] {
  return knownPosture(record).sessions
}
