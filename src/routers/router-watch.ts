import { changesAfter, placeOf } from '../context/store-level.ts'
import type { Timetable } from '../context/timetable.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../facts/routers/transit-router.resource.ts'
import { type HistoryPoint, isSamePoint, type ReadTransaction, type Storage } from '../ports/record-storage.ts'
import type { Clock } from '../ports/runtime.ts'
import { type RouterFacts, routerFacts } from './router-admission.ts'

interface Ports {
  readonly storage: Storage
  readonly clock: Clock
  readonly timetable: Timetable
}

/** The routers whose control channels are open in this process. */
export interface ConnectedRouters {
  ids(): Iterable<string>
  has(routerId: string): boolean
  /** Closes the channel of a router that may not be connected any more; `router` is undefined after its deletion. */
  judge(routerId: string, router: RouterFacts | undefined): void
}

/** Milliseconds after which a change by another process is noticed at the latest. */
const INTERVAL_MS = 1_000
const KINDS: ReadonlySet<string> = new Set([edgeRouters.name, transitRouters.name])

/**
 * Looks at the change feed while routers are connected: another process over the same store may delete, disable or
 * re-enroll them, without a request to this one.
 */
export class RouterWatch {
  readonly #ports: Ports
  readonly #connected: ConnectedRouters
  /** Changes up to this place are judged; undefined without a watched router. */
  #place: HistoryPoint | undefined

  constructor(ports: Ports, connected: ConnectedRouters) {
    this.#ports = ports
    this.#connected = connected
    ports.timetable.onDue('connected-routers', () => this.#look())
  }

  /** A router was connected: from now on it is watched. */
  begin(): void {
    const { timetable, clock } = this.#ports
    timetable.notLater('connected-routers', 'all', clock.now() + INTERVAL_MS)
  }

  async #look(): Promise<void> {
    const [first] = this.#connected.ids()
    if (first === undefined) {
      this.#place = undefined
      return
    }
    const { place, routers } = await this.#ports.storage.read(async (tx) => ({
      place: placeOf(tx),
      routers: await this.#changedIn(tx),
    }))
    this.#place = place
    for (const [id, facts] of routers) this.#connected.judge(id, facts)
    this.begin()
  }

  async #changedIn(tx: ReadTransaction): Promise<ReadonlyMap<string, RouterFacts | undefined>> {
    if (this.#place !== undefined && isSamePoint(tx, this.#place)) return new Map()
    const changes = await changesAfter(tx, this.#place)
    const concerned =
      changes === undefined
        ? [...this.#connected.ids()]
        : changes.filter(({ kind, id }) => KINDS.has(kind) && this.#connected.has(id)).map(({ id }) => id)
    const facts = new Map<string, RouterFacts | undefined>()
    for (const id of new Set(concerned)) facts.set(id, await routerFacts(tx, id))
    return facts
  }
}
