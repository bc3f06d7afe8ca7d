import { z } from 'zod'
import type { EngineContext } from '../context/context.ts'
import {
  AccessTypeName,
  AssumedPosture,
  IdOrName,
  SimulatedChanges,
} from '../facts/access/access-questions.resource.ts'
import {
  type Explanation,
  explainAccess,
  type GivenTerm,
  type PolicyUnderReview,
} from '../facts/access/explain/index.ts'
import type { AccessIndex, AccessType } from '../facts/access/index/index.ts'
import { indexedEntity } from '../facts/access/indexed-records.ts'
import { servicePolicies } from '../facts/access/policy.resource.ts'
import { phaseAt, phaseNow } from '../facts/access/policy-term.rules.ts'
import {
  applyResponses,
  type PostureData,
  type PostureResponse,
  recordMfaPass,
} from '../facts/access/posture/rules/index.ts'
import {
  type AttributeHolder,
  attributesGiven,
  enabledAt,
  grantsAt,
  isDisabled,
} from '../facts/authority/authority.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { services } from '../facts/services/service.resource.ts'
import { EpochMs, Id } from '../kernel/declaration/fields.ts'
import { readRequest, readValue } from '../kernel/declaration/read-body.ts'
import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import { equals, ids } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { collectionOf } from '../records/read-records.ts'
import { factsFor } from './decision.ts'
import { hostsOf, routerStates, wireOf } from './explained-hosts.ts'
import { postureDataOf } from './posture/posture-of.ts'
import { changedIndex } from './simulation/access-mirror.ts'
import { type ResolvedChanges, resolveChanges, type SimulatedChange } from './simulation/resolve-changes.ts'

/** Circumstances that differ from the present ones. */
export interface ExplainOptions {
  /** Taken as if the endpoint had reported it at the instant of the question, on top of its own reports. */
  readonly posture?: readonly PostureResponse[] | undefined
  /**
   * The instant (epoch ms) in question; now when absent. Reports and sessions stay as they are now: nothing that would
   * happen until then is played through.
   */
  readonly at?: number | undefined
  /** The API session whose second factor counts; by default the newest of the identity. */
  readonly apiSessionId?: string | undefined
  /** True to judge as if the second factor of that API session was proved at the instant of the question. */
  readonly mfa?: boolean | undefined
  /** Changes that count as made already, as a simulation takes them; at most 500. */
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
  // The schema reads posture responses, as their type says.
  const responses = readRequest(AssumedPosture, options.posture ?? []) as readonly PostureResponse[]
  // The schema reads changes, as their type says.
  const changes = readRequest(SimulatedChanges, options.changes ?? []) as readonly SimulatedChange[]
  return context.storage.read(async (tx) => {
    const isOfNow = options.at === undefined
    const resolved = changes.length === 0 ? undefined : await resolveChanges(tx, changes, context.turns)
    const identity = await byIdOrName(tx, identities, identityIdOrName, resolved?.of('identities'))
    const service = await byIdOrName(tx, services, serviceIdOrName, resolved?.of('services'))
    const question = { asked: { identity: identityIdOrName, service: serviceIdOrName }, type, at }
    const stored = identity && {
      ...identity,
      directoryAttributes: attributesGiven(identity, context.clock.now()),
      claimAttributes: identity.claimAttributes ?? [],
      attributeGrants: grantsAt(identity, at, isOfNow ? 'written' : 'due'),
    }
    const grantsDiffer = !isOfNow && Boolean(identity?.attributeGrants)
    const index =
      resolved === undefined && !grantsDiffer
        ? await context.access.at(tx)
        : await indexAt(context, tx, stored, resolved)
    const identityRouters = identity ? index.edgeRoutersOfIdentity(identity.id) : []
    const serviceRouters = service ? index.edgeRoutersOfService(service.id) : []
    const routers = await routerStates(context, tx, [...identityRouters, ...serviceRouters])
    const apiSessionId = asked ?? (identity && (await newestApiSession(tx, identity.id)))
    const online = identityRouters.filter((id) => serviceRouters.includes(id) && routers.get(id)?.isOnline === true)
    return explainAccess({
      ...question,
      identity: stored && {
        ...stored,
        isDisabled: isDisabled(stored, at),
        disabledUntil: enabledAt(stored),
      },
      service,
      policies:
        identity && service
          ? await policiesUnderReview(context, tx, index, identity.id, service.id, resolved, {
              at,
              isOfNow,
            })
          : [],
      posture: await postureAt(tx, identity?.id, apiSessionId, { posture: responses, mfa }, at),
      apiSessionId,
      identityRouters: identityRouters.flatMap((id) => routers.get(id) ?? []),
      serviceRouters: serviceRouters.flatMap((id) => routers.get(id) ?? []),
      hasDirectory: context.host.directory !== undefined,
      routerPolicies: {
        edgeRouters: index.counts()['edge-routers'],
        ofIdentity: identity ? index.policiesSelecting('edge-router-policies', 'identities', identity.id).length : 0,
        ofService: service ? index.policiesSelecting('service-edge-router-policies', 'services', service.id).length : 0,
      },
      hosts: service && (await hostsOf(tx, index, service.id)),
      wire:
        identity && service && isOfNow && resolved === undefined
          ? await wireOf(context, tx, identity.id, service, online)
          : undefined,
    })
  })
}

