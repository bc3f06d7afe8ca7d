import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { AccessSince, Explanation, SinceChange } from '../facts/access/explain/explanation.rules.ts'
import { servicePolicies } from '../facts/access/policy.resource.ts'
import {
  type DecidingRecord,
  type GrantBeginning,
  type GrantHistory,
  type GrantingKind,
  grantedSince,
} from '../facts/audit/access-since.rules.ts'
import { auditRecords } from '../facts/audit/audit-record.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { resourceNamed } from '../facts/resources/index.ts'
import { services } from '../facts/services/service.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { both, equals, ids, isIn } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { auditEntries } from './audit-entry.ts'
import { firstRecordId, recordsOf } from './audit-sealing.ts'

/** The most policies that one question looks back from: the oldest first. */
const MOST_POLICIES = 20
/** The most records of one entity that a question looks at. Beyond them it answers that access was there already. */
const MOST_RECORDS = 200

/** The three types of records that hold the earlier state of an entity. */
const TYPES = ['entity.created', 'entity.updated', 'entity.deleted'] as const

const DEFAULTS = {
  identities: resourceNamed('identities').defaults,
  services: resourceNamed('services').defaults,
  'service-policies': resourceNamed('service-policies').defaults,
}

/**
 * Finds in the audit trail since when service policies have granted the access that an explanation allows. The right to
 * explain includes the right to read every record in question, because they are about identities, services and service
 * policies. The work is bounded whatever the size of the network.
 */
export function accessSince(
  { storage }: EngineContext,
  { allowed, type, at, identity, service, policies }: Explanation,
): Promise<AccessSince | null> {
  const granting = policies.filter((policy) => policy.grants)
  if (!allowed || identity === null || service === null) return Promise.resolve(null)
  return storage.read(async (tx) => {
    const identityNow = await tx.collection(identities).get(identity.id)
    const serviceNow = await tx.collection(services).get(service.id)
    const wanted = ids(new Set(granting.map(({ id }) => id)))
    const { items } = await tx.collection(servicePolicies).find({ where: wanted, orderBy: FIRST, limit: MOST_POLICIES })
    if (identityNow === undefined || serviceNow === undefined) return null
    const ofPair = [await trailOf(tx, 'identities', identity.id), await trailOf(tx, 'services', service.id)]
    const begins = await beginOfTrail(tx)
    let longest: { readonly beginning: GrantBeginning; readonly policy: RecordOf<typeof servicePolicies> } | undefined
    for (const policy of items) {
      const trails = [...ofPair, await trailOf(tx, 'service-policies', policy.id)]
      const state = { identities: identityNow, services: serviceNow, 'service-policies': policy }
      const created = [identityNow, serviceNow, policy].map(({ createdAt }) => createdAt)
      const beginning = grantedSince({
        type,
        now: at,
        state,
        defaults: DEFAULTS,
        ...joined(trails, Math.max(begins ?? at, ...created)),
      })
      if (beginning === undefined || (longest !== undefined && longest.beginning.at <= beginning.at)) continue
      longest = { beginning, policy }
    }
    if (longest === undefined) return null
    const { beginning, policy } = longest
    const change = beginning.recordId === null ? null : await changeOf(tx, beginning.recordId)
    return { by: beginning.by, at: beginning.at, policy: { id: policy.id, name: policy.name }, change }
  })
}

const FIRST = [{ field: 'createdAt', kind: 'instant', direction: 'asc' }] as const
const LATEST_FIRST = [{ field: 'id', kind: 'string', direction: 'desc' }] as const

/** The records of an entity, the latest first. */
interface EntityTrail {
  readonly records: readonly DecidingRecord[]
  /** There are earlier records, which the question did not look at. */
  readonly isCut: boolean
}

async function trailOf(tx: ReadTransaction, kind: GrantingKind, entityId: string): Promise<EntityTrail> {
  const where = both(equals('entityId', entityId), both(equals('kind', kind), isIn('type', TYPES)))
  if (where === undefined) return { records: [], isCut: false }
  const found = await tx.collection(auditRecords).findIds({ where, orderBy: LATEST_FIRST, limit: MOST_RECORDS })
  const records = await recordsOf(tx, found)
  return {
    records: records.toReversed().flatMap(({ id, createdAt, type, content }) => {
      const known = TYPES.find((one) => one === type)
      return known === undefined
        ? []
        : [{ id, at: createdAt, type: known, kind, entityId, changes: content.changes ?? {} }]
    }),
    isCut: found.length === MOST_RECORDS,
  }
}

/** The records of several entities together, as far back as all of them are known. */
function joined(trails: readonly EntityTrail[], begins: number): Pick<GrantHistory, 'records' | 'since'> {
  const cuts = trails.flatMap(({ records, isCut }) => (isCut ? (records.at(-1) ?? []) : []))
  const [last] = cuts.sort((a, b) => (a.id < b.id ? 1 : -1))
  const records = trails
    .flatMap((one) => one.records)
    .filter(({ id }) => last === undefined || id >= last.id)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
  return { records, since: last?.at ?? begins }
}

/** When the first record of the trail was written (epoch ms); undefined for an empty one. */
async function beginOfTrail(tx: ReadTransaction): Promise<number | undefined> {
  const id = await firstRecordId(tx)
  return id === '' ? undefined : (await tx.collection(auditRecords).get(id))?.createdAt
}

/** The change that a record holds, as every reader of the entity may read it. */
async function changeOf(tx: ReadTransaction, id: string): Promise<SinceChange | null> {
  const [entry] = await auditEntries(tx, SYSTEM_CALL, await recordsOf(tx, [id]))
  const type = TYPES.find((one) => one === entry?.type)
  return type === undefined || !entry?.entity ? null : { id, type, entity: entry.entity, actor: entry.actor }
}
