import { isDeepStrictEqual } from 'node:util'
import type { ModelDifference } from '../../../../src/control-channel.ts'
import type { routerSide } from '../../fabric/index.ts'

type WireEvent = routerSide.WireEvent

/** The members of an event that hold an entity, by the name under which differences are reported. */
const KINDS = {
  identity: 'identity',
  service: 'service',
  servicePolicy: 'service-policy',
  postureCheck: 'posture-check',
  publicKey: 'public-key',
  revocation: 'revocations',
  configType: 'config-type',
  config: 'config',
  router: 'router',
} as const

export type Kind = keyof typeof KINDS
export type EntityOf<K extends Kind> = NonNullable<WireEvent[K]>
/** Entities by their ids, and policies' relations by policy and side. */
type Entities = Map<string, unknown>
type Side = 'services' | 'identities' | 'posture-checks'

/** The side of policies that selects entities of a kind. */
const SIDES: ReadonlyMap<Kind, Side> = new Map([
  ['identity', 'identities'],
  ['service', 'services'],
  ['postureCheck', 'posture-checks'],
])
const KIND_NAMES = Object.keys(KINDS).filter((name): name is Kind => name in KINDS)
const NONE: ReadonlySet<string> = new Set()

/** The entities of a data model, and how its policies are related to them. Each event changes one of them. */
export class ModelEntities {
  readonly #entities = new Map<Kind, Entities>()
  readonly #relations = new Map<string, Set<string>>()
  /** The policies that name an identity, and its id, which its relations share: a text for each would take most of the memory. */
  readonly #namings = new Map<string, { readonly id: string; readonly policies: Set<string> }>()
  readonly #serviceIds = new Map<string, string>()

  get<K extends Kind>(kind: K, id: string): EntityOf<K> | undefined {
    // Entities are stored under the kind of the member that held them.
    return this.#entities.get(kind)?.get(id) as EntityOf<K> | undefined
  }

  /** The service of a name. */
  serviceId(name: string): string | undefined {
    return this.#serviceIds.get(name)
  }

  /** The policies that name an identity. */
  policiesOf(identityId: string): ReadonlySet<string> {
    return this.#namings.get(identityId)?.policies ?? NONE
  }

  /** The entities that a policy selects. */
  related(policyId: string, side: Side): ReadonlySet<string> {
    return this.#relations.get(`${policyId} ${side}`) ?? NONE
  }

  apply(event: WireEvent): void {
    const { servicePolicyChange: change } = event
    if (change !== undefined) {
      const key = `${change.policyId} ${change.relatedEntityType}`
      const related = this.#relations.get(key) ?? new Set()
      const naming = namingPolicy(key)
      for (const id of change.relatedEntityIds) {
        if (change.add) this.#relate(naming, related, id)
        else this.#separate(naming, related, id)
      }
      if (related.size > 0) this.#relations.set(key, related)
      else this.#relations.delete(key)
      return
    }
    for (const kind of KIND_NAMES) {
      const entity = event[kind]
      if (entity === undefined) continue
      const id = 'kid' in entity ? entity.kid : entity.id
      if (kind === 'service') this.#name(id, event)
      if (event.action !== 'delete') {
        const entities = this.#entities.get(kind) ?? new Map()
        entities.set(id, entity)
        this.#entities.set(kind, entities)
      } else this.#delete(kind, id)
    }
  }

  /** The differences from other entities, one after the other; undefined for each that is alike. */
  *differencesFrom(other: ModelEntities): Generator<ModelDifference | undefined> {
    const found = (entityType: string, entityId: string, kind: ModelDifference['kind']) => {
      return { entityType, entityId, kind, detail: `entity ${kind}` }
    }
    for (const kind of KIND_NAMES) {
      const own: Entities = this.#entities.get(kind) ?? new Map()
      const theirs: Entities = other.#entities.get(kind) ?? new Map()
      for (const [id, entity] of theirs) {
        if (!own.has(id)) yield found(KINDS[kind], id, 'removed')
        else yield isDeepStrictEqual(own.get(id), entity) ? undefined : found(KINDS[kind], id, 'modified')
      }
      for (const id of own.keys()) yield theirs.has(id) ? undefined : found(KINDS[kind], id, 'added')
    }
    for (const key of new Set([...this.#relations.keys(), ...other.#relations.keys()])) {
      const [own, theirs] = [this.#relations.get(key) ?? NONE, other.#relations.get(key) ?? NONE]
      const isSame = own.size === theirs.size && [...own].every((id) => theirs.has(id))
      yield isSame ? undefined : found('service-policy', key.slice(0, key.lastIndexOf(' ')), 'modified')
    }
  }

  /** A service that is changed or deleted gives up its name, which another service may have by then. */
  #name(id: string, { service, action }: WireEvent): void {
    const before = this.get('service', id)?.name
    if (before !== undefined && this.#serviceIds.get(before) === id) this.#serviceIds.delete(before)
    if (service !== undefined && action !== 'delete') this.#serviceIds.set(service.name, id)
  }

  #delete(kind: Kind, id: string): void {
    this.#entities.get(kind)?.delete(id)
    // Controllers do not report the relations of a deleted entity.
    const side = SIDES.get(kind)
    for (const [key, related] of this.#relations) {
      const naming = namingPolicy(key)
      if (kind === 'servicePolicy' && key.startsWith(`${id} `)) {
        for (const relatedId of [...related]) this.#separate(naming, related, relatedId)
      } else if (side !== undefined && key.endsWith(` ${side}`)) this.#separate(naming, related, id)
      if (related.size === 0) this.#relations.delete(key)
    }
  }

  /** `naming` is the policy of a relation to identities. */
  #relate(naming: string | undefined, related: Set<string>, id: string): void {
    if (naming === undefined) {
      related.add(id)
      return
    }
    const known = this.#namings.get(id) ?? { id, policies: new Set() }
    related.add(known.id)
    known.policies.add(naming)
    this.#namings.set(known.id, known)
  }

  #separate(naming: string | undefined, related: Set<string>, id: string): void {
    related.delete(id)
    const policies = this.#namings.get(id)?.policies
    if (naming !== undefined && policies?.delete(naming) && policies.size === 0) this.#namings.delete(id)
  }
}

/** The policy of a relation to identities; undefined for other relations. */
function namingPolicy(key: string): string | undefined {
  const [policyId, side] = key.split(' ')
  return side === 'identities' ? policyId : undefined
}