/** The index after changes, with the role attributes that the identity has at the instant of the question. */
function indexAt(
  context: EngineContext,
  tx: ReadTransaction,
  identity: (AttributeHolder & { readonly id: string }) | undefined,
  resolved: ResolvedChanges | undefined,
): Promise<AccessIndex> {
  const after = identity && indexedEntity(identity)
  const own = after === undefined ? [] : [{ kind: 'identities', id: after.id, before: undefined, after } as const]
  const changes = [...(resolved?.indexChanges ?? []), ...own]
  return changedIndex(context, tx, after === undefined ? [] : [after.id], changes, true)
}

/** Finds an entity by its id, else by its name: as it is, or as it would be after changes. */
export async function byIdOrName<R extends Resource>(
  tx: ReadTransaction,
  resource: R,
  idOrName: string,
  changed: ReadonlyMap<string, RecordOf<Resource> | undefined> = new Map(),
): Promise<RecordOf<R> | undefined> {
  const named = [...changed].find(([id, record]) => id === idOrName || record?.name === idOrName)
  // A change of a kind holds records of that kind.
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
  // A change of a kind holds records of that kind.
  return [
    ...items.filter(({ id }) => !changed.has(id)),
    ...(others as readonly object[] as readonly RecordOf<typeof servicePolicies>[]),
  ]
}

/** The instant of a question (epoch ms), and whether it is the present. */
interface AskedInstant {
  readonly at: number
  readonly isOfNow: boolean
}

/** The service policies that select the identity or the service. Checks are read for policies that select both. */
async function policiesUnderReview(
  context: EngineContext,
  tx: ReadTransaction,
  index: AccessIndex,
  identityId: string,
  serviceId: string,
  resolved: ResolvedChanges | undefined,
  question: AskedInstant,
): Promise<readonly PolicyUnderReview[]> {
  const ofIdentity = index.policiesSelecting('service-policies', 'identities', identityId)
  const ofService = index.policiesSelecting('service-policies', 'services', serviceId)
  const items = await policiesOf(tx, new Set([...ofIdentity, ...ofService]), resolved)
  const asked = { index, posture: 'brought', everyPolicy: true } as const
  const [facts] = await factsFor(context, tx, [{ identityId, serviceId }], asked)
  const checked = new Map(facts?.grants.map((grant) => [grant.policyId, grant]))
  return items.flatMap((policy) => {
    const { id, name, type, semantic, identityRoles, serviceRoles } = policy
    if (type === 'Invalid') return []
    const checks = checked.get(id)?.checks ?? []
    return [{ id, name, type, semantic, identityRoles, serviceRoles, checks, term: termOf(policy, question) }]
  })
}

/** The term of a service policy as the question meets it; undefined for a policy without term and reason. */
function termOf(policy: RecordOf<typeof servicePolicies>, { at, isOfNow }: AskedInstant): GivenTerm | undefined {
  // A policy as it would be after changes has no phase, and may lack the members.
  const { startsAt = null, until = null, reason = null, givenBy = null, phase = null } = policy
  if (startsAt === null && until === null && reason === null) return undefined
  const term = { startsAt, until, phase: phase ?? phaseAt({ startsAt, until }, at) }
  const reached = isOfNow ? phaseNow(term, at) : phaseAt(term, at)
  return { startsAt, until, reason, givenBy, phase: reached ?? 'in-force' }
}

/** Stands for the API session of an identity without one, so that an assumed state has an owner. */
const NO_API_SESSION = ''

/** Posture that is assumed, on top of the reports that are known. */
export interface Assumed {
  readonly posture?: readonly PostureResponse[] | undefined
  readonly mfa?: boolean | undefined
}

/** The id of the API session that an identity began last. */
export async function newestApiSession(tx: ReadTransaction, identityId: string): Promise<string | undefined> {
  const { items } = await tx.collection(apiSessions).find({
    where: equals('identityId', identityId),
    orderBy: [{ field: 'createdAt', kind: 'instant', direction: 'desc' }],
    limit: 1,
  })
  return items[0]?.id
}

/** Reads the reports of an identity's endpoints as if there were further ones, and a second factor were proved, at `at`. */
export async function postureAt(
  tx: ReadTransaction,
  identityId: string | undefined,
  apiSessionId: string = NO_API_SESSION,
  { posture: responses = [], mfa = false }: Assumed,
  at: number,
): Promise<PostureData> {
  const known = await postureDataOf(tx, identityId ?? '', apiSessionId)
  const reported = responses.length === 0 ? known : applyResponses(known, apiSessionId, responses, at)
  return mfa ? recordMfaPass(reported, apiSessionId, at) : reported
}
