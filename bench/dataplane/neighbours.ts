import { once } from 'node:events'
import { openIdentity, type ServiceConnection } from 'portcullis/sdk'
import type { BenchRow } from '../row.ts'
import { start } from './measured-process.ts'
import { ACTS, type Act, type Neighbour } from './neighbour-process.ts'
import type { ServedNetwork } from './served.ts'

const KILOBYTE = Buffer.alloc(1024, 1)
/** Milliseconds between two messages of 1 kB. */
const EVERY_MS = 10
const FOR_MS = 5000
/** Milliseconds until an act is under way. */
const SETTLE_MS = 1000

/** How long an endpoint waits for its echoes while another one, in another process, takes all it can get. */
export async function* rowsOfNeighbours(network: ServedNetwork): AsyncGenerator<BenchRow> {
  const quiet = { clients: ['#quiet'], hosts: ['#quiet'] }
  await network.service('echo', quiet)
  await network.service('loud', { clients: ['#loud'], hosts: ['#loud'] })
  await using host = await openIdentity(await network.device('quiet host', ['quiet']))
  await host.host('echo', (connection: ServiceConnection) => void connection.pipe(connection))
  await using client = await openIdentity(await network.device('quiet client', ['quiet']))
  const connection = await client.dial('echo')
  await echoes(connection, FOR_MS)
  yield await measured(network, connection, 'nobody else')
  const [address = '', port] = network.address.split(':')
  for (const [at, act] of ACTS.entries()) {
    const device = await network.device(`loud ${at}`, ['loud'])
    const neighbour: Neighbour = { device, act, host: address, port: Number(port) }
    const { stop } = await start('neighbour-process.ts', neighbour)
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    yield await measured(network, connection, act)
    await stop()
  }
  connection.destroy()
}

async function measured(network: ServedNetwork, connection: ServiceConnection, act: Act | 'nobody else') {
  await network.process.told()
  const times = (await echoes(connection, FOR_MS)).toSorted((one, other) => one - other)
  const { holdMs } = await network.process.told()
  const at = (share: number) => times[Math.ceil(share * times.length) - 1] ?? Number.NaN
  const details = `median ${at(0.5).toFixed(1)}, worst ${at(1).toFixed(1)} ms of ${times.length}`
  const row: BenchRow = { name: `an echo, beside ${act}: 99 of 100`, value: at(0.99), unit: 'ms', details }
  return { ...row, target: 'under 50 ms', ...(holdMs !== undefined && { longestHoldMs: holdMs }) }
}

/** Milliseconds until each of the messages came back that are sent at fixed times, whether those before have or not. */
async function echoes(connection: ServiceConnection, forMs: number): Promise<number[]> {
  const times: number[] = []
  const sent: number[] = []
  let bytes = 0
  const onData = ({ length }: Buffer) => {
    for (bytes += length; bytes >= KILOBYTE.length; bytes -= KILOBYTE.length) {
      times.push(performance.now() - (sent[times.length] ?? Number.NaN))
      if (times.length === sent.length) connection.emit('echoed')
    }
  }
  connection.on('data', onData)
  const begun = performance.now()
  while (performance.now() - begun < forMs) {
    sent.push(performance.now())
    connection.write(KILOBYTE)
    const next = begun + sent.length * EVERY_MS
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())))
  }
  if (times.length < sent.length) await once(connection, 'echoed')
  connection.off('data', onData)
  return times
}
