import type { LinkListener, RouterChannel, RouterSoftware } from '../../../ports/fabric/index.ts'

/** What a router's record says of the paths that pass it. */
export interface RouterTerms {
  readonly cost: number
  readonly noTraversal: boolean
}

/** A router whose control channel is open in this process. */
export interface ConnectedRouter {
  readonly id: string
  /** Clients connect to edge routers; a transit router only forwards. */
  readonly isEdgeRouter: boolean
  readonly fingerprint: string
  readonly software: RouterSoftware
  /** Numbers of what it says that it does. */
  readonly capabilities: readonly number[]
  readonly channel: RouterChannel
  /** Epoch ms. */
  readonly connectedAt: number
  linkListeners: readonly LinkListener[]
  terms: RouterTerms
}

/** The routers that are connected to this process. */
export class ConnectedRouters {
  readonly #routers = new Map<string, ConnectedRouter>()

  get size(): number {
    return this.#routers.size
  }

  get(id: string): ConnectedRouter | undefined {
    return this.#routers.get(id)
  }

  all(): readonly ConnectedRouter[] {
    return [...this.#routers.values()]
  }

  edgeRouters(): readonly ConnectedRouter[] {
    return this.all().filter(({ isEdgeRouter }) => isEdgeRouter)
  }

  /** Every connected router but one. */
  others(id: string): readonly ConnectedRouter[] {
    return this.all().filter((router) => router.id !== id)
  }

  add(router: ConnectedRouter): void {
    this.#routers.set(router.id, router)
  }

  /** Forgets a router unless it is connected anew by now; answers whether it was known. */
  remove(router: ConnectedRouter): boolean {
    return this.#routers.get(router.id) === router && this.#routers.delete(router.id)
  }
}
