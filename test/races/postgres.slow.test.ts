import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { endAll } from '../adapters/cli/cli-process.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { RACE_ROUNDS, runRaces } from './race-rounds.ts'

const cwd = mkdtempSync(join(tmpdir(), 'portcullis-races-'))
let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(async () => {
  endAll()
  await server.stop()
  rmSync(cwd, { recursive: true, maxRetries: 10 })
})

it(
  `contradicting operations in two processes on PostgreSQL, ${RACE_ROUNDS} times each`,
  () => runRaces(server.url, cwd, RACE_ROUNDS),
  60_000 + RACE_ROUNDS * 60_000,
)
