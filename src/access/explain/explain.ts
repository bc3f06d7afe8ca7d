import { z } from 'zod'
import type { AccessIndex, AccessType } from '../../../domain/access-index/index.ts'
import {
  type Explanation,
  explainAccess,
  type PolicyUnderReview,
  type RouterState,
} from '../../../domain/explain/index.ts'
import { equals, ids } from '../../../domain/filter/index.ts'
import { isDisabled } from '../../../domain/identity.ts'
import type { PostureResponse } from '../../../domain/posture/index.ts'
import type { ReadTransaction } from '../../../ports/storage.ts'
import {
  AccessTypeName,
  AssumedPosture,
  IdOrName,
  SimulatedChanges,
} from '../../../resources/access/access-questions.ts'
import { servicePolicies } from '../../../resources/access/policies.ts'
import { EpochMs, Id } from '../../../resources/declaration/fields.ts'
import type { RecordOf, Resource } from '../../../resources/declaration/resource.ts'
import { identities } from '../../../resources/identities/identities.ts'
import { readRequest, readValue } from '../../../resources/requests/read-body.ts'
import { edgeRouters } from '../../../resources/routers/edge-routers.ts'
import { services } from '../../../resources/services/services.ts'
import type { EngineContext } from '../../context/context.ts'
import { checkedGrants } from '../../posture/posture-facts.ts'
import { collectionOf } from '../../records/collection-of.ts'
import { newestApiSession, postureAt } from '../assumed-posture.ts'
import { changedIndex } from '../simulation/changed-index.ts'
import { type ResolvedChanges, resolveChanges } from '../simulation/resolve-changes.ts'
import type { SimulatedChange } from '../simulation/simulated-change.ts'

/** Circumstances other than those of now. */
export interface ExplainOptions {
  /** Taken as if the endpoint had reported it at the instant of the question, on top of what it did report. */
  readonly posture?: readonly PostureResponse[] | undefined
  /** The instant (epoch ms) in question; now when absent. What would happen by itself until then is not played through. */
  readonly at?: number | undefined
  /** The API session whose second factor counts; by default the newest of the identity. */
  readonly apiSessionId?: string | undefined
  /** True to judge as if the second factor of that API session was proved at the instant of the question. */
  readonly mfa?: boolean | undefined
  /** Changes that are taken to be made already, as a simulation takes them; at most 500. */
  readonly changes?: readonly SimulatedChange[] | undefined
}

/**
 * Explains whether an identity may dial or bind a service, each by id or by name: from one snapshot, by the rules that
 * decide about sessions. An unknown name is a reason, not an error.
 */
export async function explain(
  context: EngineContext,
  identityIdOrName: string,
  serviceIdOrName: string,
  type: AccessType,
  options: ExplainOptions = {},
): Promise<Explanation> {
  readValue('identity', IdOrName, identityIdOrName)
  readValue('service', IdOrName, serviceIdOrName)
  readValue('type', AccessTypeName, type)
  const at = readValue('at', EpochMs.optional(), options.at) ?? context.clock.now()
  const asked = readValue('apiSessionId', Id.optional(), options.apiSessionId)
  const mfa = readValue('mfa', z.boolean().optional(), options.mfa)
  // Reading makes posture responses of them, as their type says.
  const responses = readRequest(AssumedPosture, options.posture ?? []) as readonly PostureResponse[]
  // As above.
  const changes = readRequest(SimulatedChanges, options.changes ?? []) as readonly SimulatedChange[]
  return context.storage.read(async (tx) => {
    const resolved = changes.length === 0 ? undefined : await resolveChanges(tx, changes, context.turns)
    const identity = await byIdOrName(tx, identities, identityIdOrName, resolved?.of('identities'))
    const service = await byIdOrName(tx, services, serviceIdOrName, resolved?.of('services'))
    const question = { asked: { identity: identityIdOrName, service: serviceIdOrName }, type, at }
    const index =
      resolved === undefined
        ? await context.access.at(tx)
        : await changedIndex(context, tx, identity ? [identity.id] : [], resolved.indexChanges, true)
    const identityRouters = identity ? index.edgeRoutersOfIdentity(identity.id) : []
    const serviceRouters = service ? index.edgeRoutersOfService(service.id) : []
    const routers = await routerStates(context, tx, [...identityRouters, ...serviceRouters])
    const apiSessionId = asked ?? (identity && (await newestApiSession(tx, identity.id)))
    return explainAccess({
      ...question,
      identity: identity && { ...identity, isDisabled: isDisabled(identity, at) },
      service,
      policies: identity && service ? await policiesUnderReview(tx, index, identity.id, service.id, resolved) : [],
      posture: await postureAt(tx, identity?.id, apiSessionId, { posture: responses, mfa }, at),
      apiSessionId,
      identityRouters: identityRouters.flatMap((id) => routers.get(id) ?? []),
      serviceRouters: serviceRouters.flatMap((id) => routers.get(id) ?? []),
    })
  })
}

