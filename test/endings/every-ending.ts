import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cellsOf } from './ending.ts'
import { ENDINGS } from './endings.ts'
import { rowInGuide, toldRow } from './told-row.ts'
import type { Network } from './ways.ts'

const guide = readFileSync(join(import.meta.dirname, '../../docs/endings.md'), 'utf8')

/** Milliseconds for one row: a day of a database that each process looks at every second takes most of a minute. */
const PATIENCE_MS = 180_000

/**
 * Declares a test for each row of the table. In full, each ending comes to somebody of every way that it concerns, and every
 * process is asked with what every process made; otherwise to one of these ways, each in its turn, and to each process with what
 * the other one made.
 */
export function everyEnding(network: Network, isFull: boolean): void {
  const cases = ENDINGS.flatMap((ending, index) => {
    const ways = isFull ? ending.ways : [ending.ways[index % ending.ways.length] ?? 'password']
    return ways.map((way) => [ending.name, way, ending] as const)
  })
  it.each(cases)(
    '%s (%s): every door says what the facts say, and so does the guide',
    async (name, way, ending) => {
      const cells = await cellsOf(network, ending, way, { by: 'A', isFull })
      const bad = cells.filter(({ expected, seen }) => expected !== seen)
      expect(bad.map(({ column, made, at, seen }) => `${column} ${made}>${at} is ${seen ? 'open' : 'shut'}`)).toEqual(
        [],
      )
      expect(rowInGuide(guide, name, way)).toBe(toldRow(cells))
    },
    PATIENCE_MS,
  )
}
