import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from './dataplane/workloads.ts'
import { judged } from './guard/ratios.ts'
import { RAW, rawTree } from './guard/raw-tree.ts'
import { lastRelease, ownTree, type Tree, treeAt } from './guard/tree.ts'
import type { TreeAnswer, TreeWork } from './guard/tree-process.ts'
import type { BenchRow } from './row.ts'
import type { Load } from './wire/load.ts'
import { createNetwork, type Network } from './wire/network.ts'
import { type LoadProcess, type ServerProcess, startLoad, startPortcullis } from './wire/processes.ts'
import { CLIENT, get, loadOfRow, MANAGEMENT, SESSION, write } from './wire/rows.ts'

/** A ratio from here on fails: beside a commit, and beside this tree without the runtime ports. */
const MOST = 1.1
const MOST_OF_PORTS = 1.02
/** Rounds of everything, and the most of a workload that seems slower: those are measured again until it is clear. */
const ROUNDS = 7
const MOST_ROUNDS = 21
const ROUNDS_OF_PORTS = 60
/** Rounds after which work in a process goes on in a new one: two processes of one program may differ by more than the ports do. */
const ROUNDS_OF_PROCESS = 6
/** Milliseconds for all of it; rounds that do not fit are left out. */
const ALL_MS = 280_000
const ROUND_MS = 300
const CONNECTIONS = 4
const SERVICES = 100
const IDENTITIES = 600
const ENROLLMENTS = 20
const PROGRAM = fileURLToPath(new URL('./guard/tree-process.ts', import.meta.url))
const STARTED = fileURLToPath(new URL('./guard/first-answer.ts', import.meta.url))

/** A tree with its processes. */
interface Side {
  readonly tree: Tree
  readonly server: ServerProcess
  readonly network: Network
  worker: ChildProcess
  enrolled: number
}

/** Answers what a workload costs on a side, in ms of processor time for one; undefined where the tree has no such thing. */
type Cost = (side: Side, load: LoadProcess) => Promise<number | undefined>

