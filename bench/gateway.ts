import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { besides, inTurns } from './dataplane/in-turns.ts'
import { type MeasuredProcess, processOf, start } from './dataplane/measured-process.ts'
import { hasNginx, startNginx } from './gateway/nginx-server.ts'
import type { BenchRow } from './row.ts'

const AT_ONCE = 16
const REQUESTS = 3000
const ALONE = 500
const MEGABYTE = 1024 * 1024
const LARGE = 64 * MEGABYTE
const SMALL = 1024

/** A door to the app over TLS, for which a session is needed, and its process. */
interface Door {
  readonly name: string
  readonly port: number
  readonly cookie: string
  readonly process: MeasuredProcess
  readonly agent: Agent
}

/**
 * Our gateway beside nginx with `auth_request`, each in one process before the same app. Ours carries each request over a circuit, as the
 * identity that logged in; nginx asks the app about the cookie and leads the request to it. Processor time is that of the door alone.
 */
export async function* benchGateway(): AsyncGenerator<BenchRow> {
  if (!hasNginx()) {
    console.warn('SKIPPED: nothing was measured, because this machine has no nginx')
    return
  }
  const app = await start<{ readonly port: number }>('../gateway/app-process.ts', {})
  const ours = await start<{ readonly port: number; readonly cookie: string }>('../gateway/gateway-process.ts', {
    app: app.answer.port,
  })
  const nginx = await startNginx(app.answer.port)
  const agent = () => new Agent({ keepAlive: true, maxSockets: AT_ONCE, rejectUnauthorized: false })
  const doors: Door[] = [
    { name: 'ours', ...ours.answer, process: ours.process, agent: agent() },
    { name: 'nginx', port: nginx.port, cookie: 'session=good', process: processOf(nginx.pid), agent: agent() },
  ]
  try {
    const many = await inTurns(doors, (door) => small(door, REQUESTS, AT_ONCE))
    yield besides(
      { name: `a request of 1 kB, ${AT_ONCE} at once: processor`, ceiling: 'nginx' },
      many,
      ({ cpuMs }) => cpuMs,
    )
    yield besides({ name: `the same: time`, ceiling: 'nginx' }, many, ({ eachMs }) => eachMs)
    const alone = await inTurns(doors, (door) => small(door, ALONE, 1))
    yield besides({ name: 'first byte of one request at a time, p50', ceiling: 'nginx' }, alone, ({ p50 }) => p50)
    yield besides({ name: 'the same, p99', ceiling: 'nginx' }, alone, ({ p99 }) => p99)
    const large = await inTurns(doors, download)
    yield besides({ name: 'a MB of a download: processor', ceiling: 'nginx' }, large, ({ cpuMs }) => cpuMs)
    yield besides({ name: 'the same: time', ceiling: 'nginx' }, large, ({ eachMs }) => eachMs)
  } finally {
    for (const door of doors) door.agent.destroy()
    for (const { stop } of [nginx, ours, app]) await stop()
  }
}

/** Asks for 1 kB `count` times, `atOnce` at a time. */
async function small(door: Door, count: number, atOnce: number) {
  const firstBytes: number[] = []
  let left = count
  const asker = async () => {
    while (left > 0) {
      left -= 1
      const from = performance.now()
      const answer = await asked(door, SMALL)
      firstBytes.push(performance.now() - from)
      await drained(answer)
    }
  }
  const [cpu, from] = [await door.process.cpuMs(), performance.now()]
  await Promise.all(Array.from({ length: atOnce }, asker))
  const eachMs = (performance.now() - from) / count
  const cpuMs = ((await door.process.cpuMs()) - cpu) / count
  const sorted = firstBytes.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
  return { cpuMs, eachMs, p50: at(0.5), p99: at(0.99) }
}

/** Downloads one large answer; figures are for a MB. */
async function download(door: Door) {
  const [cpu, from] = [await door.process.cpuMs(), performance.now()]
  await drained(await asked(door, LARGE))
  const megabytes = LARGE / MEGABYTE
  const eachMs = (performance.now() - from) / megabytes
  return { cpuMs: ((await door.process.cpuMs()) - cpu) / megabytes, eachMs }
}

async function asked({ port, cookie, agent }: Door, bytes: number): Promise<IncomingMessage> {
  const outgoing = request({
    ...{ host: '127.0.0.1', port, path: `/bytes/${bytes}`, agent, servername: 'payroll.apps.test' },
    headers: { host: `payroll.apps.test:${port}`, cookie },
  }).end()
  const [answer]: IncomingMessage[] = await once(outgoing, 'response')
  if (answer?.statusCode !== 200) throw new Error(`the door answered ${answer?.statusCode}`)
  return answer
}

async function drained(answer: IncomingMessage): Promise<void> {
  answer.resume()
  await once(answer, 'end')
}
