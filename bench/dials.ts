import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { enrollDevice, enrollRouter } from '../examples/traffic/enroll.ts'
import { createNetwork } from '../examples/traffic/network.ts'
import { freePorts } from '../examples/traffic/web.ts'
import { findZiti, ZitiProcesses } from '../examples/traffic/ziti.ts'
import { type RunningController, startDeployed, startPortcullis } from './dials/controllers.ts'
import type { BenchRow } from './row.ts'

const DIALS = 1000
/** Connections that wait at once; the parts of the benchmark. */
const AT_ONCE = ['20', '200']
const ROUNDS = 3
/** A dial that takes longer has failed. */
const PATIENCE_MS = 30_000

/**
 * How long a connection takes through a real router to a real host: from connecting to the port of the dialing tunneler to the
 * first byte that comes back. The ceiling is the same under the controller of the same program, in turns with ours.
 */
export async function* benchDials(parts: readonly string[] = AT_ONCE): AsyncGenerator<BenchRow> {
  const ziti = findZiti()
  if (ziti === undefined) {
    console.warn('SKIPPED: no dial was measured, because there is no `ziti` on the path and ZITI names none')
    return
  }
  const echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket))
  echo.listen({ host: '127.0.0.1', port: 0, backlog: 511 })
  await once(echo, 'listening')
  const address = echo.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-dials-'))
  const kept = process.env.PORTCULLIS_BENCH_KEEP !== undefined
  try {
    const runs = Array.from({ length: ROUNDS }, (_, index) => parts.map((part) => [index + 1, Number(part)] as const))
    for (const [run, atOnce] of runs.flat()) {
      const place = (name: string) => ({ folder: join(folder, `${name}-${atOnce}-${run}`), port, atOnce })
      const deployed = await measured(ziti, place('deployed'), (where) => startDeployed(ziti, where))
      const own = await measured(ziti, place('portcullis'), startPortcullis)
      for (const [name, percent] of [
        ['p50', 0.5],
        ['p99', 0.99],
        ['longest', 1],
      ] as const) {
        yield {
          name: `dials through a real router, ${atOnce} at once, run ${run}: ${name}`,
          value: percentile(own, percent),
          unit: 'ms',
          ceiling: { name: 'deployed', value: percentile(deployed, percent) },
          details: `deployed ${percentile(deployed, percent).toFixed(1)} ms; failed: ${failed(own)}, deployed ${failed(deployed)}`,
        }
      }
    }
  } finally {
    echo.close()
    if (kept) console.log(`logs are in ${folder}`)
    else await rm(folder, { recursive: true, force: true })
  }
}

/** The milliseconds of each dial under a controller of its own, least first. */
async function measured(
  ziti: string,
  { folder, port: target, atOnce }: { readonly folder: string; readonly port: number; readonly atOnce: number },
  start: (place: { readonly folder: string; readonly port: number }) => Promise<RunningController>,
): Promise<readonly number[]> {
  await mkdir(folder)
  const file = (name: string) => join(folder, name)
  const processes = new ZitiProcesses(ziti)
  const [port = 0, linkPort = 0, edgePort = 0, byProxy = 0] = await freePorts(4)
  const { admin, stop } = await start({ folder, port })
  try {
    await createNetwork(admin, target)
    await enrollRouter(admin, ziti, { name: 'router' }, { files: file('router'), linkPort, edgePort })
    processes.start(file('router.log'), ['router', 'run', file('router.yml')])
    await enrollDevice(admin, ziti, { name: 'host', role: 'hosts', files: file('host') })
    await enrollDevice(admin, ziti, { name: 'client', role: 'clients', files: file('client') })
    processes.start(file('host.log'), ['tunnel', 'host', '--identity', file('host.json')])
    processes.start(file('client.log'), ['tunnel', 'proxy', '--identity', file('client.json'), `web:${byProxy}`])
    const deadline = Date.now() + 2 * PATIENCE_MS
    while ((await dial(byProxy)) === Number.POSITIVE_INFINITY) {
      if (Date.now() > deadline) throw new Error(`nothing came through the router: see ${folder}`)
      await sleep(300)
    }
    const times: number[] = []
    let left = DIALS
    const dialer = async () => {
      while (left > 0) {
        left -= 1
        times.push(await dial(byProxy))
      }
    }
    await Promise.all(Array.from({ length: atOnce }, dialer))
    return times.sort((one, other) => one - other)
  } finally {
    await processes.stop()
    await stop()
  }
}

/** Milliseconds until a byte came back through a port; infinite when the connection ended before. */
async function dial(port: number): Promise<number> {
  const begun = performance.now()
  const socket = connect({ host: '127.0.0.1', port })
  try {
    socket.write('x')
    await Promise.race([
      once(socket, 'data', { signal: AbortSignal.timeout(PATIENCE_MS) }),
      once(socket, 'close').then(() => Promise.reject(new Error('closed'))),
    ])
    return performance.now() - begun
  } catch {
    return Number.POSITIVE_INFINITY
  } finally {
    socket.on('error', () => undefined).destroy()
  }
}

const failed = (times: readonly number[]) => times.filter((time) => !Number.isFinite(time)).length

function percentile(times: readonly number[], part: number): number {
  return times[Math.min(times.length - 1, Math.ceil(part * times.length) - 1)] ?? Number.NaN
}
