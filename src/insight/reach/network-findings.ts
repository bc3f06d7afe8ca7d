import { hasAdministratorWhoLogsIn } from '../../authority/last-administrator.ts'
import { isYetToCome } from '../../base/time.ts'
import { SYSTEM_CALL } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { type AccessIndex, POLICY_KINDS, SIDES_OF } from '../../facts/access/index/index.ts'
import type { Finding, FindingKind } from '../../facts/insight/reach/reach.resource.ts'
import { apiSessions } from '../../facts/login/api-session.resource.ts'
import { resourceNamed } from '../../facts/resources/index.ts'
import { services } from '../../facts/services/service.resource.ts'
import type { Pki } from '../../ports/pki.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import { collectionOf } from '../../records/read-records.ts'
import type { NetworkGraphs } from './network-graphs.ts'

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

/**
 * Finds faults of a network: no administrator can log in, or changes have an instant that is yet to come. Of the findings of the API it
 * takes policies that select nothing on one side, and services that no edge router serves.
 */
export async function networkFindings(
  context: EngineContext,
  graphs: NetworkGraphs,
): Promise<readonly NetworkFinding[]> {
  const now = context.clock.now()
  const policies = await everyEntity(graphs, 'policies-without-effect')
  const unserved = await everyEntity(graphs, 'services-without-edge-routers')
  return context.storage.read(async (tx) => {
    const index = await context.access.at(tx)
    return [
      ...(await administratorFindings(tx, context.pki, now)),
      ...(await clockFindings(tx, now)),
      ...policies.map((policy) => policyFinding(policy, index)),
      ...unserved.map(serviceFinding),
    ]
  })
}

type Entity = Finding['entities'][number]

async function everyEntity(graphs: NetworkGraphs, finding: FindingKind): Promise<readonly Entity[]> {
  const found: Entity[] = []
  for (let cursor: string | undefined; ; ) {
    const [page] = await graphs.findings(SYSTEM_CALL, { finding, limit: MOST_AT_ONCE, ...(cursor && { cursor }) })
    found.push(...(page?.entities ?? []))
    if (page?.nextCursor == null) return found
    cursor = page.nextCursor
  }
}

const MOST_AT_ONCE = 200

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

function policyFinding({ kind, id, name }: Entity, index: AccessIndex): NetworkFinding {
  const of = POLICY_KINDS.find((one) => one === kind) ?? 'service-policies'
  const empty = SIDES_OF[of].filter((side) => side !== 'posture-checks' && index.countSelected(of, id, side) === 0)
  const named = `${resourceNamed(of).definition.singular} '${name}'`
  const text = `${named} selects ${empty.map((side) => `no ${side}`).join(' and ')}`
  return { kind: 'policy-selects-nothing', id, name: named, text }
}

function serviceFinding({ id, name }: Entity): NetworkFinding {
  const text = `service '${name}' has no edge router: no service edge router policy selects one for it`
  return { kind: 'service-without-routers', id, name, text }
}
