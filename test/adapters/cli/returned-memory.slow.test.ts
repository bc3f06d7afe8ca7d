import { getHeapSpaceStatistics } from 'node:v8'
import { expect, it } from 'vitest'
import { returnUnusedMemory } from '../../../adapters/tools/cli/commands/serve/serve-until-stopped.ts'

/** Bytes that the young generation of the collector has taken from the system. */
function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? Number.NaN
}

it('a controller that has started gives back what the young generation of the collector grew to', () => {
  // Objects that survive for a while make it grow, as modules do that are being loaded.
  let kept: object[] = []
  for (let count = 0; count < 1_500_000; count += 1) {
    kept.push({ count })
    if (kept.length > 150_000) kept = []
  }
  const grown = youngBytes()
  expect(grown).toBeGreaterThan(8_000_000)
  returnUnusedMemory()
  expect(youngBytes()).toBeLessThan(grown / 2)
})

it('a controller that has started leaves no collector for others to call', () => {
  returnUnusedMemory()
  expect(Reflect.get(globalThis, 'gc')).toBeUndefined()
})
