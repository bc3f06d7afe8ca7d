import { notFound } from '../../domain/errors.ts'
import type { Link } from '../../domain/fabric/index.ts'
import { ids } from '../../domain/filter/index.ts'
import type { LinkListener } from '../../ports/fabric/index.ts'
import type { RouterConnection } from '../../ports/router-presence.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { edgeRouters } from '../../resources/routers/edge-routers.ts'
import { transitRouters } from '../../resources/routers/transit-routers.ts'
import { services } from '../../resources/services/services.ts'
import type { CircuitView, EngineContext } from '../context/context.ts'

/** A router of either kind with what is known of its connection. */
export interface RouterView {
  readonly router: RecordOf<typeof edgeRouters> | RecordOf<typeof transitRouters>
  /** Undefined while it is not connected. */
  readonly connection: RouterConnection | undefined
  readonly linkListeners: readonly LinkListener[]
}

/** The data plane as this process knows it: nothing but routers while it is not open. */
export class DataPlaneService {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** The links between connected routers. */
  links(): readonly Link[] {
    return this.#context.dataPlane.view?.links() ?? []
  }

  /** Error: `NOT_FOUND`. */
  link(id: string): Link {
    const link = this.links().find((known) => known.id === id)
    if (link === undefined) throw notFound('link', id)
    return link
  }

  /** Both routers close a link, and circuits take another way; it may be dialed again. Error: `NOT_FOUND`. */
  cutLink(id: string): void {
    if (this.#context.dataPlane.view?.cutLink(id) !== true) throw notFound('link', id)
  }

  /** The circuits that this process laid and that are open. */
  circuits(): readonly CircuitView[] {
    return this.#context.dataPlane.view?.circuits() ?? []
  }

  /** Error: `NOT_FOUND`. */
  circuit(id: string): CircuitView {
    const circuit = this.circuits().find((known) => known.id === id)
    if (circuit === undefined) throw notFound('circuit', id)
    return circuit
  }

  /** Ends a circuit, at once or once it is quiet. Error: `NOT_FOUND`. */
  endCircuit(id: string, immediate: boolean): void {
    if (this.#context.dataPlane.view?.endCircuit(id, immediate) !== true) throw notFound('circuit', id)
  }

  /** Edge routers and transit routers. */
  async routers(): Promise<readonly RouterView[]> {
    return this.#context.storage.read(async (tx) => {
      const edge = await tx.collection(edgeRouters).find()
      const transit = await tx.collection(transitRouters).find()
      return [...edge.items, ...transit.items].map((router) => this.#view(router))
    })
  }

  /** A router of either kind. Error: `NOT_FOUND`. */
  async router(id: string): Promise<RouterView> {
    const router = await this.#context.storage.read(async (tx) => {
      return (await tx.collection(edgeRouters).get(id)) ?? (await tx.collection(transitRouters).get(id))
    })
    if (router === undefined) throw notFound('router', id)
    return this.#view(router)
  }

  /** The names of routers and services by their ids. */
  async names(routerIds: Iterable<string>, serviceIds: Iterable<string>): Promise<ReadonlyMap<string, string>> {
    return this.#context.storage.read(async (tx) => {
      const where = ids(new Set(routerIds))
      const edge = await tx.collection(edgeRouters).find({ where })
      const transit = await tx.collection(transitRouters).find({ where })
      const named = await tx.collection(services).find({ where: ids(new Set(serviceIds)) })
      return new Map([...edge.items, ...transit.items, ...named.items].map(({ id, name }) => [id, name]))
    })
  }

  #view(router: RouterView['router']): RouterView {
    const { presence, dataPlane } = this.#context
    return {
      router,
      connection: presence.connectionOf(router.id),
      linkListeners: dataPlane.view?.linkListenersOf(router.id) ?? [],
    }
  }
}
