import { X509Certificate } from 'node:crypto'
import { Gate } from '../../../../src/concurrency/gate.ts'
import type { LoopTurns } from '../../../../src/concurrency/loop-turns.ts'
import type { ModelDifference, ToRouter } from '../../../../src/control-channel.ts'
import type { CheckedPolicy, PostureCheck } from '../../../../src/policy.ts'
import { routerSide } from '../../fabric/index.ts'
import { type EntityOf, type Kind, ModelEntities } from './held-entities.ts'
import { type Announced, type AnnouncedSession, RouterSessions } from './router-sessions.ts'

type WireEvent = routerSide.WireEvent
type ModelState = Extract<ToRouter, { type: 'model-state' }>
type ModelChanges = Extract<ToRouter, { type: 'model-changes' }>

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
 * answers facts; decisions are made elsewhere. Models and changes are taken one after the other, and a large one in several turns of the
 * event loop.
 */
export class RouterModel {
  #entities = new ModelEntities()
  #index = 0
  #timelineId = ''
  readonly #sessions = new RouterSessions()
  readonly #keys = new Map<string, X509Certificate>()
  readonly #gate = new Gate(1)
  readonly #turns: Pick<LoopTurns, 'begin'>
  #onChange: (change: ModelChange) => void = () => undefined

  constructor(turns: Pick<LoopTurns, 'begin'>) {
    this.#turns = turns
  }

  /** The listener is called whenever a client may have to be judged again. */
  onChange(listener: (change: ModelChange) => void): void {
    this.#onChange = listener
  }

  /** The index and the timeline of the router's model, for its next subscription. */
  get position(): { readonly currentIndex: number; readonly timelineId: string } {
    return { currentIndex: this.#index, timelineId: this.#timelineId }
  }

  get<K extends Kind>(kind: K, id: string): EntityOf<K> | undefined {
    return this.#entities.get(kind, id)
  }

  /** The service of a name. */
  serviceId(name: string): string | undefined {
    return this.#entities.serviceId(name)
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
    for (const id of this.#entities.policiesOf(identityId)) {
      const policy = this.get('servicePolicy', id)
      if (policy?.policyType !== type || !this.#entities.related(id, 'services').has(serviceId)) continue
      grants.push({ id, name: policy.name, checks: this.#checksOf(id) })
    }
    return grants
  }

  /** Everything that an identity may dial or host, by its policies. */
  reachOf(identityId: string): ReachOf {
    return [...this.#entities.policiesOf(identityId)].sort().flatMap((id) => {
      const type = this.get('servicePolicy', id)?.policyType
      if (type !== 'Dial' && type !== 'Bind') return []
      const serviceIds = [...this.#entities.related(id, 'services')]
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
    return [...this.#entities.related(policyId, 'posture-checks')].map((id) =>
      routerSide.postureCheckOf(this.get('postureCheck', id) ?? routerSide.unknownCheck(id)),
    )
  }

  session(token: string): AnnouncedSession | undefined {
    return this.#sessions.get(token)
  }

  /** All sessions that are announced. */
  sessions(): Iterable<AnnouncedSession> {
    return this.#sessions.all()
  }

  /** Takes the whole model in place of the one before. Rejects for a malformed one, and the one before stays. */
  takeState({ index, timelineId, events }: ModelState): Promise<void> {
    return this.#gate.run(async () => {
      const entities = await this.#entitiesIn(events)
      this.#entities = entities
      this.#index = index
      this.#timelineId = timelineId
      this.#keys.clear()
      this.#onChange({ ended: 'everything', rights: 'everything' })
    })
  }

  /**
   * Takes changes; answers false if an earlier change is missing, so that the router must ask for the model. Rejects for malformed ones, and
   * nothing is taken.
   */
  takeChanges(changes: ModelChanges): Promise<boolean> {
    return this.#gate.run(async () => {
      if (changes.index <= this.#index) return true
      if (changes.previousIndex > this.#index) return false
      const turn = this.#turns.begin()
      const events: WireEvent[] = []
      for (const event of routerSide.changesIn(changes.events)) {
        events.push(event)
        const wait = turn()
        if (wait !== undefined) await wait
      }
      for (const event of events) {
        this.#entities.apply(event)
        const wait = turn()
        if (wait !== undefined) await wait
      }
      this.#index = changes.index
      this.#keys.clear()
      this.#onChange(concernOf(events))
      return true
    })
  }

  takeSessions(announced: Announced, controllerId: string): void {
    const ended = this.#sessions.take(announced, controllerId)
    if (ended.size > 0) this.#onChange({ ...NOTHING, ended })
  }

  updateSessions(sessions: readonly AnnouncedSession[]): void {
    this.#sessions.update(sessions)
  }

  removeSessions(tokens: readonly string[], ids: readonly string[]): void {
    this.#onChange({ ...NOTHING, ended: this.#sessions.remove(tokens, ids) })
  }

  /** The differences from a whole model that a controller sent to compare. */
  differencesFrom(parts: readonly Uint8Array[]): Promise<readonly ModelDifference[]> {
    return this.#gate.run(async () => {
      const other = await this.#entitiesIn(parts)
      const found: ModelDifference[] = []
      const turn = this.#turns.begin()
      for (const difference of this.#entities.differencesFrom(other)) {
        if (difference !== undefined) found.push(difference)
        if (found.length === MOST_DIFFERENCES) break
        const wait = turn()
        if (wait !== undefined) await wait
      }
      return found
    })
  }

  async #entitiesIn(parts: readonly Uint8Array[]): Promise<ModelEntities> {
    const entities = new ModelEntities()
    const turn = this.#turns.begin()
    for (const part of parts) {
      for (const event of routerSide.stateEventsIn(part)) {
        entities.apply(event)
        const wait = turn()
        if (wait !== undefined) await wait
      }
    }
    return entities
  }
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
