import { readdirSync, readFileSync } from 'node:fs'
import type { Dialect } from 'kysely'
import { kyselyStorage } from 'portcullis/kysely'
import { RECORD_KINDS } from 'portcullis/storage'
import { expect, it } from 'vitest'
import { type ReleasedDatabase, replayDatabase } from '../../support/released-database.ts'

const folder = new URL('released/', import.meta.url)

/** Declares a test for the database of each released version: it opens, and what it held is there and can be changed. */
export function describeReleased(name: 'sqlite' | 'postgres', fresh: () => Promise<() => Dialect>): void {
  const files = readdirSync(folder).filter((file) => file.endsWith(`-${name}.jsonl`))

  it.each(files)('opens the database of release %s', async (file) => {
    const lines = readFileSync(new URL(file, folder), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const released: ReleasedDatabase = {
      statements: lines.filter((line) => 'sql' in line),
      records: lines.filter((line) => 'kind' in line),
    }
    const dialect = await fresh()
    await replayDatabase(dialect(), released)
    const storage = await kyselyStorage({ dialect })
    expect(released.records.length).toBeGreaterThan(10)
    for (const { kind, ...record } of released.records) {
      const declared = RECORD_KINDS.find((candidate) => candidate.name === kind)
      if (declared === undefined) throw new Error(`${kind} is not declared any more`)
      const found = await storage.read((tx) => tx.collection(declared).get(record.id))
      expect(found).toMatchObject(record)
      const changed = await storage.write((tx) => tx.collection(declared).update({ ...record, ...found }))
      expect(changed).toBe(true)
    }
    await storage.close()
  })

  it('has the database of at least one release', () => {
    expect(files.length).toBeGreaterThan(0)
  })
}
