import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Storage } from 'portcullis'
import { postgresStorage, sqliteStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import { createDatabase } from '../../test/support/postgres.ts'

export type Place = 'memory' | 'sqlite' | 'postgres'

/** The storage at a place: a file of SQLite, a database of PostgreSQL. */
export async function openAt(kind: Place, place: string): Promise<Storage> {
  if (kind === 'memory') return memoryStorage()
  return kind === 'sqlite' ? sqliteStorage(place) : postgresStorage({ connection: place })
}

/** A new place for a storage, and how it is given back. */
export async function newPlace(kind: Place): Promise<{ readonly place: string; readonly remove: () => Promise<void> }> {
  if (kind === 'postgres') {
    const { url, drop } = await createDatabase()
    return { place: url, remove: drop }
  }
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-million-'))
  return { place: join(folder, 'records.db'), remove: () => rm(folder, { recursive: true }) }
}
