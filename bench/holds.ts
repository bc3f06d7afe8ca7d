import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Storage } from 'portcullis'
import { postgresStorage, sqliteStorage } from 'portcullis/kysely'
import { createTestController, type TestController } from 'portcullis/testing'
import { createDatabase } from '../test/support/postgres.ts'
import { routerCrowd } from './fabric/router-crowd.ts'
import { rowOf, type Watched, watched } from './hold-watch.ts'
import type { BenchRow } from './row.ts'
import { endGrants, grantToMany } from './scale/expiring-grants.ts'
import { fillNetwork, LARGE, sessionOf } from './scale/network.ts'
import { heldByModel } from './scale/router-model.ts'
import { adminToken, ask } from './scale/timing.ts'

/** How often each question is asked, each time for something that was not asked before where it has pages. */
const TIMES = 12
const PAGE = 500
const CHANGES = 500
const AT_ONCE = 16
const ADMINISTRATORS = 60
const GRANTS = 3000
const FEW_TIMES = 5
const MANAGEMENT = '/edge/management/v1'
const OWN = '/portcullis/v1'

/** A question, and the body of its run of that number, where it has one. */
interface Question {
  readonly name: string
  path(run: number): string
  body?(run: number): unknown
  /** How often it is asked at once; once unless given. */
  readonly atOnce?: number
  /** Whether each of those at once is asked by an administrator of its own. */
  readonly byMany?: boolean
  /** How often it is asked in turn, where that is not as often as the others. */
  readonly times?: number
}

const POLICIES = ['service-policies', 'edge-router-policies', 'service-edge-router-policies'] as const
const STORED = ['identities', 'services', 'edge-routers', ...POLICIES] as const

const page =
  (kind: string, more = '') =>
  (run: number) =>
    `${MANAGEMENT}/${kind}?limit=${PAGE}&offset=${run * PAGE}${more}`

function changesOf(run: number, count = CHANGES): unknown {
  const change = (at: number) => ({
    kind: 'identities',
    action: 'update',
    id: `i${run * count + at}`,
    body: { roleAttributes: [`a${at % 8}`] },
  })
  return { changes: Array.from({ length: count }, (_, at) => change(at)) }
}

const EVERYBODY = { name: 'all', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#all'] }

const QUESTIONS: readonly Question[] = [
  ...STORED.map((kind) => ({ name: `first page of ${PAGE} ${kind}`, path: page(kind) })),
  { name: 'identities, sorted', path: page('identities', '&filter=true%20sort%20by%20createdAt%20desc') },
  {
    name: 'identities, by name',
    path: page('identities', '&filter=name%20contains%20%227%22%20sort%20by%20name%20desc'),
  },
  ...['disabled = true', 'hasEdgeRouterConnection = true', 'os = "linux"', 'tags.floor = 7'].map((filter) => ({
    name: `identities, by ${filter.split(' ')[0]}`,
    path: page('identities', `&filter=${encodeURIComponent(filter)}`),
  })),
  { name: 'identities, by attribute', path: page('identities', '&filter=anyOf(roleAttributes)%20=%20%22a1%22') },
  { name: 'services of an identity', path: (run) => `${MANAGEMENT}/identities/i${run}/services?limit=${PAGE}` },
  { name: 'identities of a service', path: (run) => `${MANAGEMENT}/services/s${run}/identities?limit=${PAGE}` },
  { name: 'identities of a policy', path: (run) => `${MANAGEMENT}/service-policies/p${run}/identities?limit=${PAGE}` },
  { name: 'services as an identity', path: (run) => `/edge/client/v1/services?limit=${PAGE}&asIdentity=i${run}` },
  { name: 'role attributes of identities', path: () => `${MANAGEMENT}/identity-role-attributes?limit=${PAGE}` },
  { name: 'findings', path: () => `${OWN}/findings` },
  { name: 'access map', path: () => `${OWN}/access-map` },
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
  {
    name: `simulate 100 changes by ${AT_ONCE} administrators at once`,
    path: () => `${OWN}/simulate`,
    body: (run) => changesOf(run, 100),
    atOnce: AT_ONCE,
    byMany: true,
    times: FEW_TIMES,
  },
  ...[100, PAGE].map((limit) => ({
    name: `${limit} identities by ${ADMINISTRATORS} administrators at once`,
    path: (run: number) => `${MANAGEMENT}/identities?limit=${limit}&offset=${(run * limit) % LARGE.identities}`,
    atOnce: ADMINISTRATORS,
    byMany: true,
    times: FEW_TIMES,
  })),
]

/**
 * For how long questions of administrators hold the event loop at 100,000 identities: the processor time of the thread between two
 * of its turns, so that other work of the machine does not count. `parts` are texts, any of which a name has to contain.
 */
export async function* benchHolds(parts: readonly string[] = ['']): AsyncGenerator<BenchRow> {
  const isWanted = (name: string) => parts.some((part) => name.includes(part))
  for (const [storageName, opened] of STORAGES) {
    const rows = QUESTIONS.map((question) => ({ name: `${storageName}: ${question.name}`, question }))
    const ofRouters = `${storageName}: router`
    const ofGrants = `${storageName}: ${GRANTS} grants end at one instant`
    const isAnyWanted = [...rows.map(({ name }) => name), ofRouters, ofGrants].some(isWanted)
    if (!isAnyWanted) continue
    const { storage, remove } = await opened()
    const controller = await filled(storage)
    const token = await adminToken(controller)
    const isByMany = rows.some(({ name, question }) => question.byMany && isWanted(name))
    const tokens = isByMany ? await administrators(controller, token) : []
    for (const { name, question } of rows) {
      if (isWanted(name)) yield await held(controller, question.byMany ? tokens : [token], name, question)
    }
    if (isWanted(ofRouters)) yield* heldByRouters(controller, token, ofRouters)
    if (isWanted(ofGrants)) yield await heldByGrants(controller, token, ofGrants)
    await controller.close()
    await remove()
  }
  if (isWanted(OF_MODEL)) yield await heldByModel(OF_MODEL)
}

const OF_MODEL = 'a router takes the data model of 100,000 identities in 20 policies'

/** Where a network is kept for the benchmark, and how it is removed. */
interface OpenedStorage {
  readonly storage: Storage | undefined
  remove(): Promise<unknown>
}

const STORAGES: readonly (readonly [string, () => Promise<OpenedStorage>])[] = [
  ['memory', async () => ({ storage: undefined, remove: async () => undefined })],
  [
    'SQLite',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'portcullis-holds-'))
      const storage = await sqliteStorage(join(folder, 'network.db'))
      return { storage, remove: () => rm(folder, { recursive: true, force: true }) }
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const database = await createDatabase()
      return { storage: await postgresStorage({ connection: database.url }), remove: () => database.drop() }
    },
  ],
]

