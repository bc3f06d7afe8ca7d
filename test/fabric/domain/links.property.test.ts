import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
// Internals: pure rules of circuits and paths, compared with an oracle by the thousand.
import {
  circuitsOver,
  concernsLink,
  currentCost,
  detourOf,
  type Link,
  linkCost,
  newLink,
  type Path,
  reportedLink,
  Topology,
  topologyLink,
  withLatency,
  worthwhileDetours,
} from '../../../src/facts/fabric/rules/index.ts'
import { runs } from '../../support/property-runs.ts'

const report = (iteration: number, target = 'b') => ({
  id: 'l',
  target,
  protocol: 'tls',
  dialAddress: 'tls:b:1',
  iteration,
  stateIteration: 0,
  connections: [],
})

describe('a link', () => {
  it('is as its router reported it last, in whatever order reports arrive', () => {
    const drawn = fc.array(fc.record({ iteration: fc.integer({ min: 1, max: 9 }), target: fc.constantFrom('b', 'c') }))
    fc.assert(
      fc.property(drawn, (reports) => {
        let link: Link | undefined
        let newest: (typeof reports)[number] | undefined
        for (const one of reports) {
          link = reportedLink(link, 'a', report(one.iteration, one.target))
          if (newest === undefined || one.iteration > newest.iteration) newest = one
        }
        expect(link?.iteration).toBe(newest?.iteration)
        expect(link?.target).toBe(newest?.target)
      }),
      runs(200),
    )
  })

  it('keeps what an operator set when it is dialed anew, but not what was measured', () => {
    const known = { ...withLatency(newLink('a', report(1)), 'a', 5), staticCost: 7, isDown: true }
    expect(reportedLink(known, 'a', report(2))).toMatchObject({ staticCost: 7, isDown: true, sourceLatencyMs: 65_000 })
  })

  it('is nobody elses to speak for', () => {
    expect(reportedLink(newLink('a', report(1)), 'b', report(2))).toBeUndefined()
  })

  it('is over by a fault of its own iteration or a later one, or of none', () => {
    const link = newLink('a', report(3))
    expect([0, 2, 3, 4].map((iteration) => concernsLink(link, iteration))).toEqual([true, false, true, true])
  })

  it('costs what both ends measured, and much while nobody did', () => {
    const link = newLink('a', report(1))
    expect(linkCost(link)).toBe(130_001)
    expect(linkCost(withLatency(withLatency(link, 'a', 1.9), 'b', 2.9))).toBe(4)
    expect(withLatency(link, 'stranger', 1)).toBe(link)
  })

  it('is in use at the lowest cost of its own from the beginning', () => {
    expect(newLink('a', report(1))).toMatchObject({ source: 'a', staticCost: 1, isDown: false })
    expect(topologyLink(newLink('a', report(1)))).toEqual({ id: 'l', source: 'a', target: 'b', cost: 130_001 })
  })
})

describe('the topology', () => {
  const routers = ['a', 'b'].map((id) => ({ id, cost: 0, noTraversal: false }))
  const between = (id: string, cost: number) => ({ id, source: 'a', target: 'b', cost })

  it('takes the cheapest of several links, and the first by its id among those of one cost, in whatever order they come', () => {
    const links = [between('l3', 2), between('l2', 1), between('l1', 1), between('l0', 3)]
    for (const offered of [
      links,
      links.toReversed(),
      [between('l2', 1), between('l1', 1)],
      [between('l1', 1), between('l2', 1)],
    ])
      expect(new Topology(routers, offered).pathBetween('b', 'a')).toEqual({
        routers: ['b', 'a'],
        links: ['l1'],
        cost: 11,
      })
  })

  it('has the routers that are connected, and no path for any other', () => {
    const topology = new Topology(routers, [between('l', 1), { id: 'away', source: 'c', target: 'a', cost: 1 }])
    expect(['a', 'b', 'c'].map((id) => topology.has(id))).toEqual([true, true, false])
    expect(['a', 'c'].map((id) => topology.costBetween(id, 'b'))).toEqual([11, undefined])
    expect(topology.pathBetween('c', 'a')).toBeUndefined()
  })
})

