import { grouped } from '../../base/collections.ts'
import type { GuardedGrant } from '../../facts/access/decision.rules.ts'
import type { Grant } from '../../facts/access/index/index.ts'
import { postureChecks } from '../../facts/access/posture/posture-check.resource.ts'
import { endpointStates, postureData, reportedProcesses } from '../../facts/access/posture/posture-data.resource.ts'
import {
  emptyPostureData,
  type PostureCheck,
  type PostureData,
  type SessionPosture,
} from '../../facts/access/posture/rules/index.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import { equals, ids, isIn } from '../../kernel/filter/index.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import { ifReadable } from '../../records/read-records.ts'
import { impassable, postureCheckOf } from './posture-checks.ts'

type PostureRecord = RecordOf<typeof postureData>

/** Reads the reports of an identity's endpoints, with those of one API session; empty when there are none. */
export async function postureDataOf(
  tx: ReadTransaction,
  identityId: string,
  apiSessionId: string,
): Promise<PostureData> {
  const session = { identityId, apiSessionId }
  return (await posturesOf(tx, [session]))(session)
}

/** The same with the state of every API session of the identity. */
export async function wholePostureOf(tx: ReadTransaction, identityId: string): Promise<PostureData> {
  const { items } = await tx.collection(endpointStates).find({ where: equals('identityId', identityId) })
  const record = await ifReadable(() => tx.collection(postureData).get(identityId))
  const { items: processes } = await tx.collection(reportedProcesses).find({ where: equals('identityId', identityId) })
  const known = together(record, processes)
  return { ...known, sessions: [...known.sessions, ...items.map(({ state }) => state)] }
}

/** The identity and the API session whose posture is read. */
interface Session {
  readonly identityId: string
  readonly apiSessionId: string
}

/** The posture data of any number of API sessions, each with its own state alone. Three reads; no read for an empty list. */
export async function posturesOf(
  tx: ReadTransaction,
  sessions: readonly Session[],
): Promise<(session: Session) => PostureData> {
  if (sessions.length === 0) return emptyPostureData
  const identityIds = new Set(sessions.map(({ identityId }) => identityId))
  const records = await tx.collection(postureData).find({ where: ids(identityIds) })
  const processes = await tx.collection(reportedProcesses).find({ where: isIn('identityId', identityIds) })
  const wanted = new Set(sessions.map(({ apiSessionId }) => apiSessionId))
  const states = await tx.collection(endpointStates).find({ where: ids(wanted) })
  const stateOf = new Map(states.items.map(({ id, state }) => [id, state]))
  const recordOf = new Map(records.items.map((record) => [record.id, record]))
  const processesOf = grouped(processes.items, ({ identityId }) => identityId)
  const ofIdentity = new Map<string, PostureData>()
  for (const identityId of identityIds) {
    ofIdentity.set(identityId, together(recordOf.get(identityId), processesOf.get(identityId) ?? []))
  }
  return ({ identityId, apiSessionId }) => {
    const known = ofIdentity.get(identityId) ?? emptyPostureData()
    const state = stateOf.get(apiSessionId) ?? known.sessions.find((one) => one.apiSessionId === apiSessionId)
    return { ...known, sessions: state === undefined ? [] : [state] }
  }
}

/**
 * Reads the reports that a record holds; empty for parts that no type of check asked for when it was stored. Earlier
 * versions kept processes and API sessions in it as well.
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

/** A grant of service policies with its posture checks and their records. An unreadable check has no record. */
export interface CheckedGrant extends GuardedGrant {
  readonly checkRecords: readonly { readonly check: PostureCheck; readonly record: RecordOf<typeof postureChecks> }[]
}

/** The posture checks of grants, each grant once, in order. One read, whatever their number; no read for an empty list. */
export async function checkedGrants(
  tx: ReadTransaction,
  grants: Iterable<Grant>,
): Promise<ReadonlyMap<Grant, CheckedGrant>> {
  const asked = new Set(grants)
  const wanted = new Set([...asked].flatMap(({ checks }) => checks))
  const { items, damaged = [] } =
    wanted.size === 0 ? { items: [] } : await tx.collection(postureChecks).find({ where: ids(wanted) })
  const known = new Map(items.map((record) => [record.id, { check: postureCheckOf(record), record }]))
  // An unreadable check lets no endpoint pass.
  const failing = new Map(damaged.map(({ id }) => [id, impassable(id)]))
  return new Map(
    [...asked].map((grant) => {
      const checkRecords = grant.checks.flatMap((id) => known.get(id) ?? [])
      const impassables = grant.checks.flatMap((id) => failing.get(id) ?? [])
      const checks = [...checkRecords.map(({ check }) => check), ...impassables]
      return [grant, { policyId: grant.policyId, type: grant.type, checks, checkRecords }]
    }),
  )
}
