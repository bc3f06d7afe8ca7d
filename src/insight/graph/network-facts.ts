import type { Roster } from '../../access/index/index.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../../access/policy.resource.ts'
import { identities } from '../../identities/identity.resource.ts'
import { type Call, mayRead } from '../../kernel/context/call.ts'
import type { EngineContext } from '../../kernel/context/context.ts'
import type { Resource } from '../../kernel/declaration/resource.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import { edgeRouters } from '../../routers/edge-router.resource.ts'
import { services } from '../../services/service.resource.ts'
import type { GraphPolicy, GroupedKind } from './index.ts'

/** The kinds of which a graph is drawn. */
const GROUPED: readonly { readonly kind: GroupedKind; readonly resource: Resource }[] = [
  { kind: 'identities', resource: identities },
  { kind: 'services', resource: services },
  { kind: 'edge-routers', resource: edgeRouters },
]
const POLICIES = [servicePolicies, edgeRouterPolicies, serviceEdgeRouterPolicies]

/** The names of the kinds whose changes change a graph. */
export const DRAWN_KINDS: ReadonlySet<string> = new Set([
  ...GROUPED.map(({ kind }) => kind),
  ...POLICIES.map(({ name }) => name),
])

/** The part of a network that somebody may see: the entities of the kinds that it may read, and the policies that it may read. */
export interface NetworkFacts {
  readonly revision: number
  readonly rosters: ReadonlyMap<GroupedKind, Roster>
  readonly policies: readonly GraphPolicy[]
}

/** The kinds, of entities and of policies, of a graph that a call may read. */
export function drawnFor(call: Call): readonly string[] {
  const resources: readonly Resource[] = [...GROUPED.map(({ resource }) => resource), ...POLICIES]
  return resources.filter(({ definition }) => mayRead(call, definition.permission)).map(({ name }) => name)
}

/** Reads what a graph of some kinds is drawn of. Whoever is added meanwhile may be in it already. */
export async function networkFacts(
  { access }: Pick<EngineContext, 'access'>,
  tx: ReadTransaction,
  kinds: readonly string[],
): Promise<NetworkFacts> {
  const index = await access.at(tx)
  const grouped = GROUPED.filter(({ kind }) => kinds.includes(kind))
  const policies = [
    ...(kinds.includes(servicePolicies.name) ? await servicePolicyLinks(tx) : []),
    ...(kinds.includes(edgeRouterPolicies.name) ? await edgeRouterLinks(tx) : []),
    ...(kinds.includes(serviceEdgeRouterPolicies.name) ? await serviceEdgeRouterLinks(tx) : []),
  ]
  return {
    revision: tx.revision,
    rosters: new Map(grouped.map(({ kind }) => [kind, index.roster(kind)])),
    policies,
  }
}

async function servicePolicyLinks(tx: ReadTransaction): Promise<readonly GraphPolicy[]> {
  const { items } = await tx.collection(servicePolicies).find()
  return items.flatMap(({ id, name, type, semantic, identityRoles: from, serviceRoles: to, postureCheckRoles }) =>
    type === 'Dial' || type === 'Bind'
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
