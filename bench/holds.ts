import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestController, type TestController } from 'portcullis/testing'
import { sqliteStorage } from '../adapters/kysely/index.ts'
import type { Storage } from '../src/index.ts'
import type { BenchRow } from './row.ts'
import { fillNetwork, LARGE } from './scale/network.ts'
import { adminToken, ask } from './scale/timing.ts'

/** How often each question is asked, each time for something that was not asked before where it has pages. */
const TIMES = 12
const PAGE = 500
const CHANGES = 500
const AT_ONCE = 16
const MANAGEMENT = '/edge/management/v1'
const OWN = '/portcullis/v1'

/** A question, and the body of its run of that number, where it has one. */
interface Question {
  readonly name: string
  path(run: number): string
  body?(run: number): unknown
  /** How often it is asked at once; once unless given. */
  readonly atOnce?: number
  /** How often it is asked in turn, where that is not as often as the others. */
  readonly times?: number
}

const POLICIES = ['service-policies', 'edge-router-policies', 'service-edge-router-policies'] as const
const STORED = ['identities', 'services', 'edge-routers', ...POLICIES] as const

const page =
  (kind: string, more = '') =>
  (run: number) =>
    `${MANAGEMENT}/${kind}?limit=${PAGE}&offset=${run * PAGE}${more}`

function changesOf(run: number): unknown {
  const change = (at: number) => ({
    kind: 'identities',
    action: 'update',
    id: `i${run * CHANGES + at}`,
    body: { roleAttributes: [`a${at % 8}`] },
  })
  return { changes: Array.from({ length: CHANGES }, (_, at) => change(at)) }
}

const EVERYBODY = { name: 'all', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#all'] }

const QUESTIONS: readonly Question[] = [
  ...STORED.map((kind) => ({ name: `first page of ${PAGE} ${kind}`, path: page(kind) })),
  { name: 'identities, sorted', path: page('identities', '&filter=true%20sort%20by%20createdAt%20desc') },
  {
    name: 'identities, by name',
    path: page('identities', '&filter=name%20contains%20%227%22%20sort%20by%20name%20desc'),
  },
  { name: 'identities, by attribute', path: page('identities', '&filter=anyOf(roleAttributes)%20=%20%22a1%22') },
  { name: 'services of an identity', path: (run) => `${MANAGEMENT}/identities/i${run}/services?limit=${PAGE}` },
  { name: 'identities of a service', path: (run) => `${MANAGEMENT}/services/s${run}/identities?limit=${PAGE}` },
  { name: 'identities of a policy', path: (run) => `${MANAGEMENT}/service-policies/p${run}/identities?limit=${PAGE}` },
  { name: 'services as an identity', path: (run) => `/edge/client/v1/services?limit=${PAGE}&asIdentity=i${run}` },
  { name: 'role attributes of identities', path: () => `${MANAGEMENT}/identity-role-attributes?limit=${PAGE}` },
  { name: 'graph', path: () => `${OWN}/graph` },
  { name: 'graph by policy', path: () => `${OWN}/graph?groupBy=policy` },
  { name: 'search', path: (run) => `${OWN}/search?q=identity%20${run}` },
  { name: 'summary', path: () => `${MANAGEMENT}/summary` },
  { name: `simulate ${CHANGES} changes`, path: () => `${OWN}/simulate`, body: changesOf },
  {
    name: `simulate ${CHANGES} changes, ${AT_ONCE} at once`,
    path: () => `${OWN}/simulate`,
    body: changesOf,
    atOnce: AT_ONCE,
  },
  {
    name: 'simulate a policy on #all',
    path: () => `${OWN}/simulate`,
    body: () => ({ changes: [{ kind: 'service-policies', action: 'create', body: EVERYBODY }] }),
  },
  {
    name: `first page of ${PAGE} identities, ${AT_ONCE} at once`,
    path: (run) => page('identities')(100 + run),
    atOnce: AT_ONCE,
  },
]

/**
 * For how long questions of administrators hold the event loop at 100,000 identities: the processor time of the thread between two
 * of its turns, so that other work of the machine does not count. `parts` are texts, any of which a name has to contain.
 */
export async function* benchHolds(parts: readonly string[] = ['']): AsyncGenerator<BenchRow> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-holds-'))
  const storages = [
    ['memory', undefined],
    ['SQLite', await sqliteStorage(join(folder, 'network.db'))],
  ] as const
  for (const [storageName, storage] of storages) {
    const controller = await filled(storage)
    const token = await adminToken(controller)
    for (const question of QUESTIONS) {
      const name = `${storageName}: ${question.name}`
      if (parts.some((part) => name.includes(part))) yield await held(controller, token, name, question)
    }
    await controller.close()
  }
  await rm(folder, { recursive: true, force: true })
}

async function filled(storage: Storage | undefined): Promise<TestController> {
  const controller = await createTestController(storage === undefined ? {} : { storage })
  await fillNetwork(controller.storage, LARGE)
  return controller
}

async function held(controller: TestController, token: string, name: string, question: Question): Promise<BenchRow> {
  const holds: number[] = []
  const times: number[] = []
  const { times: runs = TIMES } = question
  for (let run = 0; run < runs; run += 1) {
    const watch = new HoldWatch()
    const from = performance.now()
    const asked = Array.from({ length: question.atOnce ?? 1 }, (_, at) => {
      const number = run * (question.atOnce ?? 1) + at
      return ask(controller, question.path(number), token, question.body?.(number))
    })
    const answers = await Promise.allSettled(asked)
    const refused = answers.find(({ status }) => status === 'rejected')
    if (refused?.status === 'rejected' && !String(refused.reason).includes('TOO_MANY')) throw refused.reason
    times.push(performance.now() - from)
    holds.push(await watch.stop())
  }
  const [longest = 0, second = 0] = holds.toSorted((one, other) => other - one)
  const median = times.sort((one, other) => one - other)[runs >> 1] ?? 0
  const details = `the second longest of ${runs}: ${second.toFixed(1)} ms; answered after ${median.toFixed(1)} ms`
  return { name, value: longest, unit: 'ms', target: '<10 ms', details }
}

/** Watches the longest piece of work of the thread, in processor time. */
class HoldWatch {
  #longest = 0
  #isOver = false
  #before = threadMs()

  constructor() {
    this.#look()
  }

  async stop(): Promise<number> {
    this.#isOver = true
    await new Promise((resolve) => setImmediate(resolve))
    return this.#longest
  }

  #look(): void {
    const now = threadMs()
    this.#longest = Math.max(this.#longest, now - this.#before)
    this.#before = now
    if (!this.#isOver) setImmediate(() => this.#look())
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
