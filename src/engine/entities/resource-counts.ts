import type { ReadTransaction } from '../../ports/storage.ts'
import { RESOURCES } from '../../resources/index.ts'
import { edgeRouters } from '../../resources/routers/edge-routers.ts'

/** The counters that deployed clients know; what this controller does not have counts nothing. */
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
