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

describe('plans of SQLite', () => {
  describePlans(async () => ({
    dialect: () => sqliteDialect(file),
    // Lines such as `SCAN t`; a list in order is `SCAN t USING INDEX …`, which stops at the limit.
    // The rows of the page, and the values of a long list, are read whole.
    scan: /^SCAN (?!.* USING |k$|\(subquery|json_each)/,
    async explain({ sql, parameters }) {
      const rows = database.prepare(`explain query plan ${sql}`).all(...(parameters as readonly SQLInputValue[]))
      return rows.map(({ detail }) => String(detail))
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
