import { statSync } from 'node:fs'

/** SQLite's result code for a file that cannot be read or written. */
const SQLITE_IOERR = 10

/** Whether a file is still where a connection found it: SQLite itself goes on with a file that has no name any more. */
export class FilePlace {
  readonly #file: string
  readonly #found: string | undefined

  /** Remembers the file of that name; there is nothing to watch where there is none, as with `:memory:`. */
  constructor(file: string) {
    this.#file = file
    this.#found = identityOf(file)
  }

  /** Throws when another file has the name now, or none: what is written from now on would be found by nobody. */
  assertSame(): void {
    if (this.#found !== undefined && identityOf(this.#file) !== this.#found) throw isGone(this.#file)
  }
}

/** The error of a database file that was there before. */
export function isGone(file: string): Error {
  const message = `${file} was deleted, moved or replaced since it was opened`
  return Object.assign(new Error(message), { errcode: SQLITE_IOERR })
}

function identityOf(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats && `${stats.dev}.${stats.ino}`
}
