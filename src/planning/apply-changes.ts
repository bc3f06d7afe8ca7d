import {
  type Body,
  kindOfKey,
  linksOf,
  type ModelKey,
  type Network,
  type PlannedChange,
  renameLinks,
  replacement,
  SERVICE_CONFIGS,
  serviceConfigsOf,
} from '../model/index.ts'
import { type NetworkDoor, RefusedRequest } from './network-door.ts'

/** How far the changes are made. */
export interface Progress {
  /** The number of changes that are made, including this change. */
  readonly done: number
  readonly total: number
  readonly change: PlannedChange
}

/** The controller refused a change. The changes before it are made. */
export class ChangeRefused extends Error {
  readonly change: PlannedChange
  /** The member that the controller named; empty without a name. */
  readonly member: string

  constructor(change: PlannedChange, refusal: RefusedRequest) {
    super(`cannot ${change.action} ${change.key} '${change.name}': ${refusal.message}`, { cause: refusal.cause })
    this.name = 'ChangeRefused'
    this.change = change
    this.member = refusal.member
  }
}

/**
 * Makes changes one after the other; `current` is the network that they were planned on. A change that fails rejects with {@link
 * ChangeRefused}. The changes before it stay, and the rest can be planned and made later.
 */
export async function applyChanges(
  door: NetworkDoor,
  current: Network,
  changes: readonly PlannedChange[],
  onProgress: (progress: Progress) => void = () => undefined,
): Promise<void> {
  const work = new Work(door, current)
  const ordered = inOrderOfLinks(changes)
  for (const [position, change] of ordered.entries()) {
    try {
      await work.make(change)
    } catch (error) {
      throw error instanceof RefusedRequest ? new ChangeRefused(change.change, error) : error
    }
    onProgress({ done: position + 1, total: ordered.length, change: change.change })
  }
}

class Work {
  readonly #door: NetworkDoor
  readonly #current: Network
  readonly #created = new Map<string, string>()

  constructor(door: NetworkDoor, current: Network) {
    this.#door = door
    this.#current = current
  }

  async make({ change, body, isCompletion }: OrderedChange): Promise<void> {
    const kind = kindOfKey(change.key)
    const entities = this.#door.entities(kind.resource.name)
    if (change.action === 'delete') return this.#delete(change)
    const { [SERVICE_CONFIGS]: _, ...request } = renameLinks(kind, body, (to, name) => this.#idOf(to, name))
    if (change.action === 'update') {
      await entities.replace(change.id, replacement(kind, request))
    } else if (isCompletion) {
      await entities.replace(this.#idOf(change.key, change.name), replacement(kind, request))
    } else if (change.key === 'identities' && request.type === 'Router') {
      // Its edge router, which was created before it, has made it.
      const { type: _type, isAdmin: _isAdmin, ...changed } = request
      const id = await entities.find(this.#idOf('edgeRouters', change.name))
      await entities.patch(id, changed)
      this.#created.set(`identities ${change.name}`, id)
    } else {
      this.#created.set(`${change.key} ${change.name}`, await entities.create(request))
    }
    if (change.key === 'identities') await this.#giveServiceConfigs(change)
  }

  async #delete(change: PlannedChange & { readonly action: 'delete' }): Promise<void> {
    try {
      await this.#door.entities(kindOfKey(change.key).resource.name).delete(change.id)
    } catch (error) {
      // The entity may be gone already, with the entity that it belonged to: nothing is left to do.
      if (!(error instanceof RefusedRequest) || !error.isAbsent) throw error
    }
  }

  async #giveServiceConfigs(change: PlannedChange & { readonly action: 'create' | 'update' }): Promise<void> {
    const id = this.#idOf('identities', change.name)
    const before = change.action === 'update' ? serviceConfigsOf(this.#bodyOf(change.name)) : []
    const after = serviceConfigsOf(change.body)
    const ids = (pairs: typeof after) =>
      pairs.map(({ service, config }) => ({
        serviceId: this.#idOf('services', service),
        configId: this.#idOf('configs', config),
      }))
    const isIn = (pairs: typeof after) => (pair: (typeof after)[number]) =>
      pairs.some(({ service, config }) => service === pair.service && config === pair.config)
    const [taken, given] = [before.filter((pair) => !isIn(after)(pair)), after.filter((pair) => !isIn(before)(pair))]
    const { serviceConfigs } = this.#door
    if (taken.length > 0) await serviceConfigs.remove(id, ids(taken))
    if (given.length > 0) await serviceConfigs.associate(id, ids(given))
  }

  #bodyOf(identity: string) {
    return this.#current.named('identities', identity)?.body ?? {}
  }

  /** A name that nothing has stays, and the controller refuses it. */
  #idOf(key: ModelKey, name: string): string {
    return this.#created.get(`${key} ${name}`) ?? this.#current.named(key, name)?.id ?? name
  }
}

/** A change with the body to send for it, in names. */
export interface OrderedChange {
  readonly change: PlannedChange
  readonly body: Body
  /** It completes an entity with references that could not be named at its creation. */
  readonly isCompletion: boolean
}

type Creation = PlannedChange & { readonly action: 'create' }

/**
 * Orders changes so that each names only entities that exist by then: creations first, and a referenced entity before its referrers.
 * Entities may refer to each other in a circle, as a signer and an auth policy may. Then one of them is created disabled and without the
 * reference, and is completed afterwards.
 */
function inOrderOfLinks(changes: readonly PlannedChange[]): readonly OrderedChange[] {
  const creations = new Map(changes.filter(isCreation).map((change) => [`${change.key} ${change.name}`, change]))
  const ordered: OrderedChange[] = []
  const states = new Map<Creation, 'begun' | 'done'>()
  const visit = (change: Creation): void => {
    if (states.has(change)) return
    states.set(change, 'begun')
    const kind = kindOfKey(change.key)
    const isLater = (key: string, name: string) => {
      const target = creations.get(`${key} ${name}`)
      return target !== undefined && states.get(target) === 'begun'
    }
    for (const { to, name } of linksOf(kind, change.body)) {
      const target = creations.get(`${to} ${name}`)
      if (target !== undefined) visit(target)
    }
    const isCircular = linksOf(kind, change.body).some(({ to, name }) => isLater(to, name))
    if (isCircular) {
      const body = renameLinks(kind, change.body, (to, name) => (isLater(to, name) ? undefined : name))
      ordered.push({ change, body: withoutEffect(body), isCompletion: false })
      completions.push({ change, body: change.body, isCompletion: true })
    } else ordered.push({ change, body: change.body, isCompletion: false })
    states.set(change, 'done')
  }
  const completions: OrderedChange[] = []
  for (const creation of creations.values()) visit(creation)
  const others = changes.filter((change) => change.action !== 'create')
  return [
    ...ordered,
    ...completions,
    ...others.map((change) => ({ change, body: change.action === 'delete' ? {} : change.body, isCompletion: false })),
  ]
}

function isCreation(change: PlannedChange): change is Creation {
  return change.action === 'create'
}

/** An incomplete signer must let nobody in. */
function withoutEffect(body: Body): Body {
  return 'enabled' in body ? { ...body, enabled: false } : body
}
