import { type RoleSelector, readRoles, selects } from '../../../base/roles.ts'
import { evaluateCheck } from '../posture/rules/index.ts'
import type {
  GrantingPolicy,
  Invariant,
  PolicySet,
  PresentCheck,
  PresentEntity,
  Violation,
  Witness,
} from './invariant.ts'

type ById = ReadonlyMap<string, PresentEntity>

/**
 * Decides whether an invariant can be broken, by existing identities and services (and, with `via`, edge routers) or by possible ones with
 * any role attributes. The decision is exact: undefined means that no violation is possible. Otherwise it answers the smallest violation
 * with the policies that allow it.
 *
 * It needs no solver. A further role attribute never takes an entity out of a role list, so only the smallest sets of attributes for each
 * list need to be tried. The time grows with the number of service policies; with `via`, with the product of service policies, edge router
 * policies and service edge router policies.
 *
 * @example
 * const contractors = { roles: ['#contractor'], semantic: 'AnyOf' } as const
 * const confidential = { roles: ['#confidential'], semantic: 'AnyOf' } as const
 * const violation = findViolation({ identity: contractors, type: 'Dial', service: confidential }, policies)
 * if (violation !== undefined) console.log(violation.policies, violation.identity.roleAttributes)
 */
export function findViolation(invariant: Invariant, policies: PolicySet): Violation | undefined {
  const identities = byId(policies.identities)
  const services = byId(policies.services)
  const routes = routesOf(invariant, policies)
  let least: Violation | undefined
  for (const policy of grantingPolicies(invariant, policies)) {
    const found = leastBy(policy, routes, invariant, identities, services)
    if (found !== undefined && (least === undefined || found.size < least.size)) least = found
  }
  return least
}

function byId(entities: readonly PresentEntity[]): ById {
  return new Map(entities.map((entity) => [entity.id, entity]))
}

/** The smallest violation by one service policy, over all paths to an edge router. */
function leastBy(
  policy: GrantingPolicy,
  routes: readonly Route[],
  invariant: Invariant,
  identities: ById,
  services: ById,
): Violation | undefined {
  const identityOf = remembered((by: RoleSelector | undefined) =>
    smallest(identityDemand(invariant, policy, by), identities),
  )
  const serviceOf = remembered((by: RoleSelector | undefined) =>
    smallest(serviceDemand(invariant, policy, by), services),
  )
  let least: Omit<Violation, 'present'> | undefined
  let taken: Route | undefined
  for (const route of routes) {
    const identity = identityOf(route.identityList)
    const service = identity && serviceOf(route.serviceList)
    if (identity === undefined || service === undefined) continue
    const size = [identity, service, route.edgeRouter].reduce((sum, one) => sum + (one?.roleAttributes.length ?? 0), 0)
    if (least !== undefined && least.size <= size) continue
    const allowing = [policy, ...route.policies].map(({ id, name }) => ({ id, name }))
    least = {
      identity: shown(identity),
      service: shown(service),
      edgeRouter: route.edgeRouter,
      policies: allowing,
      size,
    }
    taken = route
  }
  if (least === undefined) return undefined
  const identity = find(identities, identityDemand(invariant, policy, taken?.identityList))
  const service = find(services, serviceDemand(invariant, policy, taken?.serviceList))
  return { ...least, present: identity && service && { identity, service } }
}

function identityDemand(
  { identity, unless }: Invariant,
  policy: GrantingPolicy,
  route: RoleSelector | undefined,
): Demand {
  const byPolicy = { roles: policy.identityRoles, semantic: policy.semantic }
  return { selectedBy: [identity, byPolicy, ...(route ? [route] : [])], exceptedBy: unless?.identity }
}

function serviceDemand(
  { service, unless }: Invariant,
  policy: GrantingPolicy,
  route: RoleSelector | undefined,
): Demand {
  const byPolicy = { roles: policy.serviceRoles, semantic: policy.semantic }
  return { selectedBy: [service, byPolicy, ...(route ? [route] : [])], exceptedBy: unless?.service }
}

function find(entities: ById, demand: Demand): PresentEntity | undefined {
  for (const entity of entities.values()) if (fulfils(demand, entity)) return entity
  return undefined
}

function shown({ id, name, roleAttributes }: Witness): Witness {
  return { id, name, roleAttributes }
}

/** Caches results by key: many paths to edge routers begin with the same list. */
function remembered<K, V>(compute: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return (key) => {
    if (known.has(key)) return known.get(key) as V
    const value = compute(key)
    known.set(key, value)
    return value
  }
}

/** The service policies that may break an invariant: of its type, and not prevented by posture. */
function grantingPolicies(invariant: Invariant, policies: PolicySet): readonly GrantingPolicy[] {
  return policies.servicePolicies.filter((policy) => {
    if (policy.type !== invariant.type) return false
    const checks = checksOf(policy, policies.postureChecks)
    return maySucceed(invariant, checks) && !isExceptedByChecks(invariant, checks, policies.postureChecks)
  })
}

function checksOf({ postureCheckRoles, semantic }: GrantingPolicy, checks: readonly PresentCheck[]) {
  return checks.filter((check) => selects({ roles: postureCheckRoles, semantic }, check))
}

/** Reports whether all checks pass in the given state. Without a state, some endpoint is assumed to pass them. */
function maySucceed({ posture }: Invariant, checks: readonly PresentCheck[]): boolean {
  if (posture === undefined) return true
  return checks.every(({ check }) => evaluateCheck(check, posture.data, posture.apiSessionId, posture.at))
}

