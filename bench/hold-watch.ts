import { PerformanceObserver } from 'node:perf_hooks'
import type { BenchRow } from './row.ts'

/** For how long work held the loop, and how long it took. */
export interface Watched {
  readonly longest: number
  readonly longestOfOwn: number
  readonly took: number
}

/** Watches a piece of work. */
export async function watched(work: () => Promise<unknown>): Promise<Watched> {
  const watch = new HoldWatch()
  const from = performance.now()
  await work()
  const took = performance.now() - from
  return { ...(await watch.stop()), took }
}

/** The row of work that ran several times. */
export function rowOf(name: string, runs: readonly Watched[]): BenchRow {
  const [longest = 0, second] = runs.map((run) => run.longest).toSorted((one, other) => other - one)
  const [own = 0, secondOwn] = runs.map((run) => run.longestOfOwn).toSorted((one, other) => other - one)
  const took = runs.map((run) => run.took).toSorted((one, other) => one - other)[runs.length >> 1] ?? 0
  const next = (ms: number | undefined) => (ms === undefined ? '' : `, then ${ms.toFixed(1)}`)
  const details = `of ${runs.length}${next(second)} ms; without the collector ${own.toFixed(1)}${next(secondOwn)} ms; answered after ${took.toFixed(1)} ms`
  const ceiling = { name: 'a million steps of a loop', value: fixedLoopMs() }
  return { name, value: longest, unit: 'ms', ceiling, target: '<10 ms', details }
}

/** The least time of a million steps of a loop, each of which waits for the one before: by it figures of machines are compared. */
function fixedLoopMs(): number {
  const times = Array.from({ length: 15 }, () => {
    const from = performance.now()
    let sum = 0.1
    for (let step = 0; step < 1_000_000; step += 1) sum = sum * 1.0000001 + 0.1
    return Number.isFinite(sum) ? performance.now() - from : Number.NaN
  })
  return Math.min(...times)
}

/** A piece of work of the thread: its processor time, and from when to when (ms of `performance.now`) it ran. */
interface Hold {
  readonly cpuMs: number
  readonly from: number
  readonly until: number
}

/** Watches the longest piece of work of the thread, in processor time, and the longest in which nothing was collected. */
class HoldWatch {
  readonly #holds: Hold[] = []
  readonly #collections: { readonly from: number; readonly until: number }[] = []
  readonly #observer: PerformanceObserver
  #isOver = false
  #cpuBefore = threadMs()
  #before = performance.now()

  constructor() {
    this.#observer = new PerformanceObserver((list) => this.#note(list.getEntries()))
    this.#observer.observe({ entryTypes: ['gc'] })
    this.#look()
  }

  async stop(): Promise<{ readonly longest: number; readonly longestOfOwn: number }> {
    // The collector tells of an object a moment after it was collected.
    await new Promise((resolve) => setTimeout(resolve, 20))
    this.#isOver = true
    await new Promise((resolve) => setImmediate(resolve))
    this.#note(this.#observer.takeRecords())
    this.#observer.disconnect()
    const own = this.#holds.filter((hold) =>
      this.#collections.every(({ from, until }) => until < hold.from || from > hold.until),
    )
    return { longest: longestOf(this.#holds), longestOfOwn: longestOf(own) }
  }

  #note(entries: readonly { readonly startTime: number; readonly duration: number }[]): void {
    for (const { startTime, duration } of entries)
      this.#collections.push({ from: startTime, until: startTime + duration })
  }

  #look(): void {
    const [cpu, now] = [threadMs(), performance.now()]
    // Some kernels count processor time in ticks of 4 ms, and a piece of work cannot have taken longer than it took.
    const cpuMs = Math.min(cpu - this.#cpuBefore, now - this.#before)
    // Notes of every turn would be collected themselves.
    if (cpuMs > 1) this.#holds.push({ cpuMs, from: this.#before, until: now })
    this.#cpuBefore = cpu
    this.#before = now
    if (!this.#isOver) setImmediate(() => this.#look())
  }
}

function longestOf(holds: readonly Hold[]): number {
  return holds.reduce((longest, { cpuMs }) => Math.max(longest, cpuMs), 0)
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
