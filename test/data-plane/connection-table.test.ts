import fc from 'fast-check'
import { expect, it } from 'vitest'
// Internals: the ends of circuits alone, so that every order of messages can be tried.
import { ConnectionTable } from '../../src/data-plane.ts'

const LIMITS = { connections: 6, dials: 3, binds: 2 }

/** A connection as the oracle knows it: what was asked of it, in order. */
interface Known {
  readonly id: number
  readonly value: object
  state: string
}

const ids = fc.integer({ min: 0, max: 7 })
const steps = fc.array(
  fc.record({ what: fc.constantFrom('dial', 'bind', 'accept', 'free', 'open', 'close', 'release'), id: ids }),
  { maxLength: 60, size: 'max' },
)

it('connections have an id each, one at a time, as many as may be, and a dial that was given up keeps its id until its circuit is there', () => {
  fc.assert(
    fc.property(steps, (asked) => {
      const table = new ConnectionTable<object>(LIMITS)
      let known: Known[] = []
      const at = (id: number) => known.find((one) => one.id === id)
      const count = (...states: string[]) => known.filter(({ state }) => states.includes(state)).length
      const refusal = (id: number, isFull: boolean) => {
        if (at(id) !== undefined) return 'taken'
        return isFull || known.length >= LIMITS.connections ? 'too-many' : undefined
      }
      for (const { what, id } of asked) {
        const value = { id }
        const one = at(id)
        if (what === 'dial' || what === 'bind' || what === 'accept') {
          const isFull = {
            dial: count('dialing', 'abandoned') >= LIMITS.dials,
            bind: count('bound') >= LIMITS.binds,
            accept: false,
          }[what]
          const expected = refusal(id, isFull)
          expect(table[what](id, value)).toBe(expected)
          const state = { dial: 'dialing', bind: 'bound', accept: 'open' }[what]
          if (expected === undefined) known.push({ id, value, state })
        } else if (what === 'free') {
          const free = table.freeId()
          if (known.length >= LIMITS.connections) expect(free).toBeUndefined()
          else {
            expect(free).toBeGreaterThanOrEqual(0x80_00_00_00)
            expect(at(free ?? 0)).toBeUndefined()
            expect(table.accept(free ?? 0, value)).toBeUndefined()
            known.push({ id: free ?? 0, value, state: 'open' })
          }
        } else if (what === 'open') {
          expect(table.open(id, one?.value ?? value)).toBe(one?.state === 'dialing')
          if (one?.state === 'dialing') one.state = 'open'
          else if (one?.state === 'abandoned') known = known.filter((other) => other !== one)
        } else if (what === 'close') {
          const isThere = one !== undefined && one.state !== 'abandoned'
          expect(table.close(id)?.value).toBe(isThere ? one.value : undefined)
          if (one?.state === 'dialing') one.state = 'abandoned'
          else if (isThere) known = known.filter((other) => other !== one)
        } else {
          // A connection that was here before releases nothing of one that is here now.
          expect(table.release(id, value)).toBe(false)
          expect(table.release(id, one?.value ?? value)).toBe(one !== undefined)
          known = known.filter((other) => other !== one)
        }
        expect(table.size).toBe(known.length)
        for (const { id: there, value: held, state } of known) {
          expect([table.get(there), table.stateOf(there)]).toEqual([held, state])
        }
      }
      const held = known.map(({ value, state }) => ({ value, state }))
      expect([...table.all()]).toEqual(held)
      expect(table.clear()).toEqual(held)
      // All places are free again.
      const dialed = Array.from({ length: LIMITS.dials + 1 }, (_, id) => table.dial(id, {}))
      expect(dialed).toEqual([...Array(LIMITS.dials).fill(undefined), 'too-many'])
      expect([100, 101, 102].map((id) => table.bind(id, {}))).toEqual([undefined, undefined, 'too-many'])
      expect([table.get(99), table.stateOf(99)]).toEqual([undefined, undefined])
    }),
  )
})
