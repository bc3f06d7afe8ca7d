import type { PlayedDirectory } from './played-directory.ts'
import type { Process } from './two-processes.ts'

// biome-ignore lint/suspicious/noExplicitAny: facts are read as anybody reads them, who knows JSON alone.
type Entity = Record<string, any>
type Entities = ReadonlyMap<string, Entity>

const KINDS = [
  'identities',
  'authenticators',
  'auth-policies',
  'cas',
  'external-jwt-signers',
  'service-policies',
  'services',
  'edge-router-policies',
  'service-edge-router-policies',
  'edge-routers',
] as const

/** Facts that an administrator sees of a network at an instant. */
export interface Facts {
  readonly now: number
  readonly of: Readonly<Record<(typeof KINDS)[number], Entities>>
  /** Ids of the third parties that may let in who has rights. */
  readonly trusted: ReadonlySet<string>
  /** Ids of the identities that the directory of the host disables at their next logins. */
  readonly shutOut: ReadonlySet<string>
}

/** A network as it is looked at. */
interface Seen {
  readonly two: { now(): number }
  readonly directory: PlayedDirectory
}

export async function readFacts(at: Process, { two, directory }: Seen): Promise<Facts> {
  const of: Partial<Record<(typeof KINDS)[number], Entities>> = {}
  for (const kind of KINDS) of[kind] = byId(await at.told('GET', `/${kind}?limit=500`))
  const anchors: readonly Entity[] = await at.told('GET', '/portcullis/v1/trust-anchors')
  const trusted = anchors.filter(({ mayAuthenticateAdmins }) => mayAuthenticateAdmins).map(({ id }) => String(id))
  return { now: two.now(), of: of as Facts['of'], trusted: new Set(trusted), shutOut: directory.disabled }
}

function byId(entities: readonly Entity[]): Entities {
  return new Map(entities.map((entity) => [String(entity.id), entity]))
}

/** Whether roles select an entity: each has to, or one is enough. */
function selects(roles: readonly string[], semantic: string, entity: Entity): boolean {
  const { id, roleAttributes = [], directoryAttributes = [], claimAttributes = [], grantedAttributes = [] } = entity
  const attributes: readonly string[] = [
    ...roleAttributes,
    ...directoryAttributes,
    ...claimAttributes,
    ...grantedAttributes,
  ]
  const named = roles.filter((role) => role.startsWith('@'))
  const hits = (role: string) =>
    role === '#all' || (role.startsWith('@') ? role.slice(1) === id : attributes.includes(role.slice(1)))
  if (semantic === 'AnyOf') return roles.some(hits)
  // An entity that is named is selected, whatever the attributes say.
  if (named.some(hits)) return true
  const others = roles.filter((role) => role.startsWith('#'))
  return others.length > 0 && others.every(hits)
}

/** Whether an identity may use a service, and there are routers where both may meet. */
export function mayUse(facts: Facts, identityId: string, serviceId: string, type: 'Dial' | 'Bind'): boolean {
  const { of } = facts
  const identity = of.identities.get(identityId)
  const service = of.services.get(serviceId)
  if (identity === undefined || service === undefined || !isGranted(facts, identityId, serviceId, type)) return false
  return [...of['edge-routers'].keys()].some((id) => mayMeetAt(facts, identity, service, id))
}

/** Whether a policy of a type relates an identity to a service. */
export function isGranted({ of, now }: Facts, identityId: string, serviceId: string, type: 'Dial' | 'Bind'): boolean {
  const identity = of.identities.get(identityId)
  const service = of.services.get(serviceId)
  if (identity === undefined || service === undefined) return false
  return [...of['service-policies'].values()].some(
    (policy) =>
      policy.type === type &&
      isWithin(policy, now) &&
      selects(policy.identityRoles, policy.semantic, identity) &&
      selects(policy.serviceRoles, policy.semantic, service),
  )
}

/** Whether an instant is within the term of a policy, if it has one. */
function isWithin({ startsAt, until }: Entity, now: number): boolean {
  return (startsAt === undefined || Date.parse(startsAt) <= now) && (until === undefined || now < Date.parse(until))
}

/** Whether an identity and a service, if they are there, may both use a router. */
export function mayMeet(facts: Facts, identityId: string, serviceId: string, routerId: string): boolean {
  const [identity, service] = [facts.of.identities.get(identityId), facts.of.services.get(serviceId)]
  return identity !== undefined && service !== undefined && mayMeetAt(facts, identity, service, routerId)
}

/** Whether an identity and a service may both use a router. */
export function mayMeetAt(facts: Facts, identity: Entity, service: Entity, routerId: string): boolean {
  const { of } = facts
  const router = of['edge-routers'].get(routerId)
  if (router === undefined) return false
  return (
    isNear(facts, identity, router) &&
    [...of['service-edge-router-policies'].values()].some(
      ({ serviceRoles, edgeRouterRoles, semantic }) =>
        selects(serviceRoles, semantic, service) && selects(edgeRouterRoles, semantic, router),
    )
  )
}

/** Whether a policy gives an identity a router. */
export function isNear({ of }: Facts, identity: Entity | undefined, router: Entity): boolean {
  if (identity === undefined) return false
  return [...of['edge-router-policies'].values()].some(
    ({ identityRoles, edgeRouterRoles, semantic }) =>
      selects(identityRoles, semantic, identity) && selects(edgeRouterRoles, semantic, router),
  )
}
