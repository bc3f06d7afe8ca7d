import type { TriedAssertion } from './assertions.ts'
import type { Body, ModelKey } from './managed-kinds.ts'
import type { Path, Place } from './model-problem.ts'
import { sameValue } from './read-entity.ts'

/** One entity that a model holds. */
export interface ModelEntity {
  readonly key: ModelKey
  readonly name: string
  /** The body of a request to create the entity, with names where the API takes ids. */
  readonly body: Body
  /** The place of a part of the entity. */
  place(path?: Path): Place
}

/** An assertion about the network of a model. */
export interface ModelAssertion {
  readonly assertion: TriedAssertion
  place(path?: Path): Place
}

/** A network as its files describe it. It is valid by the declarations of the API, and names are unique within a kind. */
export interface Model {
  readonly entities: readonly ModelEntity[]
  readonly assertions: readonly ModelAssertion[]
  /** The kinds that a file lists. An empty list is listed too: the model has no entity of that kind. */
  readonly listed: ReadonlySet<ModelKey>
}

const ALL = { name: 'all', semantic: 'AnyOf', edgeRouterRoles: ['#all'] }

/** Every identity and every service may use every edge router. */
const ALL_WITH_ALL: readonly Pick<ModelEntity, 'key' | 'name' | 'body'>[] = [
  { key: 'edgeRouterPolicies', name: ALL.name, body: { ...ALL, identityRoles: ['#all'] } },
  { key: 'serviceEdgeRouterPolicies', name: ALL.name, body: { ...ALL, serviceRoles: ['#all'] } },
]

/** Reports whether a kind says which edge routers identities and services may use. */
export function isRouterPolicy(key: ModelKey): boolean {
  return ALL_WITH_ALL.some((policy) => policy.key === key)
}

/** The router policies of a model that lists none: all with all. A model that lists either kind, if only an empty list, has its own. */
export function assumedRouterPolicies({ listed }: Pick<Model, 'listed'>): typeof ALL_WITH_ALL {
  return ALL_WITH_ALL.some(({ key }) => listed.has(key)) ? [] : ALL_WITH_ALL
}

/**
 * The model with the router policies that it leaves to the controller: it has a service or an identity, and neither the model nor the
 * network has router policies of its own.
 */
export function withRouterPolicies(model: Model, network: Network): Model {
  const user = model.entities.find(({ key }) => key === 'services' || key === 'identities')
  const assumed = assumedRouterPolicies(model)
  const isAssumed = ({ key, name, body }: NetworkEntity) =>
    assumed.some((policy) => policy.key === key && policy.name === name && sameValue(policy.body, body))
  const hasOwn = network.entities.some((entity) => isRouterPolicy(entity.key) && !entity.isKept && !isAssumed(entity))
  if (user === undefined || hasOwn) return model
  return { ...model, entities: [...model.entities, ...assumed.map((policy) => ({ ...policy, place: user.place }))] }
}

/** An entity of a controller, in the form of a model file: references by name, and no default values. */
export interface NetworkEntity {
  readonly key: ModelKey
  readonly id: string
  readonly name: string
  readonly body: Body
  /** Made and kept by the controller itself: models neither hold nor delete it. */
  readonly isKept: boolean
  /** Role attributes of an identity that no model holds: of grants, also coming ones, of a directory and of claims; absent without any. */
  readonly otherAttributes?: readonly string[]
}

/** All entities of a controller that models can hold, as of one reading. */
export class Network {
  readonly entities: readonly NetworkEntity[]
  readonly #byName = new Map<string, NetworkEntity>()
  readonly #byId = new Map<string, NetworkEntity>()

  constructor(entities: readonly NetworkEntity[]) {
    this.entities = entities
    for (const entity of entities) {
      this.#byName.set(`${entity.key} ${entity.name}`, entity)
      this.#byId.set(`${entity.key} ${entity.id}`, entity)
    }
  }

  /** The entity with a name. */
  named(key: ModelKey, name: string): NetworkEntity | undefined {
    return this.#byName.get(`${key} ${name}`)
  }

  /** The entity with an id. */
  withId(key: ModelKey, id: string): NetworkEntity | undefined {
    return this.#byId.get(`${key} ${id}`)
  }

  /** The entities of one kind. */
  all(key: ModelKey): readonly NetworkEntity[] {
    return this.entities.filter((entity) => entity.key === key)
  }
}
