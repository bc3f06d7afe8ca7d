import { CompiledQuery, PostgresDialect } from 'kysely'
import pg from 'pg'
import { kyselyStorage, postgresStorage } from 'portcullis/kysely'
import { createTestController } from 'portcullis/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { startPostgres } from '../../support/postgres.ts'
import type { SignUpTables } from './joint-process.ts'
import { jointWriteContract } from './joint-writes.ts'

const server = await startPostgres()
afterAll(() => server.stop())

let made = 0

describe('a joint write in PostgreSQL', () => {
  jointWriteContract(async () => {
    made += 1
    const admin = new pg.Client(server.url)
    await admin.connect()
    await admin.query(`create database joint_${made}`)
    await admin.end()
    const url = new URL(server.url)
    url.pathname = `/joint_${made}`
    const place = url.href
    return { place, open: (options) => postgresStorage<SignUpTables>({ connection: place, ...options }) }
  })

  it('takes one statement at a time, as objects, through a dialect of the host', async () => {
    const dialect = () => {
      const pool = new pg.Pool({ connectionString: server.url })
      // The server stops while connections are idle.
      pool.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined))
      return new PostgresDialect({ pool })
    }
    const storage = await kyselyStorage({ dialect })
    await using _net = await createTestController({ storage })
    const text = 'select 1 as one'
    const { rows } = await storage.together(({ connection }) => connection.query(text))
    expect(rows).toEqual([{ one: 1 }])
    const arrays = storage.together(({ connection }) => connection.query({ text, rowMode: 'array' }))
    await expect(arrays).rejects.toThrow('rows as arrays need')
    const two = `${text}; commit`
    const refused = 'one statement at a time'
    await expect(storage.together(({ connection }) => connection.query(two))).rejects.toThrow(refused)
    const raw = storage.together(({ transaction }) => transaction.executeQuery(CompiledQuery.raw(two)))
    await expect(raw).rejects.toThrow(refused)
  })
})