const POLICY = { name: 'guarded', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#i1'], serviceRoles: ['#s1'] }

const WORKLOADS = new Map<string, Cost>([
  ['GET a service by id', requests(loadOfRow('service'))],
  ['GET an identity by id', requests(loadOfRow('identity'))],
  ['list of 100 identities', requests(loadOfRow('identities'))],
  [
    'filter and sort identities',
    requests(({ adminToken }) => ({
      requests: get(
        adminToken,
        `${MANAGEMENT}/identities?limit=100&filter=name%20contains%20%229%22%20sort%20by%20name%20desc`,
      ),
    })),
  ],
  ['list of 100 services as an identity', requests(loadOfRow('services'))],
  ['current identity', requests(loadOfRow('current-identity'))],
  ['service updates', requests(loadOfRow('updates'))],
  ['policy advice', requests(loadOfRow('advice'))],
  ['PATCH of role attributes', requests(loadOfRow('patch'))],
  [
    'policy created and deleted',
    requests(({ adminToken }) => ({
      requests: [write('POST', `${MANAGEMENT}/service-policies`, POLICY, adminToken)],
      followedBy: write('DELETE', `${MANAGEMENT}/service-policies/{id}`, {}, adminToken),
      // Names are unique.
      connections: 1,
    })),
  ],
  ['certificate login, kept connection', requests(loadOfRow('cert-login'))],
  ['certificate login, new connection', requests(loadOfRow('cert-login-new'))],
  ['password login', requests(loadOfRow('password-login'))],
  [
    'service session',
    requests((network) => ({ requests: [SESSION(network).replace('{token}', network.identityToken)] })),
  ],
  [
    'enrollment',
    async (side, load) => {
      const { enrollmentTokens, csr } = side.network
      const from = side.enrolled
      if (from + ENROLLMENTS > enrollmentTokens.length) return undefined
      side.enrolled += ENROLLMENTS
      const each = enrollmentTokens
        .slice(from, from + ENROLLMENTS)
        .map((token) => write('POST', `${CLIENT}/enroll/ott`, { token, clientCsr: csr }))
      return requests(() => ({ requests: each, most: ENROLLMENTS, forMs: Number.MAX_SAFE_INTEGER }))(side, load)
    },
  ],
  ['start until the first answer', startOf],
  ['a test controller', inProcess('create', 10)],
  ['a fork', inProcess('fork', 20)],
  ['dial through a router', inProcess('dial', 50)],
  ['echo of 1 kB', inProcess('echo', 400)],
  ['a megabyte there and back', inProcess('megabyte', 8)],
])

/**
 * Compares this tree with the last release, or with a commit, in processor time: every workload on both sides in turns. Fails (exit
 * code 1) where a workload takes more than 1.10 times as much, beyond its noise. `wanted` are texts, any of which a name has to contain.
 * The commit `raw` is this tree without the runtime ports, whose cost may be 1.02.
 */
export async function* benchGuard(parts: readonly string[] = []): AsyncGenerator<BenchRow> {
  const [commit = lastRelease(), ...wanted] = parts
  const isWanted = (name: string) => wanted.length === 0 || wanted.some((part) => name.includes(part))
  const isRaw = commit === RAW
  const [most, usual, mostRounds] = isRaw
    ? [MOST_OF_PORTS, ROUNDS_OF_PORTS, ROUNDS_OF_PORTS]
    : [MOST, ROUNDS, MOST_ROUNDS]
  const until = performance.now() + ALL_MS
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-guard-'))
  const load = startLoad()
  const sides: Side[] = []
  try {
    const place = join(folder, 'tree')
    sides.push(await sideOf(await (isRaw ? rawTree(place) : treeAt(commit, place)), folder, 'before'))
    sides.push(await sideOf(await ownTree(), folder, 'after'))
    const [before, after] = sides
    if (before === undefined || after === undefined) return
    const measured = new Map([...WORKLOADS.keys()].filter(isWanted).map((name) => [name, new Rounds(most)]))
    for (let round = -1; round < mostRounds && performance.now() < until; round += 1) {
      const isNew = isRaw && round > 0 && round % ROUNDS_OF_PROCESS === 0
      if (isNew) for (const side of sides) await renewWorker(side)
      for (const [name, cost] of WORKLOADS) {
        const rounds = measured.get(name)
        if (rounds === undefined || performance.now() > until) continue
        if (rounds.count >= usual && !rounds.isUnclear) continue
        const order = round % 2 === 0 ? [before, after] : [after, before]
        const costs = new Map<Side, number | undefined>()
        // A process warms up first.
        if (isNew) for (const side of order) await cost(side, load)
        for (const side of order) costs.set(side, await cost(side, load))
        if (round >= 0) rounds.take(costs.get(before), costs.get(after))
      }
    }
    for (const [name, rounds] of measured) yield rounds.row(name, before.tree.name)
  } finally {
    for (const { server, worker } of sides) {
      worker.disconnect()
      await server.stop()
    }
    await load.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The costs of a workload on both sides, round by round. */
class Rounds {
  readonly #before: number[] = []
  readonly #after: number[] = []
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get count(): number {
    return this.#before.length
  }

  /** Whether it seems slower, and may be so by chance. */
  get isUnclear(): boolean {
    const { median: ratio, least } = judged(this.#ratios)
    return ratio > this.#most && least <= this.#most
  }

  get #ratios(): readonly number[] {
    return this.#after.map((cost, round) => cost / (this.#before[round] ?? Number.NaN))
  }

  take(before: number | undefined, after: number | undefined): void {
    if (before === undefined || after === undefined) return
    this.#before.push(before)
    this.#after.push(after)
  }

  row(name: string, commit: string): BenchRow {
    if (this.count === 0) return { name, value: Number.NaN, unit: 'ms', details: `${commit} has no such thing` }
    const { median: ratio, least } = judged(this.#ratios)
    const isSlower = least > this.#most
    if (isSlower) process.exitCode = 1
    const verdict = isSlower ? 'SLOWER' : ratio > this.#most ? 'within its noise' : 'holds'
    return {
      name,
      value: median(this.#after),
      unit: 'ms',
      // Rounds are compared one by one: what else the machine does changes from round to round.
      ceiling: { name: commit, value: median(this.#after) / ratio },
      target: `≤${this.#most.toFixed(2)}`,
      details: `${verdict}: ${this.count} rounds, at least ${least.toFixed(2)} x with a certainty of 95 %`,
    }
  }
}

/** Requests over TLS to the server of a side. */
function requests(loadOf: (network: Network) => Partial<Load>): Cost {
  return async ({ server, network, tree }, load) => {
    const usual = {
      connections: CONNECTIONS,
      forMs: ROUND_MS,
      most: Number.MAX_SAFE_INTEGER,
      isNewEach: false,
      from: 0,
    }
    const sent: Load = { ...usual, port: server.port, certificates: [], requests: [], ...loadOf(network) }
    const from = await server.cpuMs()
    const { count, failure } = await load.run(sent)
    if (failure !== undefined) throw new Error(`${tree.name} answered: ${failure}`)
    return ((await server.cpuMs()) - from) / count
  }
}

/** Work in a process of a side. */
function inProcess(work: TreeWork, count: number): Cost {
  return async ({ worker }) => {
    const { cpuMs } = await asked(worker, { work, count })
    return cpuMs === undefined ? undefined : cpuMs / count
  }
}

/** A start of the package as it is published: sources would have their types taken away first. */
async function startOf({ tree }: Side): Promise<number | undefined> {
  if (!tree.isBuilt) return undefined
  const child = fork(join(tree.folder, GUARD, 'first-answer.ts'), { execArgv: [] })
  const { cpuMs } = await answerOf(child)
  await once(child, 'exit')
  return cpuMs
}

async function asked(child: ChildProcess, task: object): Promise<TreeAnswer> {
  child.send(task)
  return answerOf(child)
}

/** The next message of a process that a tree runs; rejects when it ends instead. */
function answerOf(child: ChildProcess): Promise<TreeAnswer> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a process of the guard ended with ${code}`))
    child.once('exit', onExit).once('message', (answer: TreeAnswer) => {
      child.off('exit', onExit)
      resolve(answer)
    })
  })
}

function startIn({ folder }: Tree, program: string): ChildProcess {
  return fork(join(folder, GUARD, program), { execArgv: ['--conditions=portcullis-source'] })
}

/** The folder in a tree for programs that speak to it by the names of its package. */
const GUARD = join('bench', 'guard')

/** Begins the work of a side in a new process. */
async function renewWorker(side: Side): Promise<void> {
  side.worker.disconnect()
  side.worker = startIn(side.tree, 'tree-process.ts')
  await answerOf(side.worker)
}

async function sideOf(tree: Tree, folder: string, name: string): Promise<Side> {
  for (const program of [PROGRAM, STARTED]) {
    const own = join(tree.folder, GUARD, program.slice(program.lastIndexOf('/') + 1))
    await mkdir(join(tree.folder, GUARD), { recursive: true })
    if (own !== program) await copyFile(program, own)
  }
  const directory = join(folder, name)
  await mkdir(directory)
  const server = await startPortcullis(directory, 'sqlite:network.db', { commandLine: tree.commandLine })
  const network = await createNetwork(server.port, join(directory, 'pki', 'ca.pem'), SERVICES, IDENTITIES)
  const worker = startIn(tree, 'tree-process.ts')
  await answerOf(worker)
  return { tree, server, network, worker, enrolled: 0 }
}
