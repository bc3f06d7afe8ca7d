import { stat } from 'node:fs/promises'
import type { PkiFiles } from '../../../node/index.ts'
import type { Setting } from '../../settings/setting.ts'

/** What those may do who are neither the owner of a file nor of its group: read it, write it. */
const OTHERS = 0o006

/** SQLite keeps records in these files too. */
const SQLITE_SUFFIXES = ['', '-wal', '-journal']

/**
 * What the operator should know of files that hold secrets, one line each: private keys, and a database, whose enrollment
 * tokens are readable, that every user of the machine may read or change.
 */
export async function exposureNotes(storage: Setting, files: PkiFiles): Promise<readonly string[]> {
  // Windows has no such permissions, and tells some for every file.
  if (process.platform === 'win32') return []
  const file = /^sqlite:(.*)$/s.exec(storage.value)?.[1]
  const databases = file === undefined || file === ':memory:' ? [] : SQLITE_SUFFIXES.map((suffix) => `${file}${suffix}`)
  const keys = [files.signingKeyPem, files.serverKeyPem]
  const notes = [
    ...keys.map((path) => noteOf(path, 'the private key')),
    ...databases.map((path) => noteOf(path, 'the database')),
  ]
  return (await Promise.all(notes)).filter((note) => note !== undefined)
}

async function noteOf(path: string, what: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || (found.mode & OTHERS) === 0) return undefined
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0')
  return `warning: ${what} ${path} is open to every user of this machine (mode ${mode}): chmod 600 closes it`
}
