import type { AccessIndex, AccessType, OrderedIds } from '../facts/access/index/index.ts'
import { RESOURCES } from '../facts/resources/index.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'

type Answer = (index: AccessIndex, id: string, type: AccessType | undefined) => OrderedIds

/** A collection below an entity that role selectors decide: `identities/{id}/service-policies` and its kin. */
export interface Relation {
  /** The resource above and the listed resource. */
  readonly of: string
  readonly to: string
  /** True when the list can be narrowed to Dial or Bind. */
  readonly byType?: boolean
  /** Members that the deployed documents give the listed entities besides their own. */
  readonly besides?: Readonly<Record<string, unknown>>
  /** The ids of the related entities, ascending; none for an unknown entity. */
  readonly ids: Answer
}

const POLICY_SIDES = {
  'service-policies': ['identities', 'services', 'posture-checks'],
  'edge-router-policies': ['identities', 'edge-routers'],
  'service-edge-router-policies': ['services', 'edge-routers'],
} as const

/** Deployed documents describe the service edge router policies of an edge router as service policies. */
const NOT_A_SERVICE_POLICY = {
  identityRoles: [],
  identityRolesDisplay: [],
  postureCheckRoles: [],
  postureCheckRolesDisplay: [],
  type: 'Invalid',
} as const

/** Lists of the entities that a policy affects, and of the policies that affect an entity (posture checks list none). */
const BY_POLICY: readonly Relation[] = (
  ['service-policies', 'edge-router-policies', 'service-edge-router-policies'] as const
)
  .flatMap((policies) => POLICY_SIDES[policies].map((side) => ({ policies, side })))
  .flatMap(({ policies, side }): readonly Relation[] => [
    { of: policies, to: side, ids: (index, id) => index.selectedList(policies, id, side) },
    ...(side === 'posture-checks'
      ? []
      : [
          {
            of: side,
            to: policies,
            ids: (index: AccessIndex, id: string) => index.policiesSelecting(policies, side, id),
            ...(side === 'edge-routers' &&
              policies === 'service-edge-router-policies' && { besides: NOT_A_SERVICE_POLICY }),
          },
        ]),
  ])

/** Lists of the entities that others reach through policies. */
const THROUGH_POLICIES: readonly Relation[] = [
  { of: 'identities', to: 'services', byType: true, ids: (index, id, type) => index.servicesOf(id, type) },
  { of: 'services', to: 'identities', byType: true, ids: (index, id, type) => index.identitiesListOf(id, type) },
  { of: 'identities', to: 'edge-routers', ids: (index, id) => index.edgeRoutersOfIdentity(id) },
  { of: 'edge-routers', to: 'identities', ids: (index, id) => index.identitiesOfEdgeRouter(id) },
  { of: 'services', to: 'edge-routers', ids: (index, id) => index.edgeRoutersOfService(id) },
  { of: 'edge-routers', to: 'services', ids: (index, id) => index.servicesOfEdgeRouter(id) },
]

/** Every relation between entities that policies make. */
export const RELATIONS: readonly Relation[] = [...BY_POLICY, ...THROUGH_POLICIES]

/** The counters that deployed clients know; a kind that this controller lacks counts 0. */
const COUNTERS = [
  'apiSessionCertificates',
  'apiSessions',
  'authPolicies',
  'authenticators',
  'cas',
  'configTypes',
  'configs',
  'controllers',
  'edgeRouterPolicies',
  'enrollments',
  'eventualEvents',
  'externalJwtSigners',
  'identities',
  'identityTypes',
  'mfas',
  'postureCheckTypes',
  'postureChecks',
  'revocations',
  'routers',
  'routers.edge',
  'serviceEdgeRouterPolicies',
  'servicePolicies',
  'services',
  'sessions',
  'terminators',
]

/** How many entities of each kind there are. Edge routers count as routers, too. */
export async function resourceCounts(tx: ReadTransaction): Promise<Readonly<Record<string, number>>> {
  const counts = new Map(COUNTERS.map((name) => [name, 0]))
  for (const resource of RESOURCES) {
    const { storeName } = resource.definition
    const known = counts.get(storeName)
    if (known === undefined) continue
    const { totalCount } = await tx.collection(resource).find({ limit: 1 })
    counts.set(storeName, known + totalCount)
    if (resource.name === edgeRouters.name) counts.set('routers.edge', totalCount)
  }
  counts.set('controllers', 1)
  return Object.fromEntries(counts)
}
