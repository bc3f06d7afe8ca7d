import { carries, factsFor, type LoadedFacts } from '../access/decision.ts'
import type { CheckedGrant } from '../access/posture/posture-of.ts'
import { instant } from '../base/time.ts'
import { type ConfigMap, checkAttachedConfigs, configMaps, NO_CONFIGS } from '../configs/config-map.ts'
import { type Call, knownCaller } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { WireTexts } from '../context/wire-texts.ts'
import { decideAccess, type SessionReport } from '../facts/access/decision.rules.ts'
import type { AccessType } from '../facts/access/index/index.ts'
import { postureChecks } from '../facts/access/posture/posture-check.resource.ts'
import { emptyPostureData, postureQuery, queryUpdatedAt } from '../facts/access/posture/rules/index.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../facts/routers/transit-router.resource.ts'
import { type Services, services } from '../facts/services/service.resource.ts'
import { type Terminators, terminators } from '../facts/services/terminator.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { type Filter, ids } from '../kernel/filter/index.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { type Detail, linksOf } from '../records/render.ts'
import { changeEach, MORE, type WriteBatch } from '../records/write-batches.ts'

/**
 * A service takes configs whose types are meant for services, one of each type. Its deletion removes the hosting
 * settings that identities have for it.
 */
export const serviceBehaviour: Behaviour<Services> = {
  resource: services,

  async guard(_context, tx, _call, { before, after }) {
    if (after !== undefined) await checkAttachedConfigs(tx, 'service', before, after)
    return after
  },

  async beforeWrite(tx, { kind, before }, batch) {
    return kind === 'delete' ? forgetHosting(tx, before.id, batch) : undefined
  },

  members: serviceMembers,
}

async function forgetHosting(
  tx: WriteTransaction,
  serviceId: string,
  batch: WriteBatch,
): Promise<undefined | typeof MORE> {
  const isDone = await changeEach(tx, identities, hosts(serviceId), batch, (identity) => ({
    ...identity,
    serviceHostingCosts: without(identity.serviceHostingCosts, serviceId),
    serviceHostingPrecedences: without(identity.serviceHostingPrecedences, serviceId),
  }))
  return isDone ? undefined : MORE
}

function hosts(serviceId: string): Filter {
  const of = (field: string) => ({ kind: 'json', field, path: [serviceId] }) as const
  const precedences = new Set(['default', 'required', 'failed'])
  return {
    kind: 'or',
    left: { kind: 'compare', operand: of('serviceHostingCosts'), operator: '>=', value: 0 },
    right: { kind: 'in', operand: of('serviceHostingPrecedences'), values: precedences },
  }
}

function without<T>(map: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(map).filter(([name]) => name !== key))
}

/** A terminator stays with its service; an empty binding follows from the address. */
export const terminatorBehaviour: Behaviour<Terminators> = {
  resource: terminators,

  async guard(_context, _tx, _call, { before, after }) {
    if (after === undefined) return after
    const implied = after.address.startsWith('udp:') ? 'udp' : 'transport'
    return { ...after, binding: after.binding || implied, serviceId: before?.serviceId ?? after.serviceId }
  },

  /** Deployed clients know every router as a transit router here. */
  async members({ dataPlane }, tx, _call, records) {
    const where = ids(new Set(records.map(({ routerId }) => routerId)))
    const edge = await tx.collection(edgeRouters).find({ where })
    const transit = await tx.collection(transitRouters).find({ where })
    const names = new Map([...edge.items, ...transit.items].map(({ id, name }) => [id, name]))
    return records.map(({ id, routerId }) => {
      const _links = { self: { href: `./transit-routers/${routerId}` } }
      const router = { _links, entity: 'transit-routers', id: routerId, name: names.get(routerId) ?? '' }
      return { dynamicCost: dataPlane.view?.dynamicCostOf(id) ?? 0, router }
    })
  },
}

/** The permissions that a service may show. Each list is one object, because texts made of it are kept. */
const PERMISSIONS = { none: ['Invalid'], Bind: ['Bind'], Dial: ['Dial'], both: ['Bind', 'Dial'] } as const

/**
 * Makes the members of services that depend on the caller (or the identity in whose place it looks): its rights, the posture
 * queries before them, and the configs that it asked for, now or when it authenticated.
 */
