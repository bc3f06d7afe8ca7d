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
  links: fc.array(link, { maxLength: 14, size: 'max' }),
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

const MANY = 40
const ofMany = fc.nat(MANY - 1).map((number) => `r${number}`)
const largeNetwork = fc.record({
  routers: fc
    .array(fc.record({ cost: fc.nat(40), noTraversal: fc.nat(9).map((drawn) => drawn === 0) }), {
      minLength: MANY,
      maxLength: MANY,
      size: 'max',
    })
    .map((drawn) => drawn.map((one, position): TopologyRouter => ({ ...one, id: `r${position}` }))),
  links: fc
    .array(fc.record({ source: ofMany, target: ofMany, cost: fc.nat(2000) }), {
      minLength: 2 * MANY,
      maxLength: 4 * MANY,
      size: 'max',
    })
    .map((drawn) => drawn.map((one, position): TopologyLink => ({ ...one, id: `l${position}` }))),
})

/** Goes over every link as often as there are routers. */
function leastCosts(routers: readonly TopologyRouter[], links: readonly TopologyLink[], from: string) {
  const byId = new Map(routers.map((known) => [known.id, known]))
  const costs = new Map([[from, 0]])
  const offer = (before: string, after: string, cost: number) => {
    const known = costs.get(before)
    if (known === undefined || (before !== from && byId.get(before)?.noTraversal === true)) return
    const total = known + cost + Math.max(byId.get(after)?.cost ?? 0, LEAST_ROUTER_COST)
    if (total < (costs.get(after) ?? Number.POSITIVE_INFINITY)) costs.set(after, total)
  }
  for (const _ of routers) {
    for (const { source, target, cost } of links) {
      offer(source, target, cost)
      offer(target, source, cost)
    }
  }
  return costs
}

it('finds the least costs from a router to every other one of a large network', () => {
  fc.assert(
    fc.property(largeNetwork, ({ routers, links }) => {
      const topology = new Topology(routers, links)
      const costs = leastCosts(routers, links, 'r0')
      for (const { id } of routers) {
        expect(topology.costBetween('r0', id)).toBe(costs.get(id))
        const path = topology.pathBetween('r0', id)
        expect(path?.cost).toBe(costs.get(id))
        if (path !== undefined) expectRealPath(path, 'r0', id, routers, links)
      }
    }),
    runs(40),
  )
})
