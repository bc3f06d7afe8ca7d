import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endAll } from '../adapters/cli/cli-process.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { roundsOf, runCrashRounds } from './crash-rounds.ts'

const cwd = mkdtempSync(join(tmpdir(), 'portcullis-crash-'))
let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ isDurable: true })
})
afterAll(async () => {
  endAll()
  await server.stop()
  rmSync(cwd, { recursive: true, maxRetries: 10 })
})

const rounds = roundsOf('postgres', 5)

it(
  `loses no acknowledged write and leaves nothing by halves in ${rounds} kills on PostgreSQL`,
  async () => {
    const { acknowledged } = await runCrashRounds(server.url, cwd, rounds)
    expect(acknowledged).toBeGreaterThan(rounds)
  },
  60_000 + rounds * 30_000,
)