async function serviceMembers(
  context: EngineContext,
  tx: ReadTransaction,
  call: Call,
  records: readonly RecordOf<typeof services>[],
): Promise<readonly Detail[]> {
  const { texts } = context
  const caller = knownCaller(call)
  // Deployed controllers look for configs in the list of services alone.
  const noConfig = context.settings.profile.showsEmptyAsDeployed && call.serviceView === undefined ? null : NO_CONFIGS
  if (caller === undefined) {
    return records.map(() => ({ config: noConfig, permissions: ['Invalid'], postureQueries: [] }))
  }
  const identityId = call.serviceView?.identityId ?? caller.identity.id
  const wanted = call.serviceView?.configTypes ?? caller.apiSession.configTypes
  const configs = await configMaps(tx, records, identityId, wanted)
  const apiSessionId = caller.apiSession.id
  const pairs = records.map(({ id: serviceId }) => ({ identityId, serviceId, apiSessionId }))
  const facts = await factsFor(context, tx, pairs)
  const now = context.clock.now()
  const hasChecks = (await context.access.at(tx)).hasAny('posture-checks')
  // Services that the same policies grant share their facts.
  const members = new Map([...new Set(facts)].map((one) => [one, accessMembers(texts, one, hasChecks, now)]))
  return records.map((_, position) => {
    const known = facts[position]
    const access = (known && members.get(known)) ?? unguarded(texts, PERMISSIONS.none)
    const config = configs[position] ?? NO_CONFIGS
    return withConfigs(texts, access, Object.keys(config).length > 0 ? config : noConfig)
  })
}

/** The members of a service that show the rights of an identity at it. */
interface AccessMembers extends Detail {
  readonly permissions: readonly string[]
  readonly postureQueries: readonly Detail[]
}

/**
 * Members by permissions alone: the same for every service and every identity, so that their texts are the same, too. Old SDKs take
 * "no entry" for failing: where no posture check exists, each permission has one passing entry.
 */
function unguarded(texts: WireTexts, permissions: readonly string[]): AccessMembers {
  return texts.made('unguarded', permissions, () => ({
    permissions,
    postureQueries: texts.keep(permissions.map(noPostureQueries)),
  }))
}

function accessMembers(texts: WireTexts, facts: LoadedFacts, hasChecks: boolean, now: number): AccessMembers {
  const permissions = permissionsOf(facts, now)
  if (!hasChecks || facts.grants.length === 0) return unguarded(texts, permissions)
  return { permissions, postureQueries: texts.keep(facts.grants.map((grant) => grantQueries(grant, facts, now))) }
}

function withConfigs(texts: WireTexts, access: AccessMembers, config: ConfigMap | null): Detail {
  if (config !== NO_CONFIGS) return { config, ...access }
  return texts.made('without configs', access, () => texts.keep({ config, ...access }))
}

/** Permissions follow from the grants of policies, whatever the posture. */
function permissionsOf(facts: LoadedFacts, now: number): readonly string[] {
  const aside = { ...facts, posture: undefined }
  const may = (type: AccessType) => decideAccess(type, aside, now).policies.length > 0
  if (may('Bind')) return may('Dial') ? PERMISSIONS.both : PERMISSIONS.Bind
  return may('Dial') ? PERMISSIONS.Dial : PERMISSIONS.none
}

/** Lists the posture queries that an identity's endpoint must fulfil before it may use a grant, and whether it does. */
function grantQueries(grant: CheckedGrant, facts: LoadedFacts, now: number): Detail {
  const { data, apiSessionId } = facts.posture ?? NOT_REPORTED
  const queries = grant.checkRecords.map(({ check, record }) => {
    const { timeoutAt, ...query } = postureQuery(check, data, apiSessionId, now)
    return {
      _links: linksOf(postureChecks, record),
      createdAt: instant(record.createdAt),
      id: record.id,
      tags: record.tags,
      updatedAt: instant(queryUpdatedAt(check, data, apiSessionId, record.updatedAt)),
      ...query,
      ...(timeoutAt === undefined ? {} : { timeoutAt: instant(timeoutAt) }),
    }
  })
  const isPassing = carries(grant, facts, now)
  return { isPassing, policyId: grant.policyId, policyType: grant.type, postureQueries: queries }
}

const NOT_REPORTED: SessionReport = { data: emptyPostureData(), apiSessionId: '' }

function noPostureQueries(permission: string): Detail {
  const policyId = `dummy ${permission.toLowerCase()} policy: no posture checks defined`
  return { isPassing: true, policyId, policyType: permission, postureQueries: [] }
}
