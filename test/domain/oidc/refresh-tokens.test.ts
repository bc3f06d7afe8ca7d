import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
// Internals: a pure rule, tried with every input; a controller would let few of them through.
import {
  afterExchange,
  afterRotation,
  type LiveToken,
  type Presentation,
  type Prover,
} from '../../../src/facts/oidc/refresh-tokens.rules.ts'
import { runs } from '../../support/property-runs.ts'

const GRACE_MS = 10_000
const ANN: Prover = { clientId: 'openziti', certificate: null }
const presented = (jti: string, now = 0, by = ANN): Presentation => ({ jti, by, now, graceMs: GRACE_MS })
const jtisOf = (live: readonly LiveToken[] | undefined) => live?.map(({ jti }) => jti)
const LIVE: readonly LiveToken[] = [{ jti: 'a' }, { jti: 'b' }]

describe('refresh tokens of a session', () => {
  it('are rotated one at a time; those that were never given are used up', () => {
    expect(jtisOf(afterRotation(LIVE, presented('a'), 'c'))).toEqual(['b', 'a', 'c'])
    expect(afterRotation(LIVE, presented('x'), 'c')).toBeUndefined()
    expect(afterRotation([], presented('a'), 'c')).toBeUndefined()
  })

  it('outlast an exchange, sixteen at most, the least used first to go', () => {
    expect(jtisOf(afterExchange(LIVE, presented('a'), 'c'))).toEqual(['b', 'a', 'c'])
    expect(jtisOf(afterExchange(LIVE, presented('a'), undefined))).toEqual(['b', 'a'])
    expect(afterExchange(LIVE, presented('x'), 'c')).toBeUndefined()
    const many = Array.from({ length: 16 }, (_, index) => ({ jti: `${index}` }))
    const next = jtisOf(afterExchange(many, presented('0'), 'new')) ?? []
    expect([next.length, next[0], ...next.slice(-2)]).toEqual([16, '2', '0', 'new'])
  })

  it.each<readonly [string, Partial<Presentation>, boolean]>([
    ['at once', {}, true],
    ['a millisecond before the grace ends', { now: GRACE_MS - 1 }, true],
    ['as the grace ends', { now: GRACE_MS }, false],
    ['by a process whose clock is behind', { now: -5000 }, true],
    ['by another client', { by: { ...ANN, clientId: 'native' } }, false],
    ['by another certificate', { by: { ...ANN, certificate: 'ab' } }, false],
    ['where there is no grace', { graceMs: 0 }, false],
    ['where there is no grace, by a clock that is behind', { graceMs: 0, now: -5000 }, false],
  ])('are answered again %s: %o', (_when, change, isGood) => {
    const live = afterRotation(LIVE, presented('a'), 'c') ?? []
    expect(afterRotation(live, { ...presented('a'), ...change }, 'd') !== undefined).toBe(isGood)
  })

  it('are used up for good once one of the answers was gone on with', () => {
    const once = afterRotation(LIVE, presented('a'), 'c') ?? []
    const twice = afterRotation(once, presented('a'), 'd') ?? []
    expect(jtisOf(twice)).toEqual(['b', 'c', 'a', 'd'])
    const further = afterRotation(twice, presented('c'), 'e') ?? []
    expect(jtisOf(further)).toEqual(['b', 'c', 'e'])
    for (const jti of ['a', 'd']) expect(afterRotation(further, presented(jti), 'f')).toBeUndefined()
  })
})

interface Step {
  readonly which: number
  readonly waitMs: number
  readonly by: Prover
  readonly how: 'rotate' | 'exchange' | 'look'
}

interface Given {
  readonly jti: string
  readonly answerTo: string | undefined
  readonly answer: string | undefined
}

/** The whole history of a session: nothing is forgotten, and every question is answered from it. */
class History {
  readonly #given: Given[] = [{ jti: '0', answerTo: undefined, answer: undefined }]
  readonly #presented: { jti: string; at: number; by: Prover; how: Step['how'] }[] = []

