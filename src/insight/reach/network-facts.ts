import { grouped } from '../../base/collections.ts'
import { type Call, mayRead } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { changesAfter, placeOf } from '../../context/store-level.ts'
import type { AccessIndex, Roster } from '../../facts/access/index/index.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../../facts/access/policy.resource.ts'
import { isInForceBy } from '../../facts/access/policy-term.rules.ts'
import { identities } from '../../facts/identities/identity.resource.ts'
import type { GraphPolicy, GroupedKind } from '../../facts/insight/graph/index.ts'
import { edgeRouters } from '../../facts/routers/edge-router.resource.ts'
import { services } from '../../facts/services/service.resource.ts'
import type { Resource } from '../../kernel/declaration/resource.ts'
import type { HistoryPoint, ReadTransaction } from '../../ports/record-storage.ts'

/** The kinds of entity that a graph shows. */
const GROUPED: readonly { readonly kind: GroupedKind; readonly resource: Resource }[] = [
  { kind: 'identities', resource: identities },
  { kind: 'services', resource: services },
  { kind: 'edge-routers', resource: edgeRouters },
]
const POLICIES = [servicePolicies, edgeRouterPolicies, serviceEdgeRouterPolicies]

/** The part of a network that a caller may see: the entities and policies of the kinds that it may read. */
export interface NetworkFacts {
  readonly place: HistoryPoint
  /** The role attributes of the requested entities, by id; undefined for entities that are gone. */
  readonly entities: ReadonlyMap<
    GroupedKind,
    Iterable<readonly [id: string, attributes: readonly string[] | undefined]>
  >
  /** Undefined where no policy has changed. */
  readonly policies: readonly GraphPolicy[] | undefined
}

/** The kinds, of entities and of policies, of a graph that a call may read. */
export function drawnFor(call: Call): readonly string[] {
  const resources: readonly Resource[] = [...GROUPED.map(({ resource }) => resource), ...POLICIES]
  return resources.filter(({ definition }) => mayRead(call, definition.permission)).map(({ name }) => name)
}

/** Reads the facts of a graph of some kinds. Entities that are added meanwhile may be in it already. */
export async function networkFacts(
  { access }: EngineContext,
  tx: ReadTransaction,
  kinds: readonly string[],
): Promise<NetworkFacts & { readonly policies: readonly GraphPolicy[] }> {
  const index = await access.at(tx)
  const entities = groupedOf(kinds).map((kind) => [kind, everybody(index.roster(kind))] as const)
  return { place: placeOf(tx), entities: new Map(entities), policies: await policyLinks(tx, kinds) }
}

/** Beyond this number, changed entities are not handled one by one. */
const MOST_CHANGED = 2000

/**
 * Reads the changes in a graph of some kinds since a place in the history of the store. Undefined where it is better to
 * read the network as a whole.
 */
export async function changedFacts(
  { access }: EngineContext,
  tx: ReadTransaction,
  kinds: readonly string[],
  since: HistoryPoint,
): Promise<NetworkFacts | undefined> {
  const changes = await changesAfter(tx, since)
  if (changes === undefined) return undefined
  const concerned = changes.filter(({ kind }) => kinds.includes(kind))
  if (concerned.length > MOST_CHANGED) return undefined
  const index = await access.at(tx)
  const changed = grouped(concerned, ({ kind }) => kind)
  const entities = groupedOf(kinds).map((kind) => {
    const ids = new Set(changed.get(kind)?.map(({ id }) => id))
    return [kind, [...ids].map((id) => [id, attributesOf(index, kind, id)] as const)] as const
  })
  const hasPolicies = POLICIES.some(({ name }) => changed.has(name))
  return {
    place: placeOf(tx),
    entities: new Map(entities),
    policies: hasPolicies ? await policyLinks(tx, kinds) : undefined,
  }
}

function groupedOf(kinds: readonly string[]): readonly GroupedKind[] {
  return GROUPED.map(({ kind }) => kind).filter((kind) => kinds.includes(kind))
}

function* everybody({ ids, attributesOf }: Roster): Generator<readonly [string, readonly string[]]> {
  for (const [slot, id] of ids.entries()) if (id !== undefined) yield [id, attributesOf(slot)]
}

function attributesOf(index: AccessIndex, kind: GroupedKind, id: string): readonly string[] | undefined {
  return index.has(kind, id) ? index.rolesOf(kind, id).map((role) => role.slice(1)) : undefined
}

async function policyLinks(tx: ReadTransaction, kinds: readonly string[]): Promise<readonly GraphPolicy[]> {
  return [
    ...(kinds.includes(servicePolicies.name) ? await servicePolicyLinks(tx) : []),
    ...(kinds.includes(edgeRouterPolicies.name) ? await edgeRouterLinks(tx) : []),
    ...(kinds.includes(serviceEdgeRouterPolicies.name) ? await serviceEdgeRouterLinks(tx) : []),
  ]
}

async function servicePolicyLinks(tx: ReadTransaction): Promise<readonly GraphPolicy[]> {
  const { items } = await tx.collection(servicePolicies).find()
  return items.flatMap(
    ({ id, name, type, semantic, phase, identityRoles: from, serviceRoles: to, postureCheckRoles }) =>
      // Each phase is written when it begins, and the graph follows what is written.
      (type === 'Dial' || type === 'Bind') && isInForceBy(phase)
        ? [{ id, name, type, semantic, from, to, isGuarded: postureCheckRoles.length > 0 }]
        : [],
  )
}

async function edgeRouterLinks(tx: ReadTransaction): Promise<readonly GraphPolicy[]> {
  const { items } = await tx.collection(edgeRouterPolicies).find()
  const type = 'edge-router' as const
  return items.map(({ id, name, semantic, identityRoles: from, edgeRouterRoles: to }) => {
    return { id, name, type, semantic, from, to, isGuarded: false }
  })
}

async function serviceEdgeRouterLinks(tx: ReadTransaction): Promise<readonly GraphPolicy[]> {
  const { items } = await tx.collection(serviceEdgeRouterPolicies).find()
  const type = 'service-edge-router' as const
  return items.map(({ id, name, semantic, serviceRoles: from, edgeRouterRoles: to }) => {
    return { id, name, type, semantic, from, to, isGuarded: false }
  })
}
