import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchRow } from './row.ts'
import { measureRow, type RowCost } from './wire/measure.ts'
import { createNetwork, type Network } from './wire/network.ts'
import { type ServerProcess, startConstant, startLoad, startPortcullis } from './wire/processes.ts'
import { WIRE_ROWS, type WireRow } from './wire/rows.ts'

const DATABASE = 'portcullis.sqlite'

/**
 * Requests over TLS to a server in a process of its own, in processor time of that process; the rows named, or all. With
 * `PORTCULLIS_PROFILE`, servers leave their CPU profiles in that folder.
 */
export async function benchWire(names: readonly string[] = [...WIRE_ROWS.keys()]): Promise<BenchRow[]> {
  const rows = names.map((name) => {
    const row = WIRE_ROWS.get(name)
    if (row === undefined) throw new Error(`there is no row ${name}: choose among ${[...WIRE_ROWS.keys()].join(', ')}`)
    return row
  })
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-wire-'))
  const load = startLoad()
  const servers = new Servers(directory)
  try {
    const network = await servers.fill()
    const measured: BenchRow[] = []
    for (const row of rows) {
      const { server, network: own = network } = await servers.startFor(row)
      const cost = await measureRow({ directory, load, network: own }, row, server)
      await server.stop()
      measured.push(benchRow(row, cost))
    }
    return measured
  } finally {
    await load.stop()
    await rm(directory, { recursive: true })
  }
}

/** The servers of the rows: each row has one of its own, on a copy of the same database. */
class Servers {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Fills the database that rows begin with. */
  async fill(): Promise<Network> {
    const server = await startPortcullis(this.#directory, `sqlite:${DATABASE}`)
    const network = await createNetwork(server.port, join(this.#directory, 'pki', 'ca.pem'))
    await server.stop()
    return network
  }

  async startFor({
    server: kind = 'sqlite',
    services,
  }: WireRow): Promise<{ server: ServerProcess; network?: Network }> {
    const directory = this.#directory
    const profile = process.env.PORTCULLIS_PROFILE
    if (kind === 'sqlite') {
      await cp(join(directory, DATABASE), join(directory, 'copy.sqlite'))
      for (const ending of ['-wal', '-shm']) await rm(join(directory, `copy.sqlite${ending}`), { force: true })
      return { server: await startPortcullis(directory, 'sqlite:copy.sqlite', { profile }) }
    }
    if (kind === 'memory') {
      const server = await startPortcullis(directory, 'memory', { profile })
      return { server, network: await createNetwork(server.port, join(directory, 'pki', 'ca.pem'), services) }
    }
    const constant = { status: 200, headers: { 'content-type': 'application/json' }, body: ANSWER, burnMs: 0 }
    return { server: await startConstant(directory, { kind, pki: join(directory, 'pki'), ...constant }) }
  }
}

/** About as long as a service is. */
const ANSWER = JSON.stringify({ data: { id: 'x', text: 'y'.repeat(900) }, meta: {} })

function benchRow(row: WireRow, cost: RowCost): BenchRow {
  const { title, targetOver, target } = row
  const { bare, burning, below, bytes } = cost
  const figures = [
    `over bare Node ${ms(cost.warm - bare.warm)}, ${ms(cost.warm - burning)} over one that burns`,
    `first second ${ms(cost.first)}, ${ms(cost.first - bare.first)} over`,
    ...(below === undefined ? [] : [`the framework alone ${ms(below.warm)}`]),
    `p50 ${cost.p50.toFixed(1)} p99 ${cost.p99.toFixed(1)} ms at ${Math.round(cost.perSecond)}/s`,
    `${bytes} bytes`,
  ]
  return {
    name: title,
    value: cost.warm,
    unit: 'ms',
    ceiling: { name: `bare Node (${ms(bare.warm)} ms)`, value: bare.warm },
    details: figures.join('; '),
    ...(targetOver !== undefined && { target: `≤${targetOver} over bare Node` }),
    ...(target !== undefined && { target: `≤${target} ms` }),
  }
}

function ms(value: number): string {
  return value.toFixed(3)
}
