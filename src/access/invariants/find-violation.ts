import type { RoleSelector } from '../roles.ts'
import { type Demand, fulfils, smallest } from './demand.ts'
import { grantingPolicies } from './granting.ts'
import type { GrantingPolicy, Invariant, PolicySet, PresentEntity, Violation, Witness } from './invariant.ts'
import { type Route, routesOf } from './routes.ts'

type ById = ReadonlyMap<string, PresentEntity>

/**
 * Decides whether an invariant can be broken: by any identity and any service (and, with `via`, any edge router) that are
 * there with the role attributes that they have, or that could come to be with whatever role attributes. Exact: it answers
 * undefined only when there is no way, and otherwise the smallest one with the policies that allow it.
 *
 * It needs no solver. What a role list selects only grows with the role attributes of an entity, so only the least sets of
 * attributes that each list asks for have to be looked at. The time grows with the number of service policies, and with
 * `via` with that times the edge router policies times the service edge router policies.
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

/** The smallest violation by one service policy, over all ways to an edge router. */
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

/** Many ways to edge routers begin with the same list. */
function remembered<K, V>(compute: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return (key) => {
    if (known.has(key)) return known.get(key) as V
    const value = compute(key)
    known.set(key, value)
    return value
  }
}
