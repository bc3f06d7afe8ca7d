import { setTimeout as sleep } from 'node:timers/promises'
import { type CarriedStream, READY, SOURCE } from '../dataplane/carried-stream.ts'
import { dials, echo, median, openAll, type Subject } from '../dataplane/workloads.ts'

const STREAMS_FOR_MS = 1500
/** Streams that are beside an echo. */
const BESIDE = 8
const ECHO_MS = 2000
const DIALS = 150
const FIRST_BYTES = 20
const MEGABYTE = 1024 * 1024
/** More than any stream brings in its time. */
const ENDLESS = 0xf000_0000

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
  const bytes = await sourcesFor(opened, STREAMS_FOR_MS)
  const elapsedMs = performance.now() - begun
  const cpu = (await subject.process.cpuMs()) - cpuBefore
  for (const one of opened) one.close()
  await sleep(200)
  const megabytes = bytes.reduce((sum, one) => sum + one, 0) / MEGABYTE
  return {
    mbPerSecond: (megabytes / elapsedMs) * 1000,
    cpuMs: cpu / megabytes,
    fairness: Math.min(...bytes) / ((megabytes * MEGABYTE) / count),
  }
}

async function sourcesFor(opened: readonly CarriedStream[], forMs: number): Promise<number[]> {
  const bytes = opened.map(() => 0)
  for (const [index, stream] of opened.entries()) {
    stream.onBytes = ({ length }) => {
      bytes[index] = (bytes[index] ?? 0) + length
    }
    stream.send(sourceRequest())
  }
  await sleep(forMs)
  return [...bytes]
}

function sourceRequest(): Uint8Array {
  const request = new Uint8Array(5)
  request[0] = SOURCE
  new DataView(request.buffer).setUint32(1, ENDLESS)
  return request
}

/** Echoes of 1 kB, one after the other, while other streams send as much as they can. Times in ms. */
export async function echoBeside(subject: Subject): Promise<{ readonly p50: number; readonly p99: number }> {
  const opened = await openAll(subject.carrier, BESIDE)
  for (const stream of opened) stream.send(sourceRequest())
  const { p50, p99 } = await echo(subject, 1, ECHO_MS)
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
