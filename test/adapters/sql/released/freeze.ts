// Notes what a database of this version is like, for the tests of every later version; run it once for each release whose
// tables differ: node --conditions=portcullis-source test/adapters/released/freeze.ts 0001
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresDialect, sqliteDialect } from 'portcullis/kysely'
import { startPostgres } from '../../../support/postgres.ts'
import { type ReleasedDatabase, recordDatabase } from '../../../support/released-database.ts'

const [number] = process.argv.slice(2)
if (number === undefined || !/^\d{4}$/.test(number)) throw new Error('say the number of the release, for example 0001')

function write(dialect: string, database: ReleasedDatabase): void {
  const lines = [...database.statements, ...database.records].map((line) => JSON.stringify(line))
  writeFileSync(new URL(`${number}-${dialect}.jsonl`, import.meta.url), `${lines.join('\n')}\n`)
}

const file = join(tmpdir(), `portcullis-freeze-${process.pid}.db`)
write('sqlite', await recordDatabase(() => sqliteDialect(file)))
for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
const server = await startPostgres()
write('postgres', await recordDatabase(await postgresDialect({ connection: server.url })))
await server.stop()
