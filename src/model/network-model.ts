import type { TriedAssertion } from './assertions.ts'
import type { Body, ModelKey } from './managed-kinds.ts'
import type { Path, Place } from './model-problem.ts'

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
}

/** An entity of a controller, in the form of a model file: references by name, and no default values. */
export interface NetworkEntity {
  readonly key: ModelKey
  readonly id: string
  readonly name: string
  readonly body: Body
  /** Made and kept by the controller itself: models neither hold nor delete it. */
  readonly isKept: boolean
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