async function byIdOrName<R extends Resource>(
  tx: ReadTransaction,
  resource: R,
  idOrName: string,
  changed: ReadonlyMap<string, RecordOf<Resource> | undefined> = new Map(),
): Promise<RecordOf<R> | undefined> {
  const named = [...changed].find(([id, record]) => id === idOrName || record?.name === idOrName)
  // What is changed of a kind is of that kind.
  if (named !== undefined) return named[1] as RecordOf<R> | undefined
  const collection = collectionOf(tx, resource)
  return (await collection.get(idOrName)) ?? (await collection.find({ where: equals('name', idOrName) })).items[0]
}

/** Service policies as they are, or as they would be after changes. */
async function policiesOf(
  tx: ReadTransaction,
  wanted: ReadonlySet<string>,
  resolved: ResolvedChanges | undefined,
): Promise<readonly RecordOf<typeof servicePolicies>[]> {
  const { items } = await tx.collection(servicePolicies).find({ where: ids(wanted) })
  const changed = resolved?.of('service-policies')
  if (changed === undefined) return items
  const others = [...changed].flatMap(([id, record]) => (wanted.has(id) && record !== undefined ? [record] : []))
  // What is changed of a kind is of that kind.
  return [
    ...items.filter(({ id }) => !changed.has(id)),
    ...(others as readonly object[] as readonly RecordOf<typeof servicePolicies>[]),
  ]
}

/** The service policies that select the identity or the service; checks are read for those that select both. */
async function policiesUnderReview(
  tx: ReadTransaction,
  index: AccessIndex,
  identityId: string,
  serviceId: string,
  resolved: ResolvedChanges | undefined,
): Promise<readonly PolicyUnderReview[]> {
  const ofIdentity = index.policiesSelecting('service-policies', 'identities', identityId)
  const ofService = index.policiesSelecting('service-policies', 'services', serviceId)
  const items = await policiesOf(tx, new Set([...ofIdentity, ...ofService]), resolved)
  const [grants = []] = index.separateGrantsOf(identityId, [serviceId])
  const checked = new Map([...(await checkedGrants(tx, grants)).values()].map((grant) => [grant.policyId, grant]))
  return items.flatMap(({ id, name, type, semantic, identityRoles, serviceRoles }) =>
    type === 'Invalid'
      ? []
      : [{ id, name, type, semantic, identityRoles, serviceRoles, checks: checked.get(id)?.checks ?? [] }],
  )
}

async function routerStates(
  context: EngineContext,
  tx: ReadTransaction,
  routerIds: readonly string[],
): Promise<ReadonlyMap<string, RouterState>> {
  const { items } = await tx.collection(edgeRouters).find({ where: ids(new Set(routerIds)) })
  const presence = await context.presence.at(tx)
  return new Map(items.map(({ id, name }) => [id, { id, name, isOnline: presence.connectionOf(id) !== undefined }]))
}
