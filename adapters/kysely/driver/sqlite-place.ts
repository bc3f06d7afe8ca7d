import { type BigIntStats, mkdtempSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

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

/** Identifies a file, by whatever name; undefined when there is none. */
function identityOf(file: string): string | undefined {
  const found: BigIntStats | undefined = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}.${found.ino}`
}

/** Read and write for the owner alone: databases hold one-time tokens. */
const OWNER_ONLY = 0o600

/** Makes an empty file that only its owner may read, where there is none; a file that is there keeps its mode. */
export async function createPrivateFile(file: string): Promise<void> {
  const created = await open(file, 'a', OWNER_ONLY)
  await created.close()
}

const DIRECTORIES = new Set<string>()

/** The name of a file in a directory of its own, both gone after `remove` or, at the latest, when the process ends. */
export function temporaryFile(): { readonly file: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'portcullis-'))
  if (DIRECTORIES.size === 0) process.on('exit', removeAll)
  DIRECTORIES.add(directory)
  return {
    file: join(directory, 'memory.db'),
    remove() {
      remove(directory)
      if (DIRECTORIES.size === 0) process.off('exit', removeAll)
    },
  }
}

function removeAll(): void {
  for (const directory of DIRECTORIES) remove(directory)
}

function remove(directory: string): void {
  DIRECTORIES.delete(directory)
  rmSync(directory, { recursive: true, force: true })
}
