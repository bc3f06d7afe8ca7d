import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldPairs, foldRuns, type Pair } from '../../adapters/tools/explorer/page/parts/fold.ts'

describe('folded events', () => {
  it('are one line each where two of them alternate, in the order of their last', () => {
    const events = ['ended', 'refused', 'ended', 'refused', 'ended', 'changed']
    const folded = (between: number) => foldRuns(events, (one) => one, between).map((run) => run.events.length)
    expect(folded(0)).toEqual([1, 1, 1, 1, 1, 1])
    expect(folded(1)).toEqual([2, 3, 1])
  })

  it('keep every event once, and each run in order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 })), fc.nat({ max: 6 }), (kinds, between) => {
        const events = kinds.map((kind, at) => ({ kind, at }))
        const runs = foldRuns(events, ({ kind }) => String(kind), between)
        expect(runs.flatMap((run) => run.events).sort((a, b) => a.at - b.at)).toEqual(events)
        for (const run of runs) expect(run.events).toEqual(run.events.toSorted((a, b) => a.at - b.at))
        const lasts = runs.map(({ last }) => last.at)
        expect(lasts).toEqual(lasts.toSorted((a, b) => a - b))
      }),
    )
  })
})

describe('folded pairs', () => {
  const named = (prefix: string) => fc.nat({ max: 5 }).map((n) => ({ id: `${prefix}${n}`, name: `${prefix} ${n}` }))
  const pair: fc.Arbitrary<Pair> = fc.record({
    identity: named('i'),
    service: named('s'),
    type: fc.constantFrom('Dial', 'Bind'),
    change: fc.constantFrom('gained', 'lost'),
    obstacle: fc.constantFrom(null, 'posture-failing'),
  })
  const textOf = ({ identity, service, type, change }: Pair) => [identity.id, service.id, type, change].join()

  it('stand for the same pairs, each once', () => {
    const pairs = fc.uniqueArray(pair, { selector: textOf })
    fc.assert(
      fc.property(pairs, (given) => {
        const unfolded = foldPairs(given).flatMap(({ identities, services, type, change, obstacle }) =>
          identities.flatMap((identity) =>
            services.map((service) => ({ identity, service, type, change, obstacle: obstacle ?? null })),
          ),
        )
        const inOrder = (some: readonly Pair[]) => some.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1))
        expect(inOrder(unfolded)).toEqual(inOrder(given))
      }),
    )
  })
})
