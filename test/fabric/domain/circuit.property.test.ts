import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
// Internals: pure rules of circuits and paths, compared with an oracle by the thousand.
import {
  answered,
  attemptState,
  beginAttempt,
  type CircuitCourse,
  closed,
  expired,
  forwardsOf,
  moveBegun,
  moved,
  moveFailed,
  opened,
  type Path,
  passes,
  routerGone,
  routersLeft,
  routersOf,
} from '../../../src/facts/fabric/rules/index.ts'
import { runs } from '../../support/property-runs.ts'

const ROUTERS = ['a', 'b', 'c', 'd', 'e']
const path: fc.Arbitrary<Path> = fc
  .shuffledSubarray(ROUTERS, { minLength: 1 })
  .map((routers) => ({ routers, links: routers.slice(1).map((id, at) => `${routers[at]}${id}`), cost: 0 }))

describe('forwards', () => {
  it('carry what enters at one end to the other, both ways, and nowhere else', () => {
    fc.assert(
      fc.property(path, (way) => {
        const tables = new Map(forwardsOf(way, { ingress: 'I', egress: 'E' }).map((one) => [one.routerId, one]))
        const carry = (from: string, first: string | undefined, order: readonly string[]) => {
          let address = from
          expect(order[0]).toBe(first)
          for (const id of order) {
            const next = tables.get(id)?.forwards.find(({ srcAddress }) => srcAddress === address)
            expect(next).toBeDefined()
            address = next?.dstAddress ?? ''
          }
          return address
        }
        expect(carry('I', way.routers[0], way.routers)).toBe('E')
        expect(carry('E', way.routers.at(-1), way.routers.toReversed())).toBe('I')
        const types = [...tables.values()].flatMap(({ forwards }) => forwards)
        expect(types.filter(({ dstType }) => dstType === 'link')).toHaveLength(2 * way.links.length)
        expect([...tables.values()].filter(({ isLast }) => isLast).map(({ routerId }) => routerId)).toEqual([
          way.routers.at(-1),
        ])
      }),
      runs(200),
    )
  })

  it('name the sides at which a circuit begins and ends', () => {
    const way = { routers: ['a', 'b'], links: ['ab'], cost: 0 }
    expect(forwardsOf(way, { ingress: 'I', egress: 'E' }).map(({ forwards }) => forwards)).toEqual([
      [
        { srcAddress: 'I', dstAddress: 'ab', dstType: 'link' },
        { srcAddress: 'ab', dstAddress: 'I', dstType: 'start' },
      ],
      [
        { srcAddress: 'ab', dstAddress: 'E', dstType: 'end' },
        { srcAddress: 'E', dstAddress: 'ab', dstType: 'link' },
      ],
    ])
  })
})

describe('an attempt to lay a circuit', () => {
  const event = fc.oneof(
    fc.record({ kind: fc.constant('ok' as const), router: fc.constantFrom(...ROUTERS) }),
    fc.record({ kind: fc.constant('bad' as const), router: fc.constantFrom(...ROUTERS) }),
    fc.record({ kind: fc.constant('gone' as const), router: fc.constantFrom(...ROUTERS) }),
    fc.record({ kind: fc.constant('late' as const), router: fc.constantFrom(...ROUTERS) }),
  )

  it('is over when every router answered, and blames the router at the end, or else the first that did not do its part', () => {
    fc.assert(
      fc.property(path, fc.array(event, { maxLength: 12, size: 'max' }), (way, events) => {
        let attempt = beginAttempt(0, way, 100)
        // The oracle: a set that shrinks, and the mishaps of those who were in it.
        const left = new Set(way.routers)
        const mishaps: string[] = []
        let isLate = false
        for (const { kind, router } of events) {
          if (kind === 'ok') attempt = answered(attempt, router, { success: true })
          if (kind === 'bad') attempt = answered(attempt, router, { success: false, cause: 'generic', message: 'no' })
          if (kind === 'gone') attempt = routerGone(attempt, router)
          if (kind === 'late') attempt = expired(attempt, 100)
          if (left.size === 0) continue
          if (kind === 'late') {
            isLate = true
            left.clear()
          } else if (left.delete(router) && kind !== 'ok') mishaps.push(router)
        }
        const isFailed = isLate || mishaps.length > 0
        expect(attemptState(attempt)).toBe(left.size > 0 ? 'waiting' : isFailed ? 'failed' : 'succeeded')
        const { failure } = attempt
        const last = way.routers.at(-1) ?? ''
        if (mishaps.length > 0) {
          const blamed = mishaps.includes(last) ? last : mishaps[0]
          expect(failure).toMatchObject({ routerId: blamed, isAtTerminator: blamed === last })
        } else if (isLate) expect(failure).toMatchObject({ cause: 'no-answer', isAtTerminator: true })
        else expect(failure).toBeUndefined()
      }),
      runs(300),
    )
  })

  it('says of a router that is gone that it was disconnected', () => {
    const attempt = beginAttempt(0, { routers: ['a', 'b'], links: ['ab'], cost: 0 }, 100)
    const failure = { routerId: 'a', cause: 'disconnected', message: 'router disconnected', isAtTerminator: false }
    expect(routerGone(attempt, 'a').failure).toEqual(failure)
  })

  it('waits until its deadline and no longer', () => {
    const attempt = beginAttempt(0, { routers: ['a'], links: [], cost: 0 }, 100)
    expect(attemptState(expired(attempt, 99))).toBe('waiting')
    expect(expired(attempt, 100).failure).toMatchObject({ cause: 'no-answer', isAtTerminator: true })
  })
})

