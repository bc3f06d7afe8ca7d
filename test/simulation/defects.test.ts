import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { DEFECTS } from './defects.ts'

const ROOT = join(import.meta.dirname, '../..')

it.each(DEFECTS)('a defect can be put back where the code of it stands once: $what', (defect) => {
  for (const { file, good } of [defect, defect.also ?? defect])
    expect(readFileSync(join(ROOT, file), 'utf8').split(good)).toHaveLength(2)
})

it.each(DEFECTS)('the table of promises has the seed of a defect: $what', ({ what, seed, steps, oracle }) => {
  const promises = readFileSync(join(ROOT, 'docs/promises.md'), 'utf8')
  expect(promises).toContain(`| ${what} | ${seed} | ${steps} | ${oracle} |`)
})
