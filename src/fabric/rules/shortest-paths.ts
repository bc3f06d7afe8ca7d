import type { Path } from './path.ts'
import { PriorityQueue } from './priority-queue.ts'
import type { Hop } from './topology-parts.ts'

interface Reached {
  readonly cost: number
  readonly from: string | undefined
  readonly link: string
}

/** The paths of least cost from one router to all that it reaches (Dijkstra's algorithm). */
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
