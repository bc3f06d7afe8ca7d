import pg from 'pg'
import { postgresStorage } from 'portcullis/kysely'
import { afterAll, describe } from 'vitest'
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
})
