import { createHash } from 'node:crypto'
import { postgresStorage } from 'portcullis/kysely'
import { StorageUnavailable } from 'portcullis/storage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  get,
  insertAll,
  machine,
  machines,
  ticket,
  tickets,
  where,
} from '../../../adapters/storage/contract/kinds-of-records.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'

const kinds = [machines, tickets]
let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ isDurable: true })
})
afterAll(() => server.stop())

describe('PostgreSQL storage', () => {
  it('says that the server is away while it is, and goes on when it is back', async () => {
    const storage = await postgresStorage({ connection: server.url, schema: 'away', kinds, busyTimeoutMs: 2000 })
    await insertAll(storage, tickets, [ticket('t0')])
    const writes = Array.from({ length: 40 }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 5))
      await insertAll(storage, tickets, [ticket(`w${index}`)])
      return `w${index}`
    })
    const [outcomes] = await Promise.all([Promise.allSettled(writes), server.restart()])
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(failed.filter(({ reason }) => !(reason instanceof StorageUnavailable))).toEqual([])
    expect(failed.length).toBeGreaterThan(0)
    await insertAll(storage, tickets, [ticket('after')])
    expect(await get(storage, tickets, 'after')).toEqual(ticket('after'))
    await storage.close()
  })

  it('rejects to open while the server is away', async () => {
    const opened = postgresStorage({ connection: 'postgres://postgres@127.0.0.1:1/postgres', kinds })
    await expect(opened).rejects.toMatchObject({ name: 'StorageUnavailable', reason: 'unreachable' })
  })

  it('keeps, finds, orders and tells apart values that are longer than an index entry may be', async () => {
    const storage = await postgresStorage({ connection: server.url, schema: 'long', kinds })
    // Text that does not compress, so that the index would have to hold all of it.
    const noise = Array.from({ length: 64 }, (_, index) =>
      createHash('sha512').update(`${index}`).digest('base64'),
    ).join('')
    const names = [`${noise}a`, `${noise}b`, noise, noise.slice(0, 1000), '\u{1f600}'.repeat(1024)]
    const records = names.map((name, index) => machine(`m${index}`, { name, serial: name, owner: name, roles: [name] }))
    await insertAll(storage, machines, records)
    const twice = insertAll(storage, machines, [machine('again', { name: `${noise}a` })])
    await expect(twice).rejects.toMatchObject({ field: 'name' })
    for (const [index, name] of names.entries()) {
      for (const text of ['name', 'serial', 'owner', 'anyOf(roles)']) {
        const filter = { ...where(`${text} = "x"`), value: name }
        const { items } = await storage.read((tx) => tx.collection(machines).find({ where: filter }))
        expect(items.map(({ id }) => id)).toEqual([`m${index}`])
      }
    }
    const orderBy = [{ field: 'name', kind: 'string', direction: 'asc' }] as const
    const { items } = await storage.read((tx) => tx.collection(machines).find({ orderBy }))
    expect(items.map(({ id }) => id)).toEqual(['m3', 'm2', 'm0', 'm1', 'm4'])
    await storage.close()
  })
})
