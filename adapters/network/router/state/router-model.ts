import { X509Certificate } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ModelDifference, ToRouter } from '../../../../src/control-channel.ts'
import type { CheckedPolicy, PostureCheck } from '../../../../src/policy.ts'
import { routerSide } from '../../fabric/index.ts'
import { type Announced, type AnnouncedSession, RouterSessions } from './router-sessions.ts'

type WireEvent = ReturnType<typeof routerSide.StateEvents.decode>['events'][number]
type ModelState = Extract<ToRouter, { type: 'model-state' }>
type ModelChanges = Extract<ToRouter, { type: 'model-changes' }>

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

type Kind = keyof typeof KINDS
type EntityOf<K extends Kind> = NonNullable<WireEvent[K]>
/** Entities by their ids, and policies' relations by policy and side. */
type Entities = Map<string, unknown>

/** The side of policies that selects entities of a kind. */
const SIDES: ReadonlyMap<Kind, string> = new Map([
  ['identity', 'identities'],
  ['service', 'services'],
  ['postureCheck', 'posture-checks'],
])
const KIND_NAMES = Object.keys(KINDS).filter((name): name is Kind => name in KINDS)
/** The most differences that are reported: the operator can compare again. */
const MOST_DIFFERENCES = 1000

/** Entities that decide what an identity may use, beside the relations of policies to identities. */
const OF_RIGHTS: ReadonlySet<Kind> = new Set(['service', 'servicePolicy', 'postureCheck', 'config', 'configType'])

/** The changed ids; `everything` after a new whole model. */
type Changed = ReadonlySet<string> | 'everything'

/** The part of the model that a change concerns. */
export interface ModelChange {
  /** Sessions, identities and tokens that may be over: removed, disabled or revoked. */
  readonly ended: Changed
  /** Identities whose rights may have changed. */
  readonly rights: Changed
}

const NOTHING: ModelChange = { ended: new Set(), rights: new Set() }

/** The policies of an identity, with the services that they grant and the posture checks of these. */
export type ReachOf = readonly {
  readonly id: string
  readonly type: 'Dial' | 'Bind'
  readonly serviceIds: readonly string[]
  readonly checks: readonly PostureCheck[]
}[]

/**
 * The facts that an edge router has of its network: the data model that controllers send, and the sessions that they announced. It only
 * answers facts; decisions are made elsewhere.
 */
export class RouterModel {
  #entities = new Map<Kind, Entities>()
  #relations = new Map<string, Set<string>>()
  /** The policies that name an identity. */
  #policiesOf = new Map<string, Set<string>>()
  #index = 0
  #timelineId = ''
  readonly #sessions = new RouterSessions()
  readonly #keys = new Map<string, X509Certificate>()
  readonly #serviceIds = new Map<string, string>()
  #onChange: (change: ModelChange) => void = () => undefined

  /** The listener is called whenever a client may have to be judged again. */
  onChange(listener: (change: ModelChange) => void): void {
    this.#onChange = listener
  }