describe('the course of a circuit', () => {
  const step = fc.oneof(
    path.map((to) => ({ kind: 'move' as const, to })),
    fc.constantFrom({ kind: 'moved' as const }, { kind: 'failed' as const }, { kind: 'close' as const }),
  )

  it('is on one path, moves to one other at a time, and once closed stays so', () => {
    fc.assert(
      fc.property(path, fc.array(step, { maxLength: 20, size: 'max' }), (first, steps) => {
        let course: CircuitCourse = opened(first)
        for (const one of steps) {
          const before = course
          if (one.kind === 'move') course = moveBegun(course, one.to)
          if (one.kind === 'moved') course = moved(course)
          if (one.kind === 'failed') course = moveFailed(course)
          if (one.kind === 'close') course = closed(course, 'removed')
          if (before.phase.name === 'closed') expect(course).toBe(before)
          if (before.phase.name === 'moving' && course.phase.name === 'moving') {
            expect(course.phase.to).toBe(before.phase.to)
            expect(course.phase.isStale).toBe(true)
          }
          const isArrived = before.phase.name === 'moving' && one.kind === 'moved'
          expect(course.path).toBe(isArrived ? (before.phase as { to: Path }).to : before.path)
          for (const id of course.path.routers) expect(passes(course, id)).toBe(true)
        }
      }),
      runs(200),
    )
  })

  const before: Path = { routers: ['a', 'b', 'd'], links: ['ab', 'bd'], cost: 0 }
  const after: Path = { routers: ['a', 'c', 'd'], links: ['ac', 'cd'], cost: 0 }
  const parallel: Path = { ...before, links: ['ab', 'bd-2'] }
  const moving = { path: before, phase: { name: 'moving', to: after, isStale: false } }

  it('moves to another path, which it takes once all have done their part', () => {
    expect(opened(before)).toEqual({ path: before, phase: { name: 'open' } })
    const begun = moveBegun(opened(before), after)
    expect(begun).toEqual(moving)
    expect(moved(begun)).toEqual(opened(after))
    expect(moveFailed(begun)).toEqual(opened(before))
    expect(moveBegun(opened(before), parallel).phase).toMatchObject({ name: 'moving', to: parallel })
  })

  it('stays where it is for the same path at another cost, unless its path is broken', () => {
    const same = { ...before, cost: 5 }
    expect(moveBegun(opened(before), same)).toEqual(opened(before))
    expect(moveBegun(opened(before), same, true).phase).toEqual({ name: 'moving', to: same, isStale: false })
  })

  it('is to be looked at again when another move is wanted meanwhile', () => {
    const begun = moveBegun(opened(before), after)
    expect(moveBegun(begun, before)).toEqual({ ...moving, phase: { ...moving.phase, isStale: true } })
  })

  it('keeps the first reason of its end', () => {
    const ended = closed(opened(before), 'idle')
    expect(ended).toEqual({ path: before, phase: { name: 'closed', reason: 'idle' } })
    expect(closed(ended, 'removed')).toBe(ended)
  })

  it('concerns the routers of both paths while it moves', () => {
    expect(routersOf(opened(before))).toEqual(['a', 'b', 'd'])
    expect(routersOf(moveBegun(opened(before), after))).toEqual(['a', 'b', 'd', 'c'])
  })

  it('leaves the routers that only the former path passes', () => {
    expect(routersLeft(before, after)).toEqual(['b'])
  })
})
