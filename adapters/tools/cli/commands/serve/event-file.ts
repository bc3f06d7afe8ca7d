import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir, open, rename, rmdir, stat } from 'node:fs/promises'

const OWNER_ALONE = 0o600
/** How often the place of the file is looked at, in ms. */
const FILE_LOOK_MS = 1000
/** A lock that is older belongs to a process that died, in ms. */
const LOCK_LASTS_MS = 10_000

/** An open file with its identity, which stays the same wherever the file is moved. */
interface Opened {
  readonly stream: WriteStream
  readonly identity: string
}

/** Takes lines for a file that may be moved away: by its size, by others, or before a SIGHUP. */
export class EventFile {
  readonly #file: string
  readonly #mostBytes: number
  #opened: Opened
  #looking: Promise<void> = Promise.resolve()
  readonly #timer: NodeJS.Timeout
  readonly #onHangUp = () => void this.#look()
  #isBroken = false

  private constructor(file: string, mostBytes: number, opened: Opened) {
    this.#file = file
    this.#mostBytes = mostBytes
    this.#opened = this.#watched(opened)
    this.#timer = setInterval(() => void this.#look(), FILE_LOOK_MS).unref()
    process.on('SIGHUP', this.#onHangUp)
  }

  /** Opens a file to write behind it. Rejects where it cannot be written. */
  static async open(file: string, mostBytes: number): Promise<EventFile> {
    return new EventFile(file, mostBytes, await openedFile(file))
  }

  /** Bytes that wait to be written. */
  get waiting(): number {
    return this.#opened.stream.writableLength
  }

  /** Whether the last write failed, as on a full disk; the file is opened again with the next look. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  write(line: string): void {
    this.#opened.stream.write(line)
  }

  /** Lets waiting lines reach the file. */
  async end(): Promise<void> {
    clearInterval(this.#timer)
    process.off('SIGHUP', this.#onHangUp)
    await this.#looking
    await endOf(this.#opened.stream)
  }

  #watched(opened: Opened): Opened {
    opened.stream.on('error', () => {
      if (opened === this.#opened) this.#isBroken = true
    })
    return opened
  }

  /** Follows the file where it was moved, and moves it where it is large. */
  #look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#lookOnce()).catch(() => undefined)
    return this.#looking
  }

  async #lookOnce(): Promise<void> {
    const { identity, stream: before } = this.#opened
    const there = await found(this.#file)
    const isInPlace = there?.identity === identity && !this.#isBroken
    if (isInPlace && there.size < this.#mostBytes) return
    if (isInPlace && !(await this.#moveAway(identity))) return
    this.#opened = this.#watched(await openedFile(this.#file))
    this.#isBroken = false
    await endOf(before)
  }

  /** One of several processes that write to a file moves it; false if another process is about to. */
  async #moveAway(identity: string): Promise<boolean> {
    const lock = `${this.#file}.moving`
    try {
      await mkdir(lock)
    } catch {
      const held = await found(lock)
      if (held !== undefined && Date.now() - held.changedAt > LOCK_LASTS_MS) await rmdir(lock)
      return false
    }
    try {
      if ((await found(this.#file))?.identity === identity) await rename(this.#file, `${this.#file}.1`)
      return true
    } finally {
      await rmdir(lock)
    }
  }
}

async function openedFile(file: string): Promise<Opened> {
  const handle = await open(file, 'a', OWNER_ALONE)
  const { dev, ino } = await handle.stat({ bigint: true })
  return { stream: createWriteStream(file, { fd: handle }), identity: `${dev}.${ino}` }
}

interface FoundFile {
  readonly identity: string
  readonly size: number
  /** Milliseconds since the Unix epoch. */
  readonly changedAt: number
}

async function found(file: string): Promise<FoundFile | undefined> {
  const facts = await stat(file, { bigint: true }).catch(() => undefined)
  return facts && { identity: `${facts.dev}.${facts.ino}`, size: Number(facts.size), changedAt: Number(facts.mtimeMs) }
}

/** Resolves once the waiting lines were written, or cannot be written. */
async function endOf(stream: WriteStream): Promise<void> {
  if (stream.destroyed) return
  await new Promise<void>((resolve) => {
    stream.once('close', () => resolve())
    stream.end()
  })
}
