import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SYSTEM_CALL } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { createTestController } from 'portcullis/testing'
import { afterAll, describe, expect, it } from 'vitest'
import type { SignUpTables } from './joint-process.ts'
import { jointWriteContract } from './joint-writes.ts'

const folder = await mkdtemp(join(tmpdir(), 'portcullis-joint-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

let made = 0

describe('a joint write in SQLite', () => {
  jointWriteContract(async () => {
    made += 1
    const place = join(folder, `${made}.sqlite`)
    return { place, open: (options) => sqliteStorage<SignUpTables>(place, options) }
  })

  it('writes nothing further once a statement made SQLite roll back by itself', async () => {
    const storage = await sqliteStorage(join(folder, 'rolled-back.sqlite'))
    await using net = await createTestController({ storage })
    await storage.together(({ connection }) => connection.query('create table tenants (name text primary key)'))
    const insert = (name: string) => `insert or rollback into tenants (name) values ('${name}')`
    const rolledBack = storage.together(async ({ connection, controller }) => {
      await controller.engine.services.create(SYSTEM_CALL, { name: 'before' })
      await connection.query(insert('acme'))
      await expect(connection.query(insert('acme'))).rejects.toThrow('UNIQUE')
      await expect(connection.query(insert('other'))).rejects.toThrow('SQLite rolled the transaction back')
      await controller.engine.services.create(SYSTEM_CALL, { name: 'after' })
    })
    await expect(rolledBack).rejects.toThrow('UNIQUE')
    const { rows } = await storage.together(({ connection }) => connection.query('select name from tenants'))
    expect([rows, (await net.engine.services.list(SYSTEM_CALL)).items]).toEqual([[], []])
  })
})
