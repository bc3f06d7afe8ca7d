import type { PeerChange } from '../../../ports/fabric/index.ts'
import type { ConnectedRouter, ConnectedRouters } from './connected-routers.ts'

/** Tells routers of one another: links come from that alone. */
export class Peers {
  readonly #routers: ConnectedRouters

  constructor(routers: ConnectedRouters) {
    this.#routers = routers
  }

  /** A router connected, or listens elsewhere now: it and the others learn of each other. */
  introduce(router: ConnectedRouter): void {
    const others = this.#routers.others(router.id)
    this.#tell(others, healthy(router))
    if (others.length > 0) router.channel.send({ type: 'peers', changes: others.map(healthy) })
  }

  /** The listeners of a router changed. */
  update(router: ConnectedRouter): void {
    this.#tell(this.#routers.others(router.id), healthy(router))
  }

  /** A router is away: its links may live on. */
  away(id: string): void {
    this.#tell(this.#routers.others(id), { id, version: '', state: 'unhealthy', listeners: [] })
  }

  /** A router is gone for good: the others close their links to it. */
  removed(id: string): void {
    this.#tell(this.#routers.others(id), { id, version: '', state: 'removed', listeners: [] })
  }

  #tell(routers: readonly ConnectedRouter[], change: PeerChange): void {
    for (const { channel } of routers) channel.send({ type: 'peers', changes: [change] })
  }
}

function healthy({ id, software, linkListeners: listeners }: ConnectedRouter): PeerChange {
  return { id, version: software.version, state: 'healthy', listeners }
}
