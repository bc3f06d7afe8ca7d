import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { findPostgres } from '../../support/postgres-installation.ts'

const root = mkdtempSync(join(tmpdir(), 'portcullis-postgres-places-'))
afterAll(() => rmSync(root, { recursive: true }))

function installed(...path: readonly string[]): string {
  const folder = join(root, ...path)
  mkdirSync(folder, { recursive: true })
  for (const program of ['initdb', 'postgres']) writeFileSync(join(folder, program), '')
  return folder
}

const debian = join(root, 'debian')
const [, newest] = [installed('debian', '9', 'bin'), installed('debian', '15', 'bin')]
const [given, onPath] = [installed('given'), installed('path')]
const path = [join(root, 'nothing'), onPath].join(delimiter)
const nowhere = { given: undefined, debian: join(root, 'nowhere'), path: '' }

describe('the PostgreSQL of the tests', () => {
  it.each([
    ['the one that is given', { given, debian, path }, given],
    ["Debian's newest", { given: '', debian, path }, newest],
    ['the first of the search path', { ...nowhere, path }, onPath],
  ])('is %s', async (_, places, folder) => expect(await findPostgres(places)).toBe(folder))

  it('is refused with a line that says what to do where a given folder has none', async () => {
    const refused = findPostgres({ given: root, debian, path })
    await expect(refused).rejects.toThrow(/^PORTCULLIS_POSTGRES_BIN names .*, which does not hold initdb and postgres$/)
  })
})
