import type { Path } from './circuit-routes.ts'

interface Entry<T> {
  readonly priority: number
  readonly item: T
}

/** A binary heap: entries by ascending priority, equal priorities in no particular order. */
class PriorityQueue<T> {
  readonly #heap: Entry<T>[] = []

  push(priority: number, item: T): void {
    let position = this.#heap.push({ priority, item }) - 1
    while (position > 0) {
      const parent = (position - 1) >> 1
      if (!this.#isBefore(position, parent)) return
      this.#swap(position, parent)
      position = parent
    }
  }

  /** Removes the entry with the least priority; undefined for an empty queue. */
  pop(): Entry<T> | undefined {
    const top = this.#heap[0]
    const last = this.#heap.pop()
    if (last === undefined || this.#heap.length === 0) return top
    this.#heap[0] = last
    this.#sink()
    return top
  }

  #sink(): void {
    for (let position = 0; ; ) {
      const left = 2 * position + 1
      const child = this.#isBefore(left + 1, left) ? left + 1 : left
      if (!this.#isBefore(child, position)) return
      this.#swap(child, position)
      position = child
    }
  }

  #isBefore(position: number, other: number): boolean {
    const entry = this.#heap[position]
    const rival = this.#heap[other]
    return entry !== undefined && (rival === undefined || entry.priority < rival.priority)
  }

  #swap(position: number, other: number): void {
    const [entry, rival] = [this.#heap[position], this.#heap[other]]
    if (entry === undefined || rival === undefined) return
    this.#heap[position] = rival
    this.#heap[other] = entry
  }
}

interface Reached {
  readonly cost: number
  readonly from: string | undefined
  readonly link: string
}

/** The paths of least cost from one router to every router that it reaches (Dijkstra's algorithm). */
export class PathTree {
  readonly #reached: ReadonlyMap<string, Reached>

  constructor(source: string, hopsFrom: (routerId: string) => readonly Hop[]) {
    this.#reached = reach(source, hopsFrom)
  }

  costTo(routerId: string): number | undefined {
    return this.#reached.get(routerId)?.cost
  }

  pathTo(routerId: string): Path | undefined {
    const cost = this.costTo(routerId)
    if (cost === undefined) return undefined
    const routers: string[] = []
    const links: string[] = []
    for (let id: string | undefined = routerId; id !== undefined; ) {
      const step = this.#reached.get(id)
      routers.unshift(id)
      if (step?.from !== undefined) links.unshift(step.link)
      id = step?.from
    }
    return { routers, links, cost }
  }
}

function reach(source: string, hopsFrom: (routerId: string) => readonly Hop[]): ReadonlyMap<string, Reached> {
  const reached = new Map<string, Reached>([[source, { cost: 0, from: undefined, link: '' }]])
  const settled = new Set<string>()
  const queue = new PriorityQueue<{ readonly id: string; readonly mayPass: boolean }>()
  queue.push(0, { id: source, mayPass: true })
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { id, mayPass } = next.item
    if (settled.has(id)) continue
    settled.add(id)
    if (!mayPass) continue
    for (const { router, link, cost } of hopsFrom(id)) {
      const total = next.priority + cost
      if (total >= (reached.get(router.id)?.cost ?? Number.POSITIVE_INFINITY)) continue
      reached.set(router.id, { cost: total, from: id, link })
      queue.push(total, { id: router.id, mayPass: !router.noTraversal })
    }
  }
  return reached
}

/** A router in the search of paths. */
export interface TopologyRouter {
  readonly id: string
  /** The cost of going through or to the router. */
  readonly cost: number
  /** True for a router that only begins or ends paths, and never lies between. */
  readonly noTraversal: boolean
}

/** A link that carries traffic both ways between two routers. */
export interface TopologyLink {
  readonly id: string
  readonly source: string
  readonly target: string
  readonly cost: number
}

/** One step from a router: over the cheapest link to a neighbour. */
export interface Hop {
  readonly router: TopologyRouter
  readonly link: string
  /** Cost of the link and of the router that it leads to. */
  readonly cost: number
}
