import { setTimeout as sleep } from 'node:timers/promises'
import { type CarriedStream, READY, sourceRequest } from '../dataplane/carried-stream.ts'
import { dials, echo, median, openAll, type Subject } from '../dataplane/workloads.ts'

const STREAMS_FOR_MS = 1500
/** Streams that are beside an echo. */
const BESIDE = 8
const ECHO_MS = 2000
const DIALS = 150
const FIRST_BYTES = 20
const MEGABYTE = 1024 * 1024
/** Bytes that the streams of a measurement ask for ahead of what has come, and those of one of very many streams. */
const MOST_ASKED = 32 * MEGABYTE
const LEAST_ASKED = MEGABYTE / 4

/** The yield of a number of streams in a time. */
export interface StreamFigures {
  readonly mbPerSecond: number
  /** Processor time of a MB, ms. */
  readonly cpuMs: number
  /** The bytes of the stream with the fewest, as a part of the mean. */
  readonly fairness: number
}

/** Has streams send as much as they can, each for the same time. */
export async function streams(subject: Subject, count: number): Promise<StreamFigures> {
  const opened = await openAll(subject.carrier, count)
  const cpuBefore = await subject.process.cpuMs()
  const begun = performance.now()
  const pulls = opened.map((stream) => new Pull(stream, Math.max(LEAST_ASKED, MOST_ASKED / count)))
  await sleep(STREAMS_FOR_MS)
  const bytes = pulls.map(({ received }) => received)
  const elapsedMs = performance.now() - begun
  const cpu = (await subject.process.cpuMs()) - cpuBefore
  await Promise.all(pulls.map((pull) => pull.end()))
  for (const one of opened) one.close()
  await sleep(200)
  const megabytes = bytes.reduce((sum, one) => sum + one, 0) / MEGABYTE
  return {
    mbPerSecond: (megabytes / elapsedMs) * 1000,
    cpuMs: cpu / megabytes,
    fairness: Math.min(...bytes) / ((megabytes * MEGABYTE) / count),
  }
}

/**
 * A stream that brings as much as it can, by requests that are always ahead of it, until it ends with all that it asked for. A stream that
 * is closed in the middle would change the next measurement: deployed senders repeat unread bytes for five seconds and longer.
 */
class Pull {
  received = 0
  #asked: number
  #isEnding = false
  #ended: () => void = () => undefined

  constructor(stream: CarriedStream, ahead: number) {
    const piece = Math.round(ahead / 2)
    this.#asked = 2 * piece
    stream.onBytes = ({ length }) => {
      this.received += length
      if (!this.#isEnding && this.#asked - this.received <= piece) {
        this.#asked += piece
        stream.send(sourceRequest(piece))
      }
      if (this.#isEnding && this.received >= this.#asked) this.#ended()
    }
    stream.send(sourceRequest(this.#asked))
  }

  /** Asks for nothing more, and resolves when all has come. */
  async end(): Promise<void> {
    this.#isEnding = true
    if (this.received >= this.#asked) return
    await new Promise<void>((resolve) => {
      this.#ended = resolve
    })
  }
}

/** Echoes of 1 kB, one after the other, while other streams send as much as they can. Times in ms. */
export async function echoBeside(subject: Subject): Promise<{ readonly p50: number; readonly p99: number }> {
  const opened = await openAll(subject.carrier, BESIDE)
  const pulls = opened.map((stream) => new Pull(stream, MOST_ASKED / BESIDE))
  const { p50, p99 } = await echo(subject, 1, ECHO_MS)
  await Promise.all(pulls.map((pull) => pull.end()))
  for (const one of opened) one.close()
  await sleep(200)
  return { p50, p99 }
}

/** Connections that are opened and closed, 16 at once, and the ms until the first byte of one that is opened alone. */
export async function dialed(subject: Subject): Promise<{ readonly perSecond: number; readonly firstByteMs: number }> {
  const { perSecond } = await dials(subject, DIALS)
  const times: number[] = []
  for (let index = 0; index < FIRST_BYTES; index += 1) {
    const begun = performance.now()
    const stream = await subject.carrier.open()
    await new Promise<void>((resolve) => {
      stream.onBytes = () => resolve()
      stream.send(Uint8Array.of(READY))
    })
    times.push(performance.now() - begun)
    stream.close()
  }
  return { perSecond, firstByteMs: median(times) }
}