/** Two routers connect one after the other, and policies on everybody are changed while they are there. */
async function* heldByRouters(controller: TestController, token: string, name: string): AsyncGenerator<BenchRow> {
  const crowd = await routerCrowd(controller, 1)
  yield rowOf(`${name} connects and is sent the whole model`, [await watched(() => crowd.connect())])
  const changes: Watched[] = []
  for (let run = 0; run < TIMES; run += 1) {
    const body = { ...EVERYBODY, name: `everybody ${run}` }
    const change = async () => {
      const told = crowd.changed()
      await ask(controller, `${MANAGEMENT}/service-policies`, token, body)
      await told
    }
    changes.push(await watched(change))
  }
  yield rowOf(`${name} is told of a new policy on #all`, changes)
  await crowd.close()
}

async function heldByGrants(controller: TestController, token: string, name: string): Promise<BenchRow> {
  await grantToMany(controller, GRANTS)
  // The index meets the grants.
  await ask(controller, `${MANAGEMENT}/identities/i0/services?limit=1`, token)
  return rowOf(name, [await watched(() => endGrants(controller))])
}

async function filled(storage: Storage | undefined): Promise<TestController> {
  const controller = await createTestController(storage === undefined ? {} : { storage })
  await fillNetwork(controller.storage, LARGE)
  return controller
}

/** The tokens of identities that are made administrators. */
async function administrators(controller: TestController, token: string): Promise<readonly string[]> {
  const tokens: string[] = []
  for (let number = 0; number < ADMINISTRATORS; number += 1) {
    const headers = { 'zt-session': token, 'content-type': 'application/json' }
    const init = { method: 'PATCH', headers, body: JSON.stringify({ isAdmin: true }) }
    const url = `https://controller.test:1280${MANAGEMENT}/identities/i${number}`
    const { ok } = await controller.fetch(new Request(url, init))
    if (!ok) throw new Error(`i${number} was not made an administrator`)
    tokens.push(await sessionOf(controller, `i${number}`))
  }
  return tokens
}

async function held(
  controller: TestController,
  tokens: readonly string[],
  name: string,
  question: Question,
): Promise<BenchRow> {
  const { times = TIMES, atOnce = 1 } = question
  const runs: Watched[] = []
  for (let run = 0; run < times; run += 1) {
    const work = async () => {
      const asked = Array.from({ length: atOnce }, (_, at) => {
        const number = run * atOnce + at
        return ask(controller, question.path(number), tokens[at % tokens.length] ?? '', question.body?.(number))
      })
      const answers = await Promise.allSettled(asked)
      const refused = answers.find(({ status }) => status === 'rejected')
      if (refused?.status === 'rejected' && !String(refused.reason).includes('TOO_MANY')) throw refused.reason
    }
    runs.push(await watched(work))
  }
  return rowOf(name, runs)
}
