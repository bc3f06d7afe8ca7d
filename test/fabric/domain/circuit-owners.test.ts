// Internals: fifty thousand circuits of another process take minutes to lay, and the time to sort them is what counts.
import { expect, it } from 'vitest'
import type { EngineContext } from '../../../src/context/context.ts'
import { CircuitOwners } from '../../../src/fabric/processes/circuit-owners.ts'

const CIRCUITS = 50_000
/** Milliseconds for all of them: a copy of the list for each took 51 s. */
const AT_MOST_MS = 3000

it('the circuits of a busy router are sorted by the processes that laid them in a moment, and none is left out', async () => {
  // It needs nothing else of an engine.
  const context = { timetable: { onDue: () => undefined, set: () => undefined }, clock: { now: () => 0 } }
  const owners = new CircuitOwners(context as unknown as EngineContext)
  const processes = [1, 2].map(() => ({ isOpen: true, channel: { send: () => undefined, close: () => undefined } }))
  const [one, other] = processes
  if (one === undefined || other === undefined) throw new Error('there are two')
  const ids = Array.from({ length: CIRCUITS }, (_, at) => `circuit-${at}`)
  for (const [at, id] of ids.entries()) owners.set(id, at % 10 === 0 ? other : one)
  const begun = performance.now()
  const { owned, ofNobody } = await owners.sort(ids, processes)
  expect(performance.now() - begun).toBeLessThan(AT_MOST_MS)
  expect([owned.get(one)?.length, owned.get(other)?.length, ofNobody]).toEqual([CIRCUITS * 0.9, CIRCUITS * 0.1, []])
  expect(owned.get(other)?.slice(0, 2)).toEqual(['circuit-0', 'circuit-10'])
})
