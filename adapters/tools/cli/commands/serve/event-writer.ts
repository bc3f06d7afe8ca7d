import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import type { Controller } from '../../../../../src/index.ts'
import { type Setting, UsageError } from '../../command-line/usage.ts'

/** Where events are written. */
export interface EventTarget {
  /** The option, as it was given. */
  readonly name: string
  /** Undefined for standard output. */
  readonly file: string | undefined
}

/** Bytes that may wait for a slow disk or reader; events beyond them are left out, and a line says how many. */
const MOST_WAITING = 16_777_216
const OWNER_ALONE = 0o600

/** Reads `stdout` or `file:FILE`. Throws {@link UsageError}. */
export function readEventTarget({ name, value }: Setting): EventTarget {
  if (value === 'stdout') return { name, file: undefined }
  const [, file = ''] = /^file:(.+)$/.exec(value) ?? []
  if (file !== '') return { name, file }
  throw new UsageError(`${name} takes stdout or file:FILE, not '${value}'`)
}

/** Writes what happens from now on as lines of JSON; answers the function that ends it. Throws {@link UsageError}. */
export async function writeEvents(
  controller: Pick<Controller, 'deployedEvents'>,
  targets: readonly EventTarget[],
): Promise<() => Promise<void>> {
  const lines: EventLines[] = []
  for (const target of targets) lines.push(new EventLines(await opened(target)))
  const stop = lines.length === 0 ? () => undefined : controller.deployedEvents((event) => tellAll(lines, event))
  return async () => {
    stop()
    await Promise.all(lines.map((each) => each.end()))
  }
}

function tellAll(lines: readonly EventLines[], event: object): void {
  const text = JSON.stringify(event)
  for (const each of lines) each.write(text)
}

async function opened({ name, file }: EventTarget): Promise<Writable> {
  if (file === undefined) return process.stdout
  try {
    const handle = await open(file, 'a', OWNER_ALONE)
    return createWriteStream(file, { fd: handle })
  } catch (error) {
    throw new UsageError(`${name}: ${file} cannot be written: ${error instanceof Error ? error.message : error}`)
  }
}

/** Lines of one target, as many as it takes in time. */
class EventLines {
  readonly #stream: Writable
  #leftOut = 0
  #isBroken = false

  constructor(stream: Writable) {
    this.#stream = stream
    stream.on('error', () => {
      this.#isBroken = true
    })
  }

  write(text: string): void {
    if (this.#isBroken) return
    if (this.#stream.writableLength + text.length > MOST_WAITING) {
      this.#leftOut += 1
      return
    }
    if (this.#leftOut > 0)
      this.#stream.write(`${JSON.stringify({ namespace: 'portcullis', left_out: this.#leftOut })}\n`)
    this.#leftOut = 0
    this.#stream.write(`${text}\n`)
  }

  /** Lets what waits reach a file; standard output stays open. */
  async end(): Promise<void> {
    if (this.#stream === process.stdout || this.#isBroken) return
    await new Promise<void>((resolve) => this.#stream.end(() => resolve()))
  }
}
