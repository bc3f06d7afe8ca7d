import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { IS_SHORT } from '../support/suite.ts'
import { cellsOf } from './ending.ts'
import { ENDINGS } from './endings.ts'
import { rowInGuide, toldRow } from './told-row.ts'
import { buildNetwork } from './ways.ts'

const network = await buildNetwork()
const guide = readFileSync(join(import.meta.dirname, '../../docs/endings.md'), 'utf8')
/** In short, each ending comes to one who logged in by one of the ways that it concerns, each way in its turn. */
const CASES = ENDINGS.flatMap((ending, index) => {
  const ways = IS_SHORT ? [ending.ways[index % ending.ways.length] ?? 'password'] : ending.ways
  return ways.map((way) => [ending.name, way, ending] as const)
})

it.each(CASES)('%s (%s): every door says what the facts say, and so does the guide', async (name, way, ending) => {
  const cells = await cellsOf(network, ending, way, { by: 'A', isFull: !IS_SHORT })
  const bad = cells.filter(({ expected, seen }) => expected !== seen)
  expect(bad.map(({ column, made, at, seen }) => `${column} ${made}>${at} is ${seen ? 'open' : 'shut'}`)).toEqual([])
  expect(rowInGuide(guide, name, way)).toBe(toldRow(cells))
})
