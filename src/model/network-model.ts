import type { ModelKey } from '../entities/kinds.ts'
import type { Body } from '../entities/links.ts'

/** An entity of a controller, in the form of a model file: references by name, and nothing that is as by default. */
export interface NetworkEntity {
  readonly key: ModelKey
  readonly id: string
  readonly name: string
  readonly body: Body
  /** Made and kept by the controller itself: models neither hold nor delete it. */
  readonly isKept: boolean
}

/** All entities of a controller that models know, as of one reading. */
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

  /** The entity of a name. */
  named(key: ModelKey, name: string): NetworkEntity | undefined {
    return this.#byName.get(`${key} ${name}`)
  }

  /** The entity of an id. */
  withId(key: ModelKey, id: string): NetworkEntity | undefined {
    return this.#byId.get(`${key} ${id}`)
  }

  /** The entities of one kind. */
  all(key: ModelKey): readonly NetworkEntity[] {
    return this.entities.filter((entity) => entity.key === key)
  }
}
