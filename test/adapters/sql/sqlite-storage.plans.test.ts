import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { sqliteDialect, sqliteStorage } from 'portcullis/kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { describePlans } from './sql-plans.ts'

const directory = mkdtempSync(join(tmpdir(), 'portcullis-test-'))
const file = join(directory, 'records.db')
const database = new DatabaseSync(file)
afterAll(() => {
  database.close()
  rmSync(directory, { recursive: true })
})

// A journal is kept in the order of its ids: SQLite names no index where it is read so, or counted.
const isByKey = /from "audit_(records|seals)" as t( where 1 = 1)?( order by "t"\."id" (asc|desc)| *$)/

describe('plans of SQLite', () => {
  describePlans(async () => ({
    dialect: () => sqliteDialect(file),
    // Lines such as `SCAN t`; a list in order is `SCAN t USING INDEX …`, which stops at the limit.
    // The rows of the page, and the values of a long list, are read whole.
    scan: /^SCAN (?!.* USING |k$|\(subquery|json_each)/,
    async explain({ sql, parameters }) {
      const rows = database.prepare(`explain query plan ${sql}`).all(...(parameters as readonly SQLInputValue[]))
      const lines = rows.map(({ detail }) => String(detail))
      return isByKey.test(sql) ? lines.map((line) => line.replace(/^SCAN \w+$/, '$& USING its key')) : lines
    },
  }))

  it('keep the records of a journal by their key: an index for it would be a page more in every commit', async () => {
    await (await sqliteStorage(file)).close()
    const indexes = database.prepare("select name from sqlite_master where type = 'index' and tbl_name = ?")
    expect(indexes.all('audit_records').map(({ name }) => name)).toEqual(['audit_records_entity_id_index'])
    const listed = database.prepare('select wr from pragma_table_list where name = ?')
    expect(['audit_records', 'audit_seals', 'services'].map((name) => listed.get(name)?.wr)).toEqual([1, 1, 0])
  })
})
