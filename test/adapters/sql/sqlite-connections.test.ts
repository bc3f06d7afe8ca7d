import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Dialect, SqliteAdapter } from 'kysely'
import { kyselyStorage, sqliteDialect } from 'portcullis/kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { get, insertAll, ticket, tickets } from '../../../adapters/storage/contract/kinds-of-records.ts'

const directory = mkdtempSync(join(tmpdir(), 'portcullis-test-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** The dialect with an adapter that does not say how many connections it has, as those of Kysely 0.28. */
function olderDialect(file: string): Dialect {
  const dialect = sqliteDialect(file)
  const createAdapter = () =>
    Object.defineProperty(new SqliteAdapter(), 'supportsMultipleConnections', { value: undefined })
  return { ...dialect, createAdapter }
}

describe('SQLite whose dialect does not say that it has one connection', () => {
  it.each([
    ['made by a function', (file: string) => () => olderDialect(file)],
    ['shared by who reads and who writes', olderDialect],
  ])('answers 40 reads and 40 writes at once: a dialect %s', async (name, dialectOf) => {
    const dialect = dialectOf(join(directory, `${name}.db`))
    const storage = await kyselyStorage({ dialect, kinds: [tickets] })
    const ids = Array.from({ length: 40 }, (_, index) => `t${index}`)
    await insertAll(storage, tickets, [ticket('known')])
    const outcomes = await Promise.allSettled(
      ids.flatMap((id) => [get(storage, tickets, 'known'), insertAll(storage, tickets, [ticket(id)])]),
    )
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([])
    expect(await Promise.all(ids.map((id) => get(storage, tickets, id)))).toEqual(ids.map((id) => ticket(id)))
    await storage.close()
  })
})