function isExceptedByChecks(
  { unless }: Invariant,
  demanded: readonly PresentCheck[],
  all: readonly PresentCheck[],
): boolean {
  const entries = unless?.posture ?? []
  const isDemanded = (role: string) => {
    const named = all.filter((check) => selects({ roles: [role], semantic: 'AnyOf' }, check))
    return named.length > 0 && named.every((check) => demanded.includes(check))
  }
  return entries.length > 0 && entries.every(isDemanded)
}

/** A path to an edge router of `via`: the lists by which an identity and a service may use it. */
export interface Route {
  readonly identityList: RoleSelector | undefined
  readonly serviceList: RoleSelector | undefined
  /** The edge router with the fewest role attributes on the path. */
  readonly edgeRouter: Witness | undefined
  readonly policies: readonly { readonly id: string; readonly name: string }[]
}

/** Without `via`, edge routers do not matter: a single path without demands. */
const ANYWAY: Route = { identityList: undefined, serviceList: undefined, edgeRouter: undefined, policies: [] }

/** The paths to an edge router of `via`: each edge router policy with each service edge router policy that shares a router with it. */
function routesOf({ via }: Invariant, policies: PolicySet): readonly Route[] {
  if (via === undefined) return [ANYWAY]
  const routers = new Map(policies.edgeRouters.map((router) => [router.id, router]))
  const routes: Route[] = []
  for (const ofIdentities of policies.edgeRouterPolicies) {
    const identityList = { roles: ofIdentities.identityRoles, semantic: ofIdentities.semantic }
    for (const ofServices of policies.serviceEdgeRouterPolicies) {
      const selectedBy = [
        via,
        { roles: ofIdentities.edgeRouterRoles, semantic: ofIdentities.semantic },
        { roles: ofServices.edgeRouterRoles, semantic: ofServices.semantic },
      ]
      const router = smallest({ selectedBy, exceptedBy: undefined }, routers)
      if (router === undefined) continue
      const { id, name, roleAttributes } = router
      const serviceList = { roles: ofServices.serviceRoles, semantic: ofServices.semantic }
      const edgeRouter = { id, name, roleAttributes }
      routes.push({ identityList, serviceList, edgeRouter, policies: [ofIdentities, ofServices] })
    }
  }
  return routes
}

/** The demand on an entity that would break an invariant: each of the lists selects it, and no exception does. */
export interface Demand {
  readonly selectedBy: readonly RoleSelector[]
  readonly exceptedBy: RoleSelector | undefined
}

/** Reports whether an entity with these role attributes fulfils a demand; `id` is empty for a possible entity. */
function fulfils({ selectedBy, exceptedBy }: Demand, entity: Pick<PresentEntity, 'id' | 'roleAttributes'>): boolean {
  return !(exceptedBy && selects(exceptedBy, entity)) && selectedBy.every((selector) => selects(selector, entity))
}

/**
 * The existing or possible entity with the fewest role attributes that fulfils a demand; undefined when none can.
 *
 * An existing entity has fixed attributes. A possible entity may have any: more attributes only make more lists and exceptions select it,
 * so the smallest sets of attributes that the lists demand suffice. Existing entities that no list names by `@id` are covered by possible
 * entities.
 */
function smallest(demand: Demand, present: ReadonlyMap<string, PresentEntity>): Witness | undefined {
  const attributes = fewestAttributes(demand)
  const imagined = attributes && { id: undefined, name: undefined, roleAttributes: attributes }
  const named = new Set(demand.selectedBy.flatMap(({ roles }) => [...readRoles(roles).ids]))
  const candidates = [...named].flatMap((id) => present.get(id) ?? []).filter((entity) => fulfils(demand, entity))
  return candidates.reduce<Witness | undefined>(
    (least, entity) => (isSmaller(entity, least) ? entity : least),
    imagined,
  )
}

/** Among equally small witnesses, an existing entity is more informative. */
function isSmaller(one: Witness, other: Witness | undefined): boolean {
  if (other === undefined) return true
  const difference = one.roleAttributes.length - other.roleAttributes.length
  return difference < 0 || (difference === 0 && other.id === undefined)
}

/** The fewest role attributes that fulfil a demand without an `@id`, sorted; undefined when no attributes do. */
function fewestAttributes(demand: Demand): readonly string[] | undefined {
  const lists = demand.selectedBy.map(leastChoices)
  // Attributes that several lists accept come first: an early small answer prunes the rest of the search.
  const popularity = new Map<string, number>()
  for (const attribute of lists.flat(2)) popularity.set(attribute, (popularity.get(attribute) ?? 0) + 1)
  const weight = (choice: readonly string[]) => choice.reduce((sum, one) => sum + (popularity.get(one) ?? 0), 0)
  const ordered = lists.map((choices) => choices.toSorted((a, b) => weight(b) - weight(a)))
  let least: ReadonlySet<string> | undefined
  const search = (depth: number, held: ReadonlySet<string>): void => {
    if (least !== undefined && held.size >= least.size) return
    if (isExcepted(demand, held)) return
    const choices = ordered[depth]
    if (choices === undefined) least = held
    for (const choice of choices ?? []) search(depth + 1, new Set([...held, ...choice]))
  }
  search(0, new Set())
  return least && [...least].sort()
}

function isExcepted({ exceptedBy }: Demand, held: ReadonlySet<string>): boolean {
  return exceptedBy !== undefined && selects(exceptedBy, { id: '', roleAttributes: [...held] })
}

/** The smallest sets of role attributes with which a list selects an entity; empty for a list of only `@id`. */
function leastChoices({ roles, semantic }: RoleSelector): readonly (readonly string[])[] {
  const { all, attributes } = readRoles(roles)
  if (all) return [[]]
  if (attributes.length === 0) return []
  return semantic === 'AllOf' ? [attributes] : attributes.map((attribute) => [attribute])
}