describe('detours', () => {
  const routers = ['a', 'b', 'c'].map((id) => ({ id, cost: 0, noTraversal: false }))
  const links = [
    { id: 'ac', source: 'a', target: 'c', cost: 500 },
    { id: 'ab', source: 'a', target: 'b', cost: 1 },
    { id: 'bc', source: 'b', target: 'c', cost: 1 },
  ]
  const direct: Path = { routers: ['a', 'c'], links: ['ac'], cost: 0 }
  const costOf = (path: Path) => (path.links.includes('ac') ? 510 : 22)

  it('are taken by few circuits at a time, and at least by one', () => {
    const topology = new Topology(routers, links)
    const circuits = (count: number) => Array.from({ length: count }, (_, at) => ({ id: `c${at}`, path: direct }))
    const moved = (count: number) => worthwhileDetours(circuits(count), topology, costOf).length
    expect([0, 1, 10, 100, 1000].map(moved)).toEqual([0, 1, 1, 2, 4])
    expect(worthwhileDetours(circuits(1), topology, costOf)[0]?.path.links).toEqual(['ab', 'bc'])
  })

  it('are left alone for a gain below 15', () => {
    const topology = new Topology(routers, links)
    const circuits = [{ id: 'c', path: direct }]
    expect(worthwhileDetours(circuits, topology, () => 36)).toEqual([])
    expect(worthwhileDetours(circuits, topology, () => 37)).toHaveLength(1)
  })

  it('are taken first by the circuits that cost most, and among those of one cost by the first by its id', () => {
    const topology = new Topology(routers, links)
    const costs: Readonly<Record<string, number>> = { dear: 900, 'dear-2': 900, cheap: 100 }
    // Each has a path of its own: the cost belongs to it.
    const circuits = (ids: readonly string[]) => ids.map((id) => ({ id, path: { ...direct, cost: costs[id] ?? 0 } }))
    const first = (ids: readonly string[]) =>
      worthwhileDetours(circuits(ids), topology, ({ cost }) => cost).map(({ circuit }) => circuit.id)
    for (const ids of [
      ['cheap', 'dear', 'dear-2'],
      ['dear-2', 'dear', 'cheap'],
      ['dear', 'cheap', 'dear-2'],
    ])
      expect(first(ids)).toEqual(['dear'])
  })

  it('are none for the same path, for a path whose cost is unknown, and without another path', () => {
    const topology = new Topology(routers, links)
    const best: Path = { routers: ['a', 'b', 'c'], links: ['ab', 'bc'], cost: 0 }
    expect(worthwhileDetours([{ id: 'c', path: best }], topology, () => 900)).toEqual([])
    expect(worthwhileDetours([{ id: 'c', path: direct }], topology, () => undefined)).toEqual([])
    const apart = new Topology(routers, [])
    expect(worthwhileDetours([{ id: 'c', path: direct }], apart, () => 900)).toEqual([])
    expect(detourOf({ id: 'c', path: direct }, apart)).toBeUndefined()
  })

  it('are not counted over a link that is gone', () => {
    const path: Path = { routers: ['a', 'b', 'c'], links: ['ab', 'bc'], cost: 0 }
    const routerCost = (id: string) => (id === 'b' ? 10 : 20)
    expect(currentCost(path, () => 1, routerCost)).toBe(32)
    expect(currentCost(path, (id) => (id === 'ab' ? 1 : undefined), routerCost)).toBeUndefined()
  })

  it('concern the circuits over a link and no others', () => {
    const over = { id: 'over', path: direct }
    const aside = { id: 'aside', path: { routers: ['a', 'b'], links: ['ab'], cost: 0 } }
    expect(circuitsOver('ac', [over, aside])).toEqual([over])
  })
})
