import { type CarriedStream, type Carrier, ECHO, sourceRequest } from './carried-stream.ts'
import type { MeasuredProcess } from './measured-process.ts'

const MEGABYTE = 1024 * 1024
const KILOBYTE = new Uint8Array(1024)
/** Dials at once. */
const AT_ONCE = 16

/** Something that carries streams, and its process. */
export interface Subject {
  readonly name: string
  readonly carrier: Carrier
  readonly process: MeasuredProcess
}

/** Bytes that streams of a host bring. */
export async function stream({ carrier, process }: Subject, streams: number, megabytes: number) {
  const opened = await openAll(carrier, streams)
  const each = Math.round((megabytes * MEGABYTE) / streams)
  const outcome = await measured(process, () => Promise.all(opened.map((one) => received(one, each))))
  for (const one of opened) one.close()
  return { mbPerSecond: (megabytes / outcome.elapsedMs) * 1000, cpuMsPerMb: outcome.cpuMs / megabytes }
}

function received(carried: CarriedStream, bytes: number): Promise<void> {
  return new Promise((resolve) => {
    let left = bytes
    carried.onBytes = ({ length }) => {
      left -= length
      if (left <= 0) resolve()
    }
    carried.send(sourceRequest(bytes))
  })
}

/**
 * Answers of 1 kB on every stream at once, each behind the one before, for some time. Streams count alike: where few are served and
 * all others wait, most answers come soon, and most streams get none.
 */
export async function echo({ carrier, process }: Subject, streams: number, forMs: number) {
  const opened = await openAll(carrier, streams)
  const byStream: number[][] = []
  await process.told()
  const outcome = await measured(process, async () => {
    const until = performance.now() + forMs
    byStream.push(...(await Promise.all(opened.map((one) => echoed(one, until)))))
  })
  const { holdMs } = await process.told()
  for (const one of opened) one.close()
  const echoes = byStream.reduce((sum, { length }) => sum + length, 0)
  const all = byStream.flat().toSorted((one, other) => one - other)
  const means = byStream.map((times) => times.reduce((sum, time) => sum + time, 0) / times.length)
  return {
    perSecond: (echoes / outcome.elapsedMs) * 1000,
    cpuMs: outcome.cpuMs / echoes,
    medianMs: median(means),
    p50: quantile(all, 0.5),
    p99: quantile(all, 0.99),
    longestMs: byStream.reduce((longest, times) => Math.max(longest, ...times), 0),
    holdMs,
  }
}

const quantile = (sorted: readonly number[], part: number) => sorted[Math.floor(part * sorted.length)] ?? Number.NaN

/** The middle one of some figures. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN
}

function echoed(carried: CarriedStream, until: number): Promise<number[]> {
  return new Promise((resolve) => {
    const times: number[] = []
    let sentAt = performance.now()
    let left = KILOBYTE.length
    carried.onBytes = ({ length }) => {
      left -= length
      if (left > 0) return
      const now = performance.now()
      times.push(now - sentAt)
      if (now >= until) return resolve(times)
      left = KILOBYTE.length
      sentAt = now
      carried.send(KILOBYTE)
    }
    carried.send(Uint8Array.of(ECHO))
    carried.send(KILOBYTE)
  })
}

/** Streams that are opened and closed. */
export async function dials({ carrier, process }: Subject, count: number) {
  let left = count
  const work = async () => {
    for (; left > 0; ) {
      left -= 1
      const opened = await carrier.open()
      opened.close()
    }
  }
  const outcome = await measured(process, () => Promise.all(Array.from({ length: AT_ONCE }, work)))
  return { perSecond: (count / outcome.elapsedMs) * 1000, cpuMs: outcome.cpuMs / count }
}

/** Memory of what is opened and then left alone, bytes of each. It stays open: what is given back is used again unseen. */
export async function idle(process: MeasuredProcess, count: number, open: () => Promise<unknown>) {
  const opened: Promise<unknown>[] = []
  const work = async (until: number) => {
    while (opened.length < until) {
      const next = open()
      opened.push(next)
      await next
    }
  }
  const many = (until: number) => Promise.all(Array.from({ length: AT_ONCE }, () => work(until)))
  // The first ones make room for what all of them share.
  await many(Math.round(count / 4))
  const first = opened.length
  const before = { ...(await process.told()), resident: await process.residentBytes() }
  await many(count)
  const after = { ...(await process.told()), resident: await process.residentBytes() }
  const each = (all: number) => all / (opened.length - first)
  const held = after.heldBytes === undefined ? undefined : each(after.heldBytes - (before.heldBytes ?? 0))
  return { resident: each(after.resident - before.resident), held }
}

/** Opens streams, 16 at once. */
export async function openAll(carrier: Carrier, count: number): Promise<readonly CarriedStream[]> {
  const opened: CarriedStream[] = []
  const work = async () => {
    for (let left = Math.ceil(count / AT_ONCE); left > 0 && opened.length < count; left -= 1)
      opened.push(await carrier.open())
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  while (opened.length > count) opened.pop()?.close()
  return opened
}

async function measured(process: MeasuredProcess, work: () => Promise<unknown>) {
  const [cpuMs, begun] = [await process.cpuMs(), performance.now()]
  await work()
  return { elapsedMs: performance.now() - begun, cpuMs: (await process.cpuMs()) - cpuMs }
}
