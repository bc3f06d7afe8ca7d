import type { PeerChange } from '../../facts/fabric/messages/index.ts'
import type { Turns } from '../../ports/runtime.ts'
import type { ConnectedRouter, ConnectedRouters } from './connected-routers.ts'

/**
 * Tells routers of one another: links come from that alone. Changes of one turn go in one message, so that a crowd
 * that connects at once makes few of them.
 */
export class Peers {
  readonly #routers: ConnectedRouters
  readonly #turn: () => Promise<void> | undefined
  /** Changes of routers that are still to be sent to the others, by the router's id. */
  readonly #changes = new Map<string, PeerChange>()
  /** Routers that have no list of peers yet. */
  readonly #newcomers = new Set<ConnectedRouter>()
  #isTelling = false

  constructor(routers: ConnectedRouters, turns: Turns) {
    this.#routers = routers
    this.#turn = turns.begin()
  }

  /** A router connected: it and the others learn of each other. */
  introduce(router: ConnectedRouter): void {
    this.#newcomers.add(router)
    this.#change(healthy(router))
  }

  /** The listeners of a router changed. */
  update(router: ConnectedRouter): void {
    this.#change(healthy(router))
  }

  /** A router is away: its links may live on. */
  away(id: string): void {
    this.#change({ id, version: '', state: 'unhealthy', listeners: [] })
  }

  /** A router is gone for good: the others close their links to it. */
  removed(id: string): void {
    this.#change(removed(id))
  }

  #change(change: PeerChange): void {
    // A router that is gone for good does not come to be merely away.
    if (change.state !== 'unhealthy' || this.#changes.get(change.id)?.state !== 'removed') {
      this.#changes.set(change.id, change)
    }
    if (this.#isTelling) return
    this.#isTelling = true
    void this.#tell()
  }

  async #tell(): Promise<void> {
    await this.#turn()
    while (this.#changes.size > 0) {
      const changes = new Map(this.#changes)
      const newcomers = new Set(this.#newcomers)
      this.#changes.clear()
      this.#newcomers.clear()
      const news = { type: 'peers', changes: [...changes.values()] } as const
      for (const router of this.#routers.allHeld()) {
        if (newcomers.has(router)) this.#tellAll(router, news.changes)
        else if (!changes.has(router.id)) router.channel.send(news)
        else if (changes.size > 1) {
          router.channel.send({ ...news, changes: news.changes.filter(({ id }) => id !== router.id) })
        }
        await this.#turn()
      }
    }
    this.#isTelling = false
  }

  #tellAll({ id, channel }: ConnectedRouter, news: readonly PeerChange[]): void {
    // Its links may have outlived its channel: it closes those to routers that are gone for good.
    const gone = news.filter(({ state }) => state === 'removed')
    const changes = [...gone, ...this.#routers.others(id).map(healthy)]
    if (changes.length > 0) channel.send({ type: 'peers', changes })
  }
}

/** The change for a router that may no longer have links to another router. */
export function removed(id: string): PeerChange {
  return { id, version: '', state: 'removed', listeners: [] }
}

function healthy({ id, software, linkListeners: listeners }: ConnectedRouter): PeerChange {
  return { id, version: software.version, state: 'healthy', listeners }
}
