import type { ConstantServerKind } from './constant-server.ts'
import type { Load, LoadOutcome } from './load.ts'
import type { Network } from './network.ts'
import { type LoadProcess, type ServerProcess, startConstant } from './processes.ts'
import type { WireRow } from './rows.ts'

/** The cost of a server by the request. */
export interface Cost {
  /** Processor time of its process, in ms, in its first second. */
  readonly first: number
  /** The same when it is warm: the median of some rounds. */
  readonly warm: number
  readonly p50: number
  readonly p99: number
  readonly perSecond: number
}

/** The cost of a row, and that of bare servers that answer the same bytes. */
export interface RowCost extends Cost {
  readonly bare: Cost
  /** The warm cost of bare Node that keeps its processor busy as long as the row does, less that time. */
  readonly burning: number
  readonly below?: Cost
  readonly bytes: number
}

/** Where a row is measured. */
export interface Bench {
  /** A folder with the certificates in `pki`. */
  readonly directory: string
  readonly load: LoadProcess
  readonly network: Network
}

const CONNECTIONS = 16
const FIRST_MS = 1000
const ROUND_MS = 600
const WARM_UP_MS = 800
const ROUNDS = 3
/** A row whose requests can be sent once has to last for all rounds. */
const MOST_OF_ONCE = 1 / 8

/** Measures a server, then bare ones that answer as it did. */
export async function measureRow(bench: Bench, row: WireRow, server: ServerProcess): Promise<RowCost> {
  const measuring = new Measuring(bench, row)
  const cost = await measuring.costOf(server)
  const answer = responseOf(measuring.answer)
  const constant = async (kind: ConstantServerKind, burnMs: number) => {
    const running = await startConstant(bench.directory, { kind, pki: `${bench.directory}/pki`, ...answer, burnMs })
    const found = await new Measuring(bench, row).costOf(running)
    await running.stop()
    return found
  }
  const bare = await constant('bare', 0)
  const burnMs = Math.max(cost.warm - bare.warm, 0)
  const burning = (await constant('bare', burnMs)).warm - burnMs
  const below = row.below && (await constant(row.below, 0))
  return { ...cost, bare, burning, ...(below && { below }), bytes: answer.body.length }
}

/** The rounds that a server is measured in. */
class Measuring {
  readonly #bench: Bench
  readonly #row: WireRow
  readonly #requests: readonly string[]
  #from = 0
  answer = ''

  constructor(bench: Bench, row: WireRow) {
    this.#bench = bench
    this.#row = row
    this.#requests = row.requests(bench.network)
  }

  async costOf(server: ServerProcess): Promise<Cost> {
    const first = await this.#round(server, FIRST_MS)
    await this.#round(server, WARM_UP_MS)
    const rounds = []
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await this.#round(server, ROUND_MS))
    return {
      first: first.cpuMs,
      warm: median(rounds.map(({ cpuMs }) => cpuMs)),
      p50: median(rounds.map(({ p50 }) => p50)),
      p99: median(rounds.map(({ p99 }) => p99)),
      perSecond: median(rounds.map(({ count, elapsedMs }) => (count / elapsedMs) * 1000)),
    }
  }

  async #round(server: ServerProcess, forMs: number): Promise<LoadOutcome & { readonly cpuMs: number }> {
    const { isOnce, isNewEach = false, hasCertificate, followedBy, connections = CONNECTIONS } = this.#row
    const requests = this.#requests
    const load: Load = {
      port: server.port,
      connections,
      forMs,
      most: isOnce ? Math.floor(requests.length * MOST_OF_ONCE) : Number.MAX_SAFE_INTEGER,
      isNewEach,
      requests,
      from: this.#from,
      certificates: hasCertificate ? this.#bench.network.certificates : [],
      ...(followedBy && { followedBy: followedBy(this.#bench.network) }),
    }
    const before = await server.cpuMs()
    const outcome = await this.#bench.load.run(load)
    const cpuMs = ((await server.cpuMs()) - before) / outcome.count
    if (outcome.failure !== undefined) throw new Error(`a request was answered: ${outcome.failure}`)
    this.#from += outcome.count
    this.answer = outcome.answer
    return { ...outcome, cpuMs }
  }
}

/** The parts of an answer that a constant server needs; Node writes the rest of the head by itself. */
function responseOf(text: string) {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const [name = '', ...value] = line.split(': ')
    return [name.toLowerCase(), value.join(': ')]
  })
  const ofNode = ['content-length', 'date', 'connection', 'keep-alive']
  return {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries(headers.filter(([name]) => !ofNode.includes(name))),
    body: Buffer.from(rest.join('\r\n\r\n'), 'latin1').toString(),
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
