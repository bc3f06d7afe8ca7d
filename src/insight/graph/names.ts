import { NameOrder } from '../../domain/names/name-order.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../../resources/access/policies.ts'
import type { RecordOf, Resource } from '../../resources/declaration/resource.ts'
import { identities } from '../../resources/identities/identities.ts'
import { postureChecks } from '../../resources/posture/posture-checks.ts'
import { edgeRouters } from '../../resources/routers/edge-routers.ts'
import { configs } from '../../resources/services/configs.ts'
import { services } from '../../resources/services/services.ts'
import type { EngineContext } from '../context/context.ts'

/** What is searched by name, in the order in which it is found. */
export const NAMED: readonly Resource[] = [
  identities,
  services,
  edgeRouters,
  servicePolicies,
  edgeRouterPolicies,
  serviceEdgeRouterPolicies,
  postureChecks,
  configs,
]

/** The names of each kind, in order. */
export type Names = ReadonlyMap<string, NameOrder>

/**
 * The names of everything that is searched by name: read when somebody first asks for them, and brought level with the store
 * before each question.
 */
export class NameIndex {
  readonly #context: EngineContext
  #names: Names | undefined
  #revision = -1
  #queue: Promise<unknown> = Promise.resolve()

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** The names as of now. They go on changing with the store. */
  current(): Promise<Names> {
    const read = this.#queue.then(() => this.#context.storage.read((tx) => this.#at(tx)))
    this.#queue = read.catch(() => undefined)
    return read
  }

  async #at(tx: ReadTransaction): Promise<Names> {
    if (this.#names !== undefined && this.#revision === tx.revision) return this.#names
    const changes = this.#names && (await tx.changesSince(this.#revision))
    const known = changes && this.#names
    const names = known ?? new Map(NAMED.map(({ name }) => [name, new NameOrder()]))
    // Forgotten meanwhile: what is half read is of no use.
    this.#names = undefined
    const turn = this.#context.turns.begin()
    if (known === undefined) {
      for (const resource of NAMED) {
        const { items } = await tx.collection(resource).find()
        for (const record of items) {
          put(names, resource, record)
          await turn()
        }
      }
    }
    for (const { kind, id } of changes ?? []) {
      const resource = NAMED.find(({ name }) => name === kind)
      if (resource === undefined) continue
      const record = await tx.collection(resource).get(id)
      if (record === undefined) names.get(kind)?.remove(id)
      else put(names, resource, record)
      await turn()
    }
    this.#names = names
    this.#revision = tx.revision
    return names
  }
}

function put(names: Names, { name: kind }: Resource, record: RecordOf<Resource>): void {
  if (typeof record.name === 'string') names.get(kind)?.put(record.id, record.name)
}
