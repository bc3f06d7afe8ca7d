import fc from 'fast-check'
import { expect, it } from 'vitest'
// Internals: pure rules of circuits and paths, compared with an oracle by the thousand.
import {
  currentCost,
  LEAST_ROUTER_COST,
  type Path,
  Topology,
  type TopologyLink,
  type TopologyRouter,
} from '../../../src/facts/fabric/rules/index.ts'

import { runs } from '../../support/property-runs.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']
const name = fc.constantFrom(...NAMES)
const router = fc.record({ id: name, cost: fc.nat(40), noTraversal: fc.boolean() })
const link = fc.record({ source: name, target: name, cost: fc.nat(60) })
const network = fc.record({
  routers: fc.uniqueArray(router, { selector: ({ id }) => id }),
  links: fc.array(link, { maxLength: 14 }),
})

/** Walks every way there is and keeps the cheapest. */
function leastCost(routers: readonly TopologyRouter[], links: readonly TopologyLink[], from: string, to: string) {
  const byId = new Map(routers.map((known) => [known.id, known]))
  if (!byId.has(from) || !byId.has(to)) return undefined
  let least: number | undefined
  const walk = (at: string, cost: number, seen: readonly string[]) => {
    if (at === to) {
      least = Math.min(least ?? cost, cost)
      return
    }
    if (at !== from && byId.get(at)?.noTraversal === true) return
    for (const { source, target, cost: linkCost } of links) {
      const next = source === at ? target : target === at ? source : undefined
      const nextRouter = next === undefined ? undefined : byId.get(next)
      if (nextRouter === undefined || seen.includes(nextRouter.id)) continue
      walk(nextRouter.id, cost + linkCost + Math.max(nextRouter.cost, LEAST_ROUTER_COST), [...seen, nextRouter.id])
    }
  }
  walk(from, 0, [from])
  return least
}

it('finds a path of the least cost of all, and none where there is none', () => {
  fc.assert(
    fc.property(network, name, name, ({ routers, links: drawn }, from, to) => {
      const links = drawn.map((one, position) => ({ ...one, id: `l${position}` }))
      const topology = new Topology(routers, links)
      const expected = leastCost(routers, links, from, to)
      expect(topology.costBetween(from, to)).toBe(expected)
      const path = topology.pathBetween(from, to)
      expect(path?.cost).toBe(expected)
      if (path !== undefined) expectRealPath(path, from, to, routers, links)
    }),
    runs(500),
  )
})

function expectRealPath(
  path: Path,
  from: string,
  to: string,
  routers: readonly TopologyRouter[],
  links: readonly TopologyLink[],
): void {
  expect(path.routers[0]).toBe(from)
  expect(path.routers.at(-1)).toBe(to)
  expect(new Set(path.routers).size).toBe(path.routers.length)
  for (const [position, id] of path.links.entries()) {
    const used = links.find((known) => known.id === id)
    expect([used?.source, used?.target].sort()).toEqual([path.routers[position], path.routers[position + 1]].sort())
  }
  for (const id of path.routers.slice(1, -1)) {
    expect(routers.find((known) => known.id === id)?.noTraversal).toBe(false)
  }
  const cost = currentCost(
    path,
    (id) => links.find((known) => known.id === id)?.cost,
    (id) => Math.max(routers.find((known) => known.id === id)?.cost ?? 0, LEAST_ROUTER_COST),
  )
  expect(cost).toBe(path.cost)
}
