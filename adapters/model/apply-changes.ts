import { ApiError } from '../../../src/client/index.ts'
import {
  kindOfKey,
  type ModelKey,
  type Network,
  type PlannedChange,
  renameLinks,
  replacement,
  SERVICE_CONFIGS,
  serviceConfigsOf,
} from '../../../src/model/index.ts'
import { type AdminOptions, Connection } from './connection.ts'
import { inOrderOfLinks, type OrderedChange } from './order-of-changes.ts'

/** How far the changes are made. */
export interface Progress {
  /** Changes that are made, this one included. */
  readonly done: number
  readonly total: number
  readonly change: PlannedChange
}

/** The controller refused a change; those before it are made. */
export class ChangeRefused extends Error {
  readonly change: PlannedChange
  /** The member that the controller named, empty where it named none. */
  readonly member: string

  constructor(change: PlannedChange, cause: ApiError) {
    const field = typeof cause.details?.field === 'string' ? cause.details.field : ''
    super(`cannot ${change.action} ${change.key} '${change.name}': ${cause.message}`, { cause })
    this.name = 'ChangeRefused'
    this.change = change
    this.member = field
  }
}

/**
 * Makes changes one after the other; `current` is the network that they were planned on. A change that fails rejects with
 * {@link ChangeRefused} and leaves those before it made, so that the rest can be planned and made later.
 */
export async function applyChanges(
  options: AdminOptions,
  current: Network,
  changes: readonly PlannedChange[],
  onProgress: (progress: Progress) => void = () => undefined,
): Promise<void> {
  const work = new Work(new Connection(options), current)
  const ordered = inOrderOfLinks(changes)
  for (const [position, change] of ordered.entries()) {
    try {
      await work.make(change)
    } catch (error) {
      throw error instanceof ApiError ? new ChangeRefused(change.change, error) : error
    }
    onProgress({ done: position + 1, total: ordered.length, change: change.change })
  }
}

class Work {
  readonly #connection: Connection
  readonly #current: Network
  readonly #created = new Map<string, string>()

  constructor(connection: Connection, current: Network) {
    this.#connection = connection
    this.#current = current
  }

  async make({ change, body, isCompletion }: OrderedChange): Promise<void> {
    const kind = kindOfKey(change.key)
    const entities = this.#connection.entities(kind.resource.name)
    if (change.action === 'delete') return this.#delete(change)
    const { [SERVICE_CONFIGS]: _, ...request } = renameLinks(kind, body, (to, name) => this.#idOf(to, name))
    if (change.action === 'update') {
      await entities.replace(change.id, replacement(kind, request))
    } else if (isCompletion) {
      await entities.replace(this.#idOf(change.key, change.name), replacement(kind, request))
    } else if (change.key === 'identities' && request.type === 'Router') {
      // Its edge router, which was created before it, has made it.
      const { type: _type, isAdmin: _isAdmin, ...changed } = request
      const { id } = await this.#identityOfRouter(change.name)
      await entities.patch(id, changed)
      this.#created.set(`identities ${change.name}`, id)
    } else {
      this.#created.set(`${change.key} ${change.name}`, await entities.create(request))
    }
    if (change.key === 'identities') await this.#giveServiceConfigs(change)
  }

  async #delete(change: PlannedChange & { readonly action: 'delete' }): Promise<void> {
    try {
      await this.#connection.entities(kindOfKey(change.key).resource.name).delete(change.id)
    } catch (error) {
      // What is gone already, as with an entity that it belonged to, is as it should be.
      if (!(error instanceof ApiError) || error.status !== 404) throw error
    }
  }

  async #identityOfRouter(name: string): Promise<{ readonly id: string }> {
    const routerId = this.#idOf('edgeRouters', name)
    const { data } = await this.#connection.management.call('GET /identities/{id}', { params: { id: routerId } })
    return data
  }

  async #giveServiceConfigs(change: PlannedChange & { readonly action: 'create' | 'update' }): Promise<void> {
    const params = { id: this.#idOf('identities', change.name) }
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
    const { management } = this.#connection
    if (taken.length > 0) await management.call('DELETE /identities/{id}/service-configs', { params, body: ids(taken) })
    if (given.length > 0) await management.call('POST /identities/{id}/service-configs', { params, body: ids(given) })
  }

  #bodyOf(identity: string) {
    return this.#current.named('identities', identity)?.body ?? {}
  }

  /** A name that nothing has stays, and the controller refuses it. */
  #idOf(key: ModelKey, name: string): string {
    return this.#created.get(`${key} ${name}`) ?? this.#current.named(key, name)?.id ?? name
  }
}
