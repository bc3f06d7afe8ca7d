import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, it } from 'vitest'
import { endAll } from '../adapters/cli/cli-process.ts'
import { RACE_ROUNDS, runRaces } from './race-rounds.ts'

const cwd = mkdtempSync(join(tmpdir(), 'portcullis-races-'))
afterAll(() => {
  endAll()
  rmSync(cwd, { recursive: true, maxRetries: 10 })
})

it(
  `contradicting operations in two processes on one SQLite file, ${RACE_ROUNDS} times each`,
  () => runRaces('sqlite:races.db', cwd, RACE_ROUNDS),
  60_000 + RACE_ROUNDS * 60_000,
)
