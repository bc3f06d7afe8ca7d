import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EarlyMessages, EXPECTED_LIMITS, UNLAID_LIMITS } from '../../src/data-plane.ts'
import { runs } from '../support/property-runs.ts'

/** Bytes that a message costs beside its own, and a circuit with its first message. */
const [MESSAGE_COST, CIRCUIT_COST] = [256, 512]
const LIMITS = { ofCircuit: 4000, ofSource: 6000, all: 9000, keptMs: 1000 }
/** The longest message that a circuit may bring as its first one. */
const LONGEST = LIMITS.ofCircuit - MESSAGE_COST - CIRCUIT_COST

const from = (source: string, message = source) => ({ source, message })

describe('messages that came before their circuit', () => {
  it('are kept for a circuit that is expected, in their order, until they are taken', () => {
    const early = new EarlyMessages<string>(LIMITS)
    expect(early.keep('c', from('one'), 1)).toBe(false)
    early.expect('c', 0)
    expect([early.keep('c', from('one', 'a'), 1), early.keep('c', from('two', 'b'), 1)]).toEqual([true, true])
    // It is expected already: nothing is forgotten.
    early.expect('c', 500)
    expect(early.take('c').map(({ source, message }) => [source, message])).toEqual([
      ['one', 'a'],
      ['two', 'b'],
    ])
    expect([early.take('c'), early.keep('c', from('one'), 1)]).toEqual([[], false])
  })

  it('are kept for any circuit where that is asked, and none is expected by a message without room', () => {
    const early = new EarlyMessages<string>(LIMITS)
    expect(early.keepUnexpected('c', from('one'), LONGEST + 1, 0)).toBe(false)
    expect(early.keep('c', from('one'), 1)).toBe(false)
    expect(early.keepUnexpected('c', from('one'), LONGEST, 0)).toBe(true)
    // A circuit that is known stays, whatever comes for it.
    expect(early.keepUnexpected('c', from('one'), 0, 0)).toBe(false)
    expect(early.take('c')).toHaveLength(1)
  })

  it('have room by circuit, by source and in all, to the byte, and give it back', () => {
    const early = new EarlyMessages<string>(LIMITS)
    for (const circuit of ['c', 'd', 'e', 'f']) early.expect(circuit, 0)
    const left = (bytes: number) => bytes - MESSAGE_COST - CIRCUIT_COST
    expect([early.keep('c', from('one'), LONGEST + 1), early.keep('c', from('one'), LONGEST)]).toEqual([false, true])
    // 2000 are left of the source, 5000 in all.
    expect([early.keep('d', from('one'), left(2000) + 1), early.keep('d', from('one'), left(2000))]).toEqual([
      false,
      true,
    ])
    expect([early.keep('e', from('two'), left(3000) + 1), early.keep('e', from('two'), left(3000))]).toEqual([
      false,
      true,
    ])
    expect(early.keep('f', from('three'), 0)).toBe(false)
    early.take('c')
    expect(early.keep('f', from('one'), LONGEST)).toBe(true)
    early.take('e')
    expect(early.keep('d', from('one'), 0)).toBe(false)
    // A further message of a circuit costs less than its first one.
    early.take('f')
    const further = LIMITS.ofCircuit - 2000 - MESSAGE_COST
    expect([early.keep('d', from('one'), further + 1), early.keep('d', from('one'), further)]).toEqual([false, true])
  })

  it('are forgotten after their time, the oldest first, each told once', () => {
    const early = new EarlyMessages<string>(LIMITS)
    early.keepUnexpected('c', from('one', 'a'), 1, 0)
    early.keepUnexpected('c', from('one', 'b'), 1, 900)
    early.keepUnexpected('d', from('one', 'c'), 1, 100)
    const told: unknown[] = []
    const look = (now: number) => {
      early.forgetOld(now, (circuitId, message) => void told.push([circuitId, message]))
      return told.splice(0)
    }
    expect(look(999)).toEqual([])
    expect(look(1000)).toEqual([
      ['c', 'a'],
      ['c', 'b'],
    ])
    expect(early.keep('c', from('one'), 1)).toBe(false)
    early.forgetOld(1100)
    expect([early.take('d'), look(5000)]).toEqual([[], []])
  })

  it('never hold more than their limits, whatever comes and goes', () => {
    const act = fc.record({
      circuit: fc.constantFrom('c', 'd', 'e'),
      source: fc.constantFrom('one', 'two'),
      length: fc.nat(3000),
      takes: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
        const early = new EarlyMessages<number>(LIMITS)
        const held: { circuit: string; source: string; cost: number }[] = []
        const sum = (of: typeof held) => of.reduce((all, { cost }) => all + cost, 0)
        for (const { circuit, source, length, takes } of acts) {
          if (takes) {
            expect(early.take(circuit)).toHaveLength(held.filter((one) => one.circuit === circuit).length)
            held.splice(0, held.length, ...held.filter((one) => one.circuit !== circuit))
            continue
          }
          const isFirst = held.every((one) => one.circuit !== circuit)
          const cost = length + MESSAGE_COST + (isFirst ? CIRCUIT_COST : 0)
          const fits =
            sum(held.filter((one) => one.circuit === circuit)) + cost <= LIMITS.ofCircuit &&
            sum(held.filter((one) => one.source === source)) + cost <= LIMITS.ofSource &&
            sum(held) + cost <= LIMITS.all
          expect(early.keepUnexpected(circuit, { source, message: length }, length, 0)).toBe(fits)
          if (fits) held.push({ circuit, source, cost })
        }
      }),
      runs(300),
    )
  })

  it('have the limits that the data plane promises', () => {
    const MIB = 1_048_576
    expect(EXPECTED_LIMITS).toEqual({ ofCircuit: MIB, ofSource: MIB, all: 64 * MIB, keptMs: 30_000 })
    expect(UNLAID_LIMITS).toEqual({ ofCircuit: MIB, ofSource: 4 * MIB, all: 32 * MIB, keptMs: 10_000 })
  })
})