  /** The index and the timeline of the router's model, for its next subscription. */
  get position(): { readonly currentIndex: number; readonly timelineId: string } {
    return { currentIndex: this.#index, timelineId: this.#timelineId }
  }

  get<K extends Kind>(kind: K, id: string): EntityOf<K> | undefined {
    // Entities are stored under the kind of the member that held them.
    return this.#entities.get(kind)?.get(id) as EntityOf<K> | undefined
  }

  /** The service of a name. */
  serviceId(name: string): string | undefined {
    return this.#serviceIds.get(name)
  }

  /** The certificate whose key signs tokens of a `kid`. */
  signingKey(kid: string): X509Certificate | undefined {
    const known = this.#keys.get(kid)
    if (known !== undefined) return known
    const entity = this.get('publicKey', kid)
    if (entity === undefined || !entity.usages.includes('jwt')) return undefined
    const certificate = new X509Certificate(entity.data)
    this.#keys.set(kid, certificate)
    return certificate
  }

  /** The policies that let an identity dial or host a service, with the posture checks that they require. */
  grantsOf(identityId: string, serviceId: string, type: 'Dial' | 'Bind'): readonly CheckedPolicy[] {
    const grants: CheckedPolicy[] = []
    for (const id of this.#policiesOf.get(identityId) ?? []) {
      const policy = this.get('servicePolicy', id)
      if (policy?.policyType !== type || this.#relations.get(`${id} services`)?.has(serviceId) !== true) continue
      grants.push({ id, name: policy.name, checks: this.#checksOf(id) })
    }
    return grants
  }

  /** Everything that an identity may dial or host, by its policies. */
  reachOf(identityId: string): ReachOf {
    return [...(this.#policiesOf.get(identityId) ?? [])].sort().flatMap((id) => {
      const type = this.get('servicePolicy', id)?.policyType
      if (type !== 'Dial' && type !== 'Bind') return []
      const serviceIds = [...(this.#relations.get(`${id} services`) ?? [])]
      return [{ id, type, serviceIds, checks: this.#checksOf(id) }]
    })
  }

  /** The services that policies of an identity let it use, with the configs that apply to it. */
  servicesOf(identityId: string, reach: ReachOf) {
    const policyIds = new Map<string, string[]>()
    for (const { id, serviceIds } of reach) {
      for (const serviceId of serviceIds) policyIds.set(serviceId, [...(policyIds.get(serviceId) ?? []), id])
    }
    const own = this.get('identity', identityId)?.serviceConfigs
    return [...policyIds].flatMap(([serviceId, ids]) => {
      const service = this.get('service', serviceId)
      if (service === undefined) return []
      const configIds = new Map(service.configs.map((id) => [this.get('config', id)?.typeId ?? '', id]))
      for (const [typeId, id] of own?.get(serviceId)?.configs ?? []) configIds.set(typeId, id)
      const configData = [...configIds.values()].flatMap((id) => {
        const config = this.get('config', id)
        if (config === undefined) return []
        const { typeId, dataJson } = config
        return [{ typeId, typeName: this.get('configType', typeId)?.name ?? '', dataJson }]
      })
      return [{ ...service, policyIds: ids, configData }]
    })
  }

  /** A check that has not arrived yet never passes. */
  #checksOf(policyId: string): CheckedPolicy['checks'] {
    return [...(this.#relations.get(`${policyId} posture-checks`) ?? [])].map((id) =>
      routerSide.postureCheckOf(this.get('postureCheck', id) ?? routerSide.unknownCheck(id)),
    )
  }

  session(token: string): AnnouncedSession | undefined {
    return this.#sessions.get(token)
  }

  /** Takes the whole model in place of the one before. Throws for a malformed one, and the one before stays. */
  takeState(state: ModelState): void {
    const events = state.events.map((part) => routerSide.StateEvents.decode(part).events)
    this.#entities = new Map()
    this.#relations = new Map()
    this.#policiesOf = new Map()
    this.#serviceIds.clear()
    for (const event of events.flat()) this.#apply(event)
    this.#index = state.index
    this.#timelineId = state.timelineId
    this.#keys.clear()
    this.#onChange({ ended: 'everything', rights: 'everything' })
  }

  /** Takes changes; answers false if an earlier change is missing, so that the router must ask for the model. */
  takeChanges(changes: ModelChanges): boolean {
    if (changes.index <= this.#index) return true
    if (changes.previousIndex > this.#index) return false
    const events = routerSide.ChangeSetEvents.decode(changes.events).changes
    for (const event of events) this.#apply(event)
    this.#index = changes.index
    this.#keys.clear()
    this.#onChange(concernOf(events))
    return true
  }

  takeSessions(announced: Announced): void {
    const ended = this.#sessions.take(announced)
    if (ended.size > 0) this.#onChange({ ...NOTHING, ended })
  }

  updateSessions(sessions: readonly AnnouncedSession[]): void {
    this.#sessions.update(sessions)
  }

  removeSessions(tokens: readonly string[], ids: readonly string[]): void {
    this.#onChange({ ...NOTHING, ended: this.#sessions.remove(tokens, ids) })
  }

  /** The differences from a whole model that a controller sent to compare. */
  differencesFrom(parts: readonly Uint8Array[]): readonly ModelDifference[] {
    const other = new RouterModel()
    for (const part of parts) for (const event of routerSide.StateEvents.decode(part).events) other.#apply(event)
    const found: ModelDifference[] = []
    const add = (entityType: string, entityId: string, kind: ModelDifference['kind']) => {
      if (found.length < MOST_DIFFERENCES) found.push({ entityType, entityId, kind, detail: `entity ${kind}` })
    }
    for (const kind of KIND_NAMES) {
      const own = this.#entities.get(kind) ?? new Map()
      const theirs = other.#entities.get(kind) ?? new Map()
      for (const [id, entity] of theirs) {
        if (!own.has(id)) add(KINDS[kind], id, 'removed')
        else if (!isDeepStrictEqual(own.get(id), entity)) add(KINDS[kind], id, 'modified')
      }
      for (const id of own.keys()) if (!theirs.has(id)) add(KINDS[kind], id, 'added')
    }
    for (const key of new Set([...this.#relations.keys(), ...other.#relations.keys()])) {
      const own = this.#relations.get(key) ?? new Set()
      const theirs = other.#relations.get(key) ?? new Set()
      if (!isDeepStrictEqual(own, theirs)) add('service-policy', key.slice(0, key.lastIndexOf(' ')), 'modified')
    }
    return found
  }

  #apply(event: WireEvent): void {
    const { servicePolicyChange: change } = event
    if (change !== undefined) {
      const key = `${change.policyId} ${change.relatedEntityType}`
      const related = this.#relations.get(key) ?? new Set()
      for (const id of change.relatedEntityIds) {
        if (change.add) this.#relate(key, related, id)
        else this.#separate(key, related, id)
      }
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
      if (kind === 'servicePolicy' && key.startsWith(`${id} `)) {
        for (const relatedId of [...related]) this.#separate(key, related, relatedId)
      } else if (side !== undefined && key.endsWith(` ${side}`)) this.#separate(key, related, id)
    }
  }

  #relate(key: string, related: Set<string>, id: string): void {
    this.#relations.set(key, related.add(id))
    const policyId = policyNaming(key)
    if (policyId !== undefined) this.#policiesOf.set(id, (this.#policiesOf.get(id) ?? new Set()).add(policyId))
  }

  #separate(key: string, related: Set<string>, id: string): void {
    related.delete(id)
    const policyId = policyNaming(key)
    const policies = this.#policiesOf.get(id)
    if (policyId !== undefined && policies?.delete(policyId) && policies.size === 0) this.#policiesOf.delete(id)
    if (related.size === 0) this.#relations.delete(key)
  }
}

/** The policy of a relation to identities; undefined for other relations. */
function policyNaming(key: string): string | undefined {
  const [policyId, side] = key.split(' ')
  return side === 'identities' ? policyId : undefined
}

/** The sessions and identities that changes of the model concern. */
function concernOf(events: readonly WireEvent[]): ModelChange {
  const ended = new Set<string>()
  const rights = new Set<string>()
  let concernsAll = false
  for (const event of events) {
    const { identity, revocation, servicePolicyChange: change } = event
    if (identity !== undefined) {
      ended.add(identity.id)
      // Its own configs may have changed.
      rights.add(identity.id)
    }
    if (revocation !== undefined) ended.add(revocation.id)
    if (change?.relatedEntityType === 'identities') for (const id of change.relatedEntityIds) rights.add(id)
    else if (change !== undefined) concernsAll = true
    for (const kind of OF_RIGHTS) if (event[kind] !== undefined) concernsAll = true
  }
  return { ended, rights: concernsAll ? 'everything' : rights }
}
