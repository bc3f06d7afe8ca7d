import type { EngineContext } from '../../context/context.ts'
import { whatIsLeft } from '../../context/recorded-changes.ts'
import { endpointStates, postureData } from '../../facts/access/posture/posture-data.resource.ts'
import {
  clearMfa,
  emptyPostureData,
  type PostureData,
  type PostureResponse,
  sessionPosture,
} from '../../facts/access/posture/rules/index.ts'
import { apiSessions } from '../../facts/login/api-session.resource.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import { equals, ids } from '../../kernel/filter/index.ts'
import type { WriteTransaction } from '../../ports/record-storage.ts'
import { ifReadable, newRecord } from '../../records/read-records.ts'
import { knownPosture, statesWithin } from './posture-of.ts'
import { processesLike, storeParts, storeProcesses, totalsOf, youngest } from './process-parts.ts'

type PostureRecord = RecordOf<typeof postureData>

/** How many API sessions, the newest, are taken over from an earlier version's record. The others have nothing reported. */
const SESSIONS_TAKEN_OVER = 200

/** The identity and the API session of an endpoint that changed, and when (epoch ms). */
interface Endpoint {
  readonly identityId: string
  readonly apiSessionId: string
  readonly now: number
}

/**
 * Changes the posture of an identity's endpoints by responses, and the state of one API session by anything; stores
 * what became different. `change` gets only the processes like the ones in `responses`, and only the state of that API
 * session. Answers the posture after the change.
 */
export async function changePosture(
  { settings: { limits } }: EngineContext,
  tx: WriteTransaction,
  { identityId, apiSessionId, now }: Endpoint,
  responses: readonly PostureResponse[],
  change: (data: PostureData) => PostureData,
): Promise<PostureData> {
  const record = await takenApart(tx, identityId, limits.reportedProcessBytes, now)
  const state = (await ifReadable(() => tx.collection(endpointStates).get(apiSessionId)))?.state
  const processes = responses.filter((response) => response.typeId === 'PROCESS')
  const before: PostureData = {
    ...knownPosture(record),
    ...(processes.length > 0 && (await processesLike(tx, identityId, processes))),
    sessions: state === undefined ? [] : [state],
  }
  const after = change(before)
  await storeState(tx, { identityId, apiSessionId, now }, before, after)
  if (isSameOfIdentity(before, after)) return after
  const totals = record ?? { processCount: 0, processBytes: 0 }
  const { processCount, processBytes } = await storeProcesses(
    tx,
    identityId,
    totals,
    [before, after],
    limits.reportedProcessBytes,
    now,
  )
  const data = ofIdentityAlone(after)
  if (record === undefined) {
    await tx
      .collection(postureData)
      .insert(newRecord(identityId, now, { identityId, data, processCount, processBytes }))
  } else {
    await tx.collection(postureData).update({ ...record, data, processCount, processBytes, updatedAt: now })
  }
  return after
}

/** Takes from every API session of the identity its proof of MFA. */
export async function forgetMfaPasses(
  { settings: { limits } }: EngineContext,
  tx: WriteTransaction,
  identityId: string,
  now: number,
): Promise<void> {
  await takenApart(tx, identityId, limits.reportedProcessBytes, now)
  const { items } = await tx.collection(endpointStates).find({ where: equals('identityId', identityId) })
  for (const record of items) {
    const [state] = clearMfa({ sessions: [record.state] }).sessions
    if (state === undefined || state === record.state) continue
    await tx.collection(endpointStates).update({ ...record, state, updatedAt: now })
  }
}

/** The record of an identity, after the parts that an earlier version kept in it have moved to records of their own. */
async function takenApart(
  tx: WriteTransaction,
  identityId: string,
  mostProcessBytes: number,
  now: number,
): Promise<PostureRecord | undefined> {
  const record = await whatIsLeft(() => tx.collection(postureData).get(identityId))
  const known = knownPosture(record)
  const isWhole = known.sessions.length + known.processes.length + known.processesByPath.length > 0
  if (record === undefined || !isWhole) return record
  const processes = youngest(known, mostProcessBytes)
  await storeParts(tx, identityId, processes, now)
  const states = statesWithin(record).slice(-SESSIONS_TAKEN_OVER)
  const { items } = await tx.collection(apiSessions).find({ where: ids(states.map((state) => state.apiSessionId)) })
  const existing = new Set(items.map(({ id }) => id))
  for (const state of states.filter(({ apiSessionId }) => existing.has(apiSessionId))) {
    const { apiSessionId } = state
    await tx.collection(endpointStates).insert(newRecord(apiSessionId, now, { apiSessionId, identityId, state }))
  }
  const apart = { ...record, data: ofIdentityAlone(known), ...totalsOf(processes) }
  await tx.collection(postureData).update(apart)
  return apart
}

async function storeState(
  tx: WriteTransaction,
  { identityId, apiSessionId, now }: Endpoint,
  before: PostureData,
  after: PostureData,
): Promise<void> {
  const state = sessionPosture(after, apiSessionId)
  if (state === undefined || state === sessionPosture(before, apiSessionId)) return
  const collection = tx.collection(endpointStates)
  const known = await whatIsLeft(() => collection.get(apiSessionId))
  if (known === undefined) await collection.insert(newRecord(apiSessionId, now, { apiSessionId, identityId, state }))
  else await collection.update({ ...known, state, updatedAt: now })
}

/** The lists of posture data that stand in records of their own. */
const APART = { sessions: [], processes: [], processesByPath: [] } as const

function ofIdentityAlone(data: PostureData): PostureData {
  return { ...data, ...APART }
}

function isSameOfIdentity(before: PostureData, after: PostureData): boolean {
  return Object.keys(emptyPostureData()).every(
    (part) => part === 'sessions' || Reflect.get(before, part) === Reflect.get(after, part),
  )
}