  get given(): readonly string[] {
    return this.#given.map(({ jti }) => jti)
  }

  isGood(jti: string, now: number, by: Prover): boolean {
    const token = this.#given.find((one) => one.jti === jti)
    const goneOnWith = (answers: readonly Given[]) =>
      this.#presented.some((use) => answers.some((one) => one.jti === use.jti))
    const rivals = this.#given.filter(
      (one) => one.answerTo !== undefined && one.answerTo === token?.answerTo && one.answer !== token.answer,
    )
    if (goneOnWith(rivals)) return false
    const first = this.#presented.find((use) => use.jti === jti && use.how === 'rotate')
    if (first === undefined) return true
    if (goneOnWith(this.#given.filter((one) => one.answerTo === jti))) return false
    return first.by === by && now - first.at < GRACE_MS
  }

  use(jti: string, at: number, by: Prover, how: Step['how'], next: string): void {
    const token = this.#given.find((one) => one.jti === jti)
    const isUsedUp = this.#presented.some((use) => use.jti === jti && use.how === 'rotate')
    this.#presented.push({ jti, at, by, how })
    if (how === 'look' || token === undefined) return
    const isAnswer = how === 'rotate' || isUsedUp
    this.#given.push(isAnswer ? { jti: next, answerTo: jti, answer: next } : { ...token, jti: next })
  }
}

const BOB: Prover = { clientId: 'openziti', certificate: 'ab' }

describe('whatever is presented, when and by whom', () => {
  it('is judged as the whole history of the session says', () => {
    const step = fc.record<Step>({
      which: fc.integer({ min: 0, max: 20 }),
      waitMs: fc.constantFrom(0, 1, 4000, 9999, 10_000),
      by: fc.constantFrom(ANN, ANN, ANN, BOB),
      how: fc.constantFrom('rotate', 'rotate', 'exchange', 'look'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 14, size: 'max' }), (steps) => {
        const history = new History()
        let live: readonly LiveToken[] = [{ jti: '0' }]
        let now = 0
        for (const [index, { which, waitMs, by, how }] of steps.entries()) {
          now += waitMs
          const { given } = history
          // The newest tokens are the most interesting ones.
          const jti = given[Math.max(0, given.length - 1 - (which % 5))] ?? '0'
          const next = `${index + 1}`
          const as = presented(jti, now, by)
          const after =
            how === 'rotate'
              ? afterRotation(live, as, next)
              : afterExchange(live, as, how === 'look' ? undefined : next)
          expect(after !== undefined).toBe(history.isGood(jti, now, by))
          // The session is over.
          if (after === undefined) return
          history.use(jti, now, by, how, next)
          live = after
        }
      }),
      runs(3000),
    )
  })

  it('an owner and a thief, who both go on with what they were given, cannot do so twice', () => {
    const turn = fc.record({ isThief: fc.boolean(), isLost: fc.boolean(), waitMs: fc.constantFrom(0, 1, 5000, 20_000) })
    fc.assert(
      fc.property(fc.array(turn, { minLength: 4, maxLength: 30, size: 'max' }), (turns) => {
        let live: readonly LiveToken[] | undefined = [{ jti: 'first' }]
        let now = 0
        const held = { owner: 'first', thief: 'first' }
        const times = { owner: 0, thief: 0 }
        for (const [index, { isThief, isLost, waitMs }] of turns.entries()) {
          now += waitMs
          const who = isThief ? 'thief' : 'owner'
          live = afterRotation(live, presented(held[who], now), `${index}`)
          if (live === undefined) break
          if (isLost) continue
          held[who] = `${index}`
          times[who] += 1
          // Both hold what the other does not, and both have used it.
          expect(Math.min(times.owner, times.thief)).toBeLessThan(2)
        }
      }),
      runs(1000),
    )
  })
})
