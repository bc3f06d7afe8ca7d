import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { endAll } from '../adapters/cli/cli-process.ts'
import { roundsOf, runCrashRounds } from './crash-rounds.ts'

const cwd = mkdtempSync(join(tmpdir(), 'portcullis-crash-'))
afterAll(() => {
  endAll()
  rmSync(cwd, { recursive: true, maxRetries: 10 })
})

const rounds = roundsOf('sqlite', 10)

it(
  `loses no acknowledged write and leaves nothing by halves in ${rounds} kills on SQLite`,
  async () => {
    const { acknowledged } = await runCrashRounds('sqlite:crash.db', cwd, rounds)
    expect(acknowledged).toBeGreaterThan(rounds)
  },
  60_000 + rounds * 30_000,
)
