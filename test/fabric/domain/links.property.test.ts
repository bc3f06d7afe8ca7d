import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
// Internals: pure rules of circuits and paths, compared with an oracle by the thousand.
import {
  circuitsOver,
  concernsLink,
  type Link,
  linkCost,
  newLink,
  type Path,
  reportedLink,
  Topology,
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

  it('concern the circuits over a link and no others', () => {
    const over = { id: 'over', path: direct }
    const aside = { id: 'aside', path: { routers: ['a', 'b'], links: ['ab'], cost: 0 } }
    expect(circuitsOver('ac', [over, aside])).toEqual([over])
  })
})
