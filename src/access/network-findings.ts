import { hasAdministratorWhoLogsIn } from '../authority/last-administrator.ts'
import { isYetToCome } from '../base/time.ts'
import type { EngineContext } from '../context/context.ts'
import type { AccessIndex, EntityKind, PolicyKind } from '../facts/access/index/index.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../facts/access/policy.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { services } from '../facts/services/service.resource.ts'
import type { Resource } from '../kernel/declaration/resource.ts'
import type { Pki } from '../ports/pki.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { collectionOf } from '../records/read-records.ts'

/** Something in a network that is surely a mistake. */
export interface NetworkFinding {
  readonly kind: 'no-administrator' | 'policy-selects-nothing' | 'service-without-routers' | 'clock-behind'
  /** The entity in question; absent where it is the network. */
  readonly id?: string
  /** The name of that entity; with its kind where a finding may be about several kinds: `service policy 'staff'`. */
  readonly name?: string
  /** In words. */
  readonly text: string
}

interface PolicySides {
  readonly resource: Resource
  readonly name: PolicyKind
  readonly sides: readonly EntityKind[]
}

/** The policies of each kind, and the entities that their two sides select. */
const POLICIES: readonly PolicySides[] = [
  { resource: servicePolicies, name: 'service-policies', sides: ['identities', 'services'] },
  { resource: edgeRouterPolicies, name: 'edge-router-policies', sides: ['identities', 'edge-routers'] },
  { resource: serviceEdgeRouterPolicies, name: 'service-edge-router-policies', sides: ['services', 'edge-routers'] },
]

/**
 * Finds oddities of a network: no administrator can log in, policies that select nothing on one side, services that no edge
 * router serves, and changes that were made later than now.
 */
export function networkFindings(context: EngineContext): Promise<readonly NetworkFinding[]> {
  const now = context.clock.now()
  return context.storage.read(async (tx) => {
    const index = await context.access.at(tx)
    return [
      ...(await administratorFindings(tx, context.pki, now)),
      ...(await clockFindings(tx, now)),
      ...(await policyFindings(tx, index)),
      ...(await serviceFindings(tx, index)),
    ]
  })
}

async function administratorFindings(tx: ReadTransaction, pki: Pki, now: number): Promise<readonly NetworkFinding[]> {
  if (await hasAdministratorWhoLogsIn({ tx, pki, now })) return []
  return [{ kind: 'no-administrator', text: 'no administrator can log in: portcullis admin reset-password' }]
}

/** A login writes sessions, and building a network writes services. */
async function clockFindings(tx: ReadTransaction, now: number): Promise<readonly NetworkFinding[]> {
  const orderBy = [{ field: 'updatedAt', kind: 'instant', direction: 'desc' }] as const
  for (const [resource, what] of [
    [services, 'a service'],
    [apiSessions, 'an API session'],
  ] as const) {
    const [newest] = (await collectionOf(tx, resource).find({ orderBy, limit: 1 })).items
    if (newest === undefined || !isYetToCome(newest.updatedAt, now)) continue
    const minutes = Math.ceil((newest.updatedAt - now) / 60_000)
    return [{ kind: 'clock-behind', text: `the clock is ${minutes} minutes behind the newest change of ${what}` }]
  }
  return []
}

async function policyFindings(tx: ReadTransaction, index: AccessIndex): Promise<readonly NetworkFinding[]> {
  const findings: NetworkFinding[] = []
  for (const { resource, name, sides } of POLICIES) {
    for (const policy of (await collectionOf(tx, resource).find()).items) {
      const empty = sides.filter((side) => index.countSelected(name, policy.id, side) === 0)
      if (empty.length === 0) continue
      const named = `${resource.definition.singular} '${policy.name}'`
      const text = `${named} selects no ${empty.join(' and no ')}`
      findings.push({ kind: 'policy-selects-nothing', id: policy.id, name: named, text })
    }
  }
  return findings
}

async function serviceFindings(tx: ReadTransaction, index: AccessIndex): Promise<readonly NetworkFinding[]> {
  const { items } = await tx.collection(services).find()
  return items
    .filter(({ id }) => index.edgeRoutersOfService(id).length === 0)
    .map(({ id, name }) => ({
      kind: 'service-without-routers',
      id,
      name,
      text: `service '${name}' has no edge router: no service edge router policy selects one for it`,
    }))
}
