import { type BigIntStats, statSync } from 'node:fs'
import { resolve } from 'node:path'

/** SQLite's result code for a file that cannot be read or written. */
const SQLITE_IOERR = 10

/**
 * Watches that a SQLite file and its write-ahead log stay where the connections of one storage found them: SQLite itself goes
 * on with a file that has no name any more, and what it acknowledges then is found by nobody.
 */
export class SqlitePlace {
  readonly #file: string
  /** There is nothing to watch where no file has the name, as with `:memory:`. */
  #database: string | undefined
  /** While there are connections, nobody but an intruder takes the log away. */
  #log: string | undefined
  #connections = 0

  constructor(file: string) {
    // A host may change its working directory later.
    this.#file = resolve(file)
  }

  /**
   * Before a connection is opened. Throws when SQLite would make an empty file in place of the one that was opened first,
   * take another one for it, or begin a second log beside one that is still written to.
   */
  opening(): void {
    if (this.#connections > 0) this.assertSame()
    else this.#assertDatabase()
  }

  opened(): void {
    this.#connections += 1
    this.#database ??= identityOf(this.#file)
  }

  closed(): void {
    this.#connections -= 1
    // The last connection moves what is in it into the database, and takes it along.
    if (this.#connections === 0) this.#log = undefined
  }

  /** Throws while another file has a name, or none: what is written meanwhile would be found by nobody. */
  assertSame(): void {
    this.#assertDatabase()
    const log = identityOf(`${this.#file}-wal`)
    this.#log ??= log
    if (log !== this.#log) throw isGone(`${this.#file}-wal`)
  }

  #assertDatabase(): void {
    if (this.#database !== undefined && identityOf(this.#file) !== this.#database) throw isGone(this.#file)
  }
}

/** The error of a database file that was there before. */
function isGone(file: string): Error {
  const message = `${file} was deleted, moved or replaced since it was opened`
  return Object.assign(new Error(message), { errcode: SQLITE_IOERR })
}

/** What a file is, whatever it is called; undefined when there is none. */
function identityOf(file: string): string | undefined {
  const found: BigIntStats | undefined = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}.${found.ino}`
}
