import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { TestController } from 'portcullis/testing'

export async function adminToken(controller: TestController): Promise<string> {
  const login = { query: { method: 'password' as const }, body: { username: 'admin', password: 'admin-password' } }
  return (await controller.management.call('POST /authenticate', login)).data.token
}

/** Sends one request through the HTTP function and reads the whole answer. */
export async function ask(controller: TestController, path: string, token: string, body?: unknown): Promise<string> {
  const headers = { 'zt-session': token, 'content-type': 'application/json' }
  const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await controller.fetch(new Request(`https://controller.test:1280${path}`, { headers, ...post }))
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} was refused: ${text}`)
  return text
}

export interface Timing {
  /** The median, in ms. */
  readonly value: number
  readonly unit: 'ms'
  readonly longestHoldMs: number
}

/** Runs `work` `runs` times after a tenth as many to warm up, one turn of the event loop apart. */
export async function timed(runs: number, work: () => Promise<void>): Promise<Timing> {
  for (let run = 0; run < Math.ceil(runs / 10); run += 1) await work()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  await nextTurn()
  delay.enable()
  const times: number[] = []
  for (let run = 0; run < runs; run += 1) {
    await nextTurn()
    const from = performance.now()
    await work()
    times.push(performance.now() - from)
  }
  await nextTurn()
  delay.disable()
  return { value: times.sort((a, b) => a - b)[times.length >> 1] ?? 0, unit: 'ms', longestHoldMs: delay.max / 1e6 }
}

/** The processor time, in ms, that a run of the work takes, after a fifth as many runs to warm up. */
export async function cpuMs(runs: number, work: () => Promise<unknown>): Promise<number> {
  for (let run = 0; run < Math.ceil(runs / 5); run += 1) await work()
  const from = process.cpuUsage()
  for (let run = 0; run < runs; run += 1) await work()
  const { user, system } = process.cpuUsage(from)
  return (user + system) / 1000 / runs
}

/** The median, in ms, of `runs` runs that hold the thread, after a tenth as many to warm up. */
export function timedSync(runs: number, work: () => unknown): number {
  for (let run = 0; run < Math.ceil(runs / 10); run += 1) work()
  const times = Array.from({ length: runs }, () => {
    const from = performance.now()
    work()
    return performance.now() - from
  })
  return times.sort((a, b) => a - b)[runs >> 1] ?? 0
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2))
}
