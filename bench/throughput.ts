import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { freePorts } from '../examples/traffic/web.ts'
import { findZiti } from '../examples/traffic/ziti.ts'
import { LinkedNetwork } from '../test/support/linked-network.ts'
import { type Carrier, ofDuplex, READY, serveStream } from './dataplane/carried-stream.ts'
import { untilHosted } from './dataplane/carriers.ts'
import { besides, inTurns, type Outcomes } from './dataplane/in-turns.ts'
import { processOf } from './dataplane/measured-process.ts'
import { dials, echo, type Subject, stream } from './dataplane/workloads.ts'
import { ownRouter } from './dataplane.ts'
import type { BenchRow } from './row.ts'

const MEGABYTES = 32
const STREAMS = [1, 8]
const ECHO_MS = 2000
const DIALS = 100

/**
 * The cost of a router between real tunnelers: `ziti tunnel host` and `ziti tunnel proxy` of the program that `ZITI` names, through
 * our router and through the one of that program, in turns, both under our controller. Processor time is that of the router.
 */
export async function* benchThroughput(): AsyncGenerator<BenchRow> {
  const ziti = findZiti()
  if (ziti === undefined) {
    console.warn('SKIPPED: nothing was measured, because there is no `ziti` on the path and ZITI names none')
    return
  }
  const target = createServer((socket) => serveStream(ofDuplex(socket.setNoDelay(true))))
  target.listen({ host: '127.0.0.1', port: 0, backlog: 511 })
  await once(target, 'listening')
  const { port } = Object(target.address())
  const network = await LinkedNetwork.open(ziti)
  const stops: (() => Promise<void>)[] = [() => network.close()]
  try {
    const own = await ownRouter(network)
    stops.unshift(own.stop)
    const theirs = await network.deployed('theirs', 'listens')
    const subjects: Subject[] = [
      { name: 'ours', process: own.process, carrier: await byTunnelers(network, 'ours', own.id, port) },
      {
        name: 'deployed',
        process: processOf(theirs.process.pid ?? 0),
        carrier: await byTunnelers(network, 'theirs', theirs.id, port),
      },
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
  } finally {
    for (const stop of stops) await stop()
    target.close()
  }
}

/** Streams between a port of this machine and a program that takes them, by two tunnelers at one router. */
async function byTunnelers(network: LinkedNetwork, name: string, routerId: string, target: number): Promise<Carrier> {
  const [port = 0] = await freePorts(1)
  await network.service(name, target, { host: routerId, client: routerId })
  await network.tunneler(name, 'host')
  await network.tunneler(name, 'client', port)
  // A tunneler takes connections before it has a circuit: a byte that came back shows one.
  const open = async () => {
    const socket = connect({ host: '127.0.0.1', port }).setNoDelay(true)
    socket.write(Uint8Array.of(READY))
    const gone = once(socket, 'close').then(() => Promise.reject(new Error('the tunneler closed the connection')))
    await Promise.race([once(socket, 'data'), gone])
    gone.catch(() => undefined)
    return ofDuplex(socket)
  }
  await untilHosted(open)
  return { open, close: async () => undefined }
}

function row<T>(name: string, outcomes: Outcomes<T>, figure: (outcome: T) => number): BenchRow {
  const facts = { name: `${name}, real tunnelers`, ceiling: 'deployed', target: 'at most the deployed' }
  return besides(facts, outcomes, figure)
}
