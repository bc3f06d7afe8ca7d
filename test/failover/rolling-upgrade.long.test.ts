import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePorts } from '../../examples/traffic/web.ts'
import { endAll, portcullis } from '../adapters/cli/cli-process.ts'
import { createDatabase } from '../support/postgres.ts'
import { CarriedTraffic } from './carried-traffic.ts'
import { lastRelease, unpackRelease } from './last-release.ts'
import { type Place, RollingLoad } from './rolling-load.ts'
import { adminOf, ask, freePairs, logIn, serveWorkers, servicesAt, type WorkersPlace } from './served-workers.ts'

/** `npm run test:slow` has it over SQLite alone. */
const isWhole = process.env.PORTCULLIS_FAILOVER === 'all'
const revision = lastRelease()
if (revision === undefined) {
  console.warn('SKIPPED: no rolling upgrade, because the git history of this folder holds no release before this one')
}

const MINUTE = 60_000

/** A controller at a place of its own, which another release can take. */
interface Replaced extends Place {
  readonly at: WorkersPlace
}

let folder: string
/** The folder of the source of the last release. */
let last: string

/** Stops the controller of a place as a supervisor does, and starts another release there; today's unless `project` is given. */
async function replace(place: Replaced, project?: string): Promise<void> {
  place.state = 'stopping'
  place.served.process.kill('SIGTERM')
  const { code, stderr } = await place.served.process.ended
  expect(code, stderr).toBe(0)
  place.state = 'away'
  place.served = await serveWorkers({ ...place.at, ...(project !== undefined && { project }) })
  place.state = 'serving'
}

/** Every session that was begun until now is good at every controller. */
async function expectSessions(places: readonly Place[], { sessions }: RollingLoad): Promise<void> {
  for (const { served } of places) {
    for (const token of sessions) {
      const { status } = await ask(served, 'GET', '/current-api-session', undefined, token)
      expect(status).toBe(200)
    }
  }
}

/** Every write that was acknowledged is there, at every controller. */
async function expectWritten(places: readonly Place[], { written }: RollingLoad): Promise<void> {
  for (const { served } of places) {
    const found = new Map<string, number>()
    for await (const { id, roleAttributes } of servicesAt(served)) found.set(id, Number(roleAttributes?.[0]))
    const lost = [...written.values()].filter(({ id, version, state }) => {
      if (state === 'open') return false
      return found.get(id) !== (state === 'gone' ? undefined : version)
    })
    expect(lost).toEqual([])
  }
}

/** Replaces one controller after the other by this release, and then by the last one again, under load. */
async function upgradeAndBack(storage: string, cwd: string): Promise<void> {
  const [here = 0, there = 0] = await freePairs()
  const [port = 0, otherPort = 0] = await freePorts(2)
  const places: Replaced[] = []
  for (const ports of [
    { port, control: here, other: there },
    { port: otherPort, control: there, other: here },
  ]) {
    const at = { ...ports, folder: cwd, storage }
    places.push({ at, state: 'serving', served: await serveWorkers({ ...at, project: last }) })
  }
  const [first, second] = places
  if (first === undefined || second === undefined) throw new Error('there are two')
  const traffic = await CarriedTraffic.open(adminOf(first.served), 4)
  onTestFinished(() => traffic.close())
  const load = new RollingLoad(places)
  load.sessions.push(first.served.token, second.served.token)
  load.start()
  onTestFinished(() => load.stop())
  await load.goesOn()
  for (const [what, place, project] of [
    ['last and this one', second, undefined],
    ['this one alone', first, undefined],
    ['this one and the last', second, last],
    ['the last alone again', first, last],
  ] as const) {
    const before = load.acknowledged
    await replace(place, project)
    for (const { served } of places) load.sessions.push(await logIn(served))
    await load.goesOn()
    await expectSessions(places, load)
    await traffic.dialAgain()
    await traffic.goesOn()
    console.log(`${what}: ${load.acknowledged - before} writes acknowledged, ${load.sessions.length} sessions good`)
    expect(load.wrong).toEqual([])
  }
  await load.stop()
  const { acknowledged, reads, logins, unanswered } = load
  const { lines, circuits, longestGapMs } = traffic.figures
  console.log(
    `${acknowledged} writes acknowledged, ${reads} reads, ${logins} logins, ${unanswered} requests to what stopped unanswered;`,
    `${circuits} circuits carried ${lines} lines, ${longestGapMs} ms apart at most`,
  )
  expect(load.wrong).toEqual([])
  await expectWritten(places, load)
  // A router loses the controller that stops, and nothing else.
  expect(traffic.lost.filter((line) => !line.includes('controller.lost'))).toEqual([])
  for (const { served } of places) {
    served.process.kill('SIGTERM')
    await served.process.ended
  }
  for (const project of [last, undefined]) {
    const verify = ['audit', 'verify', '--storage', storage, '--json']
    const { code, stdout, stderr } = await portcullis(verify, { cwd, ...(project !== undefined && { project }) }).ended
    expect({ code, stderr, stdout: code === 0 ? '' : stdout }).toEqual({ code: 0, stderr: '', stdout: '' })
    expect(JSON.parse(stdout)).toMatchObject({ isWhole: true })
  }
}

describe.skipIf(revision === undefined)('a rolling upgrade from the last release, and back', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portcullis-rolling-'))
    last = await unpackRelease(revision ?? '', folder)
    console.log(`the last release is the revision ${revision}`)
  }, MINUTE)
  afterAll(async () => {
    endAll()
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  })

  it(
    'over one SQLite file: loses no write and no session, and answers nothing of before',
    async () => {
      const cwd = join(folder, 'sqlite')
      await mkdir(cwd)
      await upgradeAndBack('sqlite:network.sqlite', cwd)
    },
    10 * MINUTE,
  )

  it.runIf(isWhole)(
    'over one PostgreSQL database: loses no write and no session, and answers nothing of before',
    async () => {
      const { url, drop } = await createDatabase()
      onTestFinished(drop)
      const cwd = join(folder, 'postgres')
      await mkdir(cwd)
      await upgradeAndBack(url, cwd)
    },
    10 * MINUTE,
  )
})
