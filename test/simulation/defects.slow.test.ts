import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DEFECTS } from './defects.ts'

const ROOT = join(import.meta.dirname, '../..')
let copy: string

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'defects-'))
  for (const part of ['src', 'adapters', 'test/simulation', 'test/support', 'package.json'])
    await cp(join(ROOT, part), join(copy, part), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
})

afterAll(() => rm(copy, { recursive: true, force: true }))

it.each(DEFECTS)('a seed finds it: $what', { timeout: 300_000 }, async (defect) => {
  const places = defect.also === undefined ? [defect] : [defect, defect.also]
  for (const { file, good, bad } of places) {
    const whole = await readFile(join(ROOT, file), 'utf8')
    await writeFile(
      join(copy, file),
      whole.replace(good, () => bad),
    )
  }
  try {
    const program = join(copy, 'test/simulation/simulate.ts')
    const options = ['--seed', `${defect.seed}`, '--steps', `${defect.steps}`, '--no-shrink']
    const process_ = spawn(process.execPath, ['--conditions=portcullis-source', program, ...options])
    const [output] = await Promise.all([text(process_.stdout), once(process_, 'close')])
    expect(output).toMatch(new RegExp(`^seed ${defect.seed}, step \\d+ of ${defect.steps}: ${defect.oracle}: `, 'm'))
  } finally {
    for (const { file } of places) await cp(join(ROOT, file), join(copy, file))
  }
})
