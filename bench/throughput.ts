import { once } from 'node:events'
import { createServer } from 'node:net'
import { findZiti } from '../examples/traffic/ziti.ts'
import { LinkedNetwork } from '../test/support/linked-network.ts'
import { ofDuplex, serveStream } from './dataplane/carried-stream.ts'
import { besides, inTurns, type Outcomes } from './dataplane/in-turns.ts'
import { processOf } from './dataplane/measured-process.ts'
import { dials, echo, stream } from './dataplane/workloads.ts'
import { ownRouter } from './dataplane.ts'
import type { BenchRow } from './row.ts'
import { throughputTables } from './throughput/table.ts'
import { bareTcp, byTunnelers, type Hop, inOneProcess, stunnel, tlsByNode, type Way } from './throughput/ways.ts'

const MEGABYTES = 32
const STREAMS = [1, 8]
const ECHO_MS = 2000
const DIALS = 100
const PARTS = ['router', 'table']

/** The ground of all parts: a controller, a host that is reached at a port, and the parts that are closed at the end. */
interface Ground {
  readonly network: LinkedNetwork
  readonly target: number
  readonly stops: (() => Promise<void>)[]
}

/**
 * Real tunnelers (`ziti tunnel host` and `ziti tunnel proxy` of the program that `ZITI` names) under our controller. `router`: the cost of
 * one router between them, ours and the one of that program in turns. `table`: what they carry over one and two routers, plain and
 * encrypted, beside bare TCP, TLS by Node, stunnel and two identities in one process.
 */
export async function* benchThroughput(parts: readonly string[] = PARTS): AsyncGenerator<BenchRow> {
  const ziti = findZiti()
  if (ziti === undefined) {
    console.warn('SKIPPED: nothing was measured, because there is no `ziti` on the path and ZITI names none')
    return
  }
  const server = createServer((socket) => serveStream(ofDuplex(socket.setNoDelay(true))))
  server.listen({ host: '127.0.0.1', port: 0, backlog: 511 })
  await once(server, 'listening')
  const { port: target } = Object(server.address())
  const network = await LinkedNetwork.open(ziti)
  const stops: Ground['stops'] = [() => network.close()]
  try {
    const own = unwatched(await ownRouter(network, 'ours'))
    stops.unshift(own.stop)
    const theirs = await network.deployed('theirs', 'listens')
    const routers: readonly [Hop, Hop] = [own, { id: theirs.id, process: processOf(theirs.process.pid ?? 0) }]
    const ground = { network, target, stops }
    if (parts.includes('router')) yield* rowsOfRouters(ground, routers)
    if (parts.includes('table'))
      for await (const table of tablesOfWays(ground, routers, own.identity)) console.log(`\n${table}`)
  } finally {
    for (const stop of stops) await stop()
    server.close()
  }
}

async function* rowsOfRouters(
  { network, target }: Ground,
  [own, theirs]: readonly [Hop, Hop],
): AsyncGenerator<BenchRow> {
  const subjects = [
    await byTunnelers(network, { name: 'ours', service: 'ours', isEncrypted: true }, [own], target),
    await byTunnelers(network, { name: 'deployed', service: 'theirs', isEncrypted: true }, [theirs], target),
  ]
  for (const streams of STREAMS) {
    const told = await inTurns(subjects, (subject) => stream(subject, streams, MEGABYTES))
    const what = streams === 1 ? '1 stream' : `${streams} streams`
    yield row(`processor time of a MB, ${what}`, told, ({ cpuMsPerMb }) => cpuMsPerMb)
  }
  const dialed = await inTurns(subjects, (subject) => dials(subject, DIALS))
  yield row('processor time of a dial', dialed, ({ cpuMs }) => cpuMs)
  const echoed = await inTurns(subjects, (subject) => echo(subject, 1, ECHO_MS))
  yield row('processor time of an echo of 1 kB', echoed, ({ cpuMs }) => cpuMs)
  yield row('echo of 1 kB, p50', echoed, ({ p50 }) => p50)
  yield row('echo of 1 kB, p99', echoed, ({ p99 }) => p99)
}

/** The tables of all ways. */
async function* tablesOfWays(
  { network, target, stops }: Ground,
  [own, theirs]: readonly [Hop, Hop],
  keys: Parameters<typeof tlsByNode>[0],
): AsyncGenerator<string> {
  const ownHost = unwatched(await ownRouter(network, 'ours-2'))
  stops.unshift(ownHost.stop)
  const deployed = await network.deployed('theirs-2', 'both')
  const theirHost = { id: deployed.id, process: processOf(deployed.process.pid ?? 0) }
  const ways: Way[] = [bareTcp(target), await tlsByNode(keys), await stunnel(network, keys, target)]
  const paths = [
    { kind: 'deployed', hops: [theirs] },
    { kind: 'deployed', hops: [theirs, theirHost] },
    { kind: 'ours', hops: [own] },
    { kind: 'ours', hops: [own, ownHost] },
  ] as const
  for (const isEncrypted of [false, true]) {
    for (const { kind, hops } of paths) {
      const name = `${kind}, ${hops.length === 1 ? '1 router' : '2 routers'}${isEncrypted ? ', encrypted' : ''}`
      const service = `${kind}-${hops.length}-${isEncrypted ? 'encrypted' : 'plain'}`
      ways.push(await byTunnelers(network, { name, service, isEncrypted }, hops, target))
    }
    ways.push(await inOneProcess(isEncrypted))
  }
  stops.unshift(...ways.map(({ close }) => close))
  yield* throughputTables(ways)
}

/** A router whose event loop is not watched: a deployed one has no such cost. */
function unwatched<T extends Hop>(router: T): T {
  return { ...router, process: { ...router.process, told: async () => ({}) } }
}

function row<T>(name: string, outcomes: Outcomes<T>, figure: (outcome: T) => number): BenchRow {
  const facts = { name: `${name}, real tunnelers`, ceiling: 'deployed', target: 'at most the deployed' }
  return besides(facts, outcomes, figure)
}
