import type { Controller } from '../../../../../src/index.ts'
import { type Setting, UsageError } from '../../command-line/usage.ts'
import { EventFile } from './event-file.ts'

/** Where events are written. */
export interface EventTarget {
  /** The option, as it was given. */
  readonly name: string
  /** Undefined for standard output. */
  readonly file: string | undefined
  /** A larger file is moved to the same name with .1 at its end, in place of the earlier file. */
  readonly mostBytes: number
}

/** Bytes that may wait for a slow disk or reader; events beyond them are left out, and a line says how many. */
const MOST_WAITING = 16_777_216

const MIB = 1_048_576
const USUAL_MIB = 256

/** Reads how large a file of events becomes, in MiB. Throws {@link UsageError}. */
export function readEventsSize(setting: Setting | undefined): number {
  if (setting === undefined) return USUAL_MIB * MIB
  if (/^[1-9]\d{0,5}$/.test(setting.value)) return Number(setting.value) * MIB
  throw new UsageError(`${setting.name} takes a number of MiB from 1 to 999999, not '${setting.value}'`)
}

/** Reads `stdout` or `file:FILE`. Throws {@link UsageError}. */
export function readEventTarget({ name, value }: Setting, mostBytes: number): EventTarget {
  if (value === 'stdout') return { name, file: undefined, mostBytes }
  const [, file = ''] = /^file:(.+)$/.exec(value) ?? []
  if (file !== '') return { name, file, mostBytes }
  throw new UsageError(`${name} takes stdout or file:FILE, not '${value}'`)
}

/** Writes events from now on as lines of JSON; answers the function that ends it. Throws {@link UsageError}. */
export async function writeEvents(
  { events }: Pick<Controller, 'events'>,
  targets: readonly EventTarget[],
): Promise<() => Promise<void>> {
  const lines: EventLines[] = []
  for (const target of targets) lines.push(new EventLines(await opened(target)))
  const stop = lines.length === 0 ? () => undefined : events.deployed((event) => tellAll(lines, event))
  return async () => {
    stop()
    await Promise.all(lines.map((each) => each.end()))
  }
}

function tellAll(lines: readonly EventLines[], event: object): void {
  const text = JSON.stringify(event)
  for (const each of lines) each.write(text)
}

async function opened({ name, file, mostBytes }: EventTarget): Promise<LineTarget> {
  if (file === undefined) return new StandardOutput()
  try {
    return await EventFile.open(file, mostBytes)
  } catch (error) {
    throw new UsageError(`${name}: ${file} cannot be written: ${error instanceof Error ? error.message : error}`)
  }
}

/** Where lines go. */
type LineTarget = Pick<EventFile, 'waiting' | 'isBroken' | 'write' | 'end'>

/** Standard output, which stays open. */
class StandardOutput implements LineTarget {
  isBroken = false

  constructor() {
    process.stdout.on('error', () => {
      this.isBroken = true
    })
  }

  get waiting(): number {
    return process.stdout.writableLength
  }

  write(line: string): void {
    process.stdout.write(line)
  }

  async end(): Promise<void> {}
}

/** The lines of one target. It may lose lines that it does not take in time. */
class EventLines {
  readonly #target: LineTarget
  #leftOut = 0

  constructor(target: LineTarget) {
    this.#target = target
  }

  write(text: string): void {
    if (this.#target.isBroken || this.#target.waiting + text.length > MOST_WAITING) {
      this.#leftOut += 1
      return
    }
    if (this.#leftOut > 0)
      this.#target.write(`${JSON.stringify({ namespace: 'portcullis', left_out: this.#leftOut })}\n`)
    this.#leftOut = 0
    this.#target.write(`${text}\n`)
  }

  /** Lets waiting lines reach a file. */
  end(): Promise<void> {
    return this.#target.end()
  }
}
