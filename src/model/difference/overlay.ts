import type { ModelKey } from '../entities/kinds.ts'
import type { Body } from '../entities/links.ts'
import type { Network } from '../network/network.ts'
import type { AccessView } from './access-difference.ts'
import type { PlannedChange } from './entity-difference.ts'

/** A network as bodies by name, and as it is after some changes. */
export class NetworkView implements AccessView {
  readonly #bodies = new Map<ModelKey, Map<string, Body>>()

  constructor(network: Network, changes: readonly PlannedChange[] = []) {
    for (const { key, name, body } of network.entities) this.#of(key).set(name, body)
    for (const change of changes) {
      if (change.action === 'delete') this.#of(change.key).delete(change.name)
      else this.#of(change.key).set(change.name, change.body)
    }
  }

  entitiesOf(key: ModelKey): ReadonlyMap<string, Body> {
    return this.#of(key)
  }

  #of(key: ModelKey): Map<string, Body> {
    const known = this.#bodies.get(key) ?? new Map<string, Body>()
    this.#bodies.set(key, known)
    return known
  }
}
