import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { VERSION } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { expect, it, onTestFinished } from 'vitest'

const root = join(import.meta.dirname, '../..')
const readJson = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'))

/** The tables, columns and indexes of a database that is made now, and the format that is written beside them. */
async function formatNow(): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), 'portcullis-format-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  const file = join(place, 'made.sqlite')
  await (await sqliteStorage(file)).close()
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const made = database.prepare('select sql from sqlite_schema where sql is not null order by sql').all()
    const [format] = database.prepare('select max(format) as format from storage_migrations').all()
    return createHash('sha256')
      .update(JSON.stringify([made, format]))
      .digest('hex')
  } finally {
    database.close()
  }
}

it('the version rises when the format of databases does', async () => {
  const formats: Readonly<Record<string, string>> = readJson('test/release/stored-formats.json')
  const now = await formatNow()
  const known = Object.entries(formats).find(([, digest]) => digest === now)?.[0]
  // A format that is not listed takes the next version: its line is added, and no line is ever changed.
  expect(known, `the format is ${now}: raise the version and add its line to test/release/stored-formats.json`).toBe(
    Object.keys(formats).at(-1),
  )
  expect(new Set(Object.values(formats)).size).toBe(Object.keys(formats).length)
  const parts = (version: string) =>
    version
      .split('.')
      .map((part) => Number(part).toString().padStart(6, '0'))
      .join('.')
  expect(Object.keys(formats).map(parts)).toEqual(Object.keys(formats).map(parts).toSorted())
  // Versions that leave the format as it is have no line of their own.
  expect(parts(known ?? '') <= parts(VERSION)).toBe(true)
})

it('the version is the same wherever it is shown, and the changelog tells of it', () => {
  const [manifest, lock] = [readJson('package.json'), readJson('package-lock.json')]
  expect([manifest.version, lock.version, lock.packages[''].version]).toEqual([VERSION, VERSION, VERSION])
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  expect(changelog).toMatch(new RegExp(`^## ${VERSION.replaceAll('.', '\\.')}$`, 'm'))
})
