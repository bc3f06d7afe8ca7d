import type { Duplex } from 'node:stream'
import { createTestController, type TestController } from 'portcullis/testing'
import { type Runtime, runtime } from '../src/concurrency/process-runtime.ts'
import { simulateRuntime } from '../src/testing.ts'
import type { BenchRow } from './row.ts'

const MEGABYTE = 1_048_576
const PIECE = Buffer.alloc(65_536, 7)
const CALLS = 3_000_000
const ROUNDS = 9
const MODEL = {
  services: [{ name: 'echo', encryptionRequired: true }],
  identities: [
    { name: 'laptop', type: 'Device' as const, isAdmin: false },
    { name: 'server', type: 'Service' as const, isAdmin: false },
  ],
  servicePolicies: (['Dial', 'Bind'] as const).map((type) => ({
    ...{ name: type, type, semantic: 'AnyOf' as const, identityRoles: ['#all'], serviceRoles: ['#all'] },
  })),
}

/**
 * How often work calls the ports of clock, timers and random values, by which a simulation replaces those of the host, and what a call
 * takes more than one of the host itself. `guard:raw` compares whole programs, and cannot tell as little as this.
 */
export async function* benchPorts(): AsyncGenerator<BenchRow> {
  const net = await createTestController({ router: true, model: MODEL })
  const laptop = net.as('laptop')
  await net.as('server').host('echo', (connection: Duplex) => void connection.pipe(connection))
  const connection = await laptop.dial('echo')
  let count = 0
  const works: readonly (readonly [name: string, times: number, work: () => Promise<unknown>])[] = [
    ['list of services', 100, () => net.admin.call('GET /services', {})],
    ['service created', 100, () => created(net.admin, count)],
    ['dial through a router', 50, async () => (await laptop.dial('echo')).destroy()],
    ['a megabyte there and back', 20, () => echoed(connection)],
  ]
  for (const [name, times, work] of works) {
    await work()
    count += 1
    const calls = new Map<string, number>()
    const restore = simulateRuntime(counted(calls))
    for (let done = 0; done < times; done += 1, count += 1) await work()
    restore()
    const each = [...calls].map(([port, all]) => `${port} ${(all / times).toFixed(1)}`)
    const value = [...calls.values()].reduce((sum, all) => sum + all, 0) / times
    yield { name: `${name}: calls of the ports`, value, unit: 'calls', details: each.join(', ') }
  }
  connection.destroy()
  await net.close()
  yield beside('clock that never goes back', runtime.monotonic, () => performance.now())
  yield beside('clock', runtime.now, () => Date.now())
  yield beside(
    'timer and its end',
    () => runtime.timer(1_000_000, nothing)(),
    () => {
      const timer = setTimeout(nothing, 1_000_000)
      timer.unref()
      clearTimeout(timer)
    },
  )
}

function nothing(): void {
  // It is never called.
}

function created(admin: TestController['admin'], number: number): Promise<unknown> {
  return admin.call('POST /services', { body: { name: `service ${number}`, encryptionRequired: true } })
}

/** A megabyte goes there and comes back, piece by piece. */
async function echoed(connection: Duplex): Promise<void> {
  for (let sent = 0; sent < MEGABYTE; sent += PIECE.length) {
    let missing = PIECE.length
    await new Promise<void>((resolve) => {
      const take = (bytes: Buffer) => {
        missing -= bytes.length
        if (missing > 0) return
        connection.off('data', take)
        resolve()
      }
      connection.on('data', take)
      connection.write(PIECE)
    })
  }
}

/** The runtime of the host, each of whose calls is counted. */
function counted(calls: Map<string, number>): Runtime {
  const host = { ...runtime }
  const counting =
    <Given extends readonly unknown[], Answer>(port: string, call: (...given: Given) => Answer) =>
    (...given: Given): Answer => {
      calls.set(port, (calls.get(port) ?? 0) + 1)
      return call(...given)
    }
  return {
    now: counting('now', host.now),
    monotonic: counting('monotonic', host.monotonic),
    timer: counting('timer', host.timer),
    interval: counting('interval', host.interval),
    later: counting('later', host.later),
    soon: counting('soon', host.soon),
    fraction: counting('fraction', host.fraction),
    uuid: counting('uuid', host.uuid),
    bytes: counting('bytes', host.bytes),
  }
}

/** A call of a port beside one of the host: processor time of each, the least of several rounds in turns. */
function beside(what: string, port: () => unknown, host: () => unknown): BenchRow {
  const least = new Map<() => unknown, number>()
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const call of round % 2 === 0 ? [port, host] : [host, port]) {
      const from = process.cpuUsage()
      for (let calls = 0; calls < CALLS; calls += 1) call()
      const { user, system } = process.cpuUsage(from)
      const ns = ((user + system) * 1000) / CALLS
      // The first round warms up.
      if (round > 0) least.set(call, Math.min(least.get(call) ?? ns, ns))
    }
  }
  return {
    name: `${what}: a call by the port`,
    value: least.get(port) ?? Number.NaN,
    unit: 'ns',
    ceiling: { name: 'the host', value: least.get(host) ?? Number.NaN },
  }
}
