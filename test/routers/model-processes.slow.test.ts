import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createController, createPkiMaterial } from 'portcullis'
import { routerSide } from 'portcullis/fabric'
import { postgresStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import { FakeRouter, plainPasswordHasher, TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { fabricWorld } from '../fabric/control/fabric-world.ts'
import { PlayedFeeds } from '../fabric/control/played-feeds.ts'
import { startPostgres } from '../support/postgres.ts'
import type { ServedProcessTask } from '../support/served-process.ts'
import { adminToken, callController, enrollTlsRouter, overTls, type TlsRouter } from '../support/tls-router.ts'

const { CONTENT_TYPE, Subscribe } = routerSide
const PROGRAM = fileURLToPath(new URL('../support/served-process.ts', import.meta.url))
/** Milliseconds within which what ends is over everywhere. */
const PROMISED_MS = 2000

let subscriptions = 0

/** A router subscribes with what it has. */
function subscribe(router: FakeRouter, feeds: PlayedFeeds): void {
  subscriptions += 1
  feeds.subscriptionId = `s${subscriptions}`
  const { index: currentIndex, timelineId, subscriptionId } = feeds
  const body = { currentIndex, timelineId, subscriptionId, subscriptionDurationSeconds: 300 }
  router.send(CONTENT_TYPE.subscribeToModel, Subscribe.encode(body))
}

const identitiesOf = ({ entities }: PlayedFeeds) => [...entities.keys()].filter((key) => key.startsWith('identity '))

describe('two processes over one store', () => {
  const now = Date.UTC(2026, 0, 1)

  it('a router that comes from one gets from the other what the store holds now, not what that one read once', async () => {
    const pki = await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'test', now })
    const storage = { ...memoryStorage(), close: async () => undefined }
    const here = await fabricWorld({ addresses: ['tls:here:1'] }, { storage, pki, now })
    const there = await fabricWorld({ addresses: ['tls:there:1'] }, { storage, pki, now })
    const bystander = await there.router('bystander')
    subscribe(bystander, new PlayedFeeds())
    await bystander.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)

    const feeds = new PlayedFeeds()
    const enrolled = await here.enroll('r1')
    const onFrame = (frame: routerSide.Frame) => feeds.take(frame) === undefined
    const first = new FakeRouter(enrolled, here.listener, { onFrame })
    await first.connect()
    subscribe(first, feeds)
    for (let at = 0; at < 20; at += 1) {
      await here.create('/identities', { name: `n${at}`, type: 'Device', isAdmin: false })
    }
    await vi.waitFor(() => expect(identitiesOf(feeds).length).toBeGreaterThan(20), 10_000)
    const before = identitiesOf(feeds)
    first.close()
    const second = new FakeRouter(enrolled, there.listener, { onFrame })
    await second.connect()
    subscribe(second, feeds)
    const state = await second.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
    expect(identitiesOf(feeds)).toEqual(expect.arrayContaining(before))
    expect(feeds.setBack).toEqual([])
    expect(state).toBe(second.all(CONTENT_TYPE.modelState)[0])
  })

  it('the key by which one begins to sign is told to the routers of the other', async () => {
    const storage = { ...memoryStorage(), close: async () => undefined }
    const material = () => createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'test', now })
    const here = await fabricWorld({}, { storage, pki: await material(), now })
    const feeds = new PlayedFeeds()
    const router = await here.router('r1', { onFrame: (frame) => feeds.take(frame) === undefined })
    subscribe(router, feeds)
    await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
    const keys = () => [...feeds.entities.keys()].filter((key) => key.startsWith('publicKey '))
    const before = keys()
    await fabricWorld({}, { storage, pki: await material(), now })
    await vi.waitFor(async () => {
      await here.controller.elapse(1000)
      expect(keys()).toHaveLength(before.length + 1)
    })
  })
})

/** Starts a process; answers it with its port. */
async function startProcess(task: ServedProcessTask): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = fork(PROGRAM, { execArgv: ['--conditions=portcullis-source'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.send(task)
  const [said] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the process ended with ${code}`))),
  ])
  return { child, port: Number(Object(said).port) }
}

/** A router that is played in this process and connected over TLS, and what it keeps. */
async function connect(port: number, enrolled: TlsRouter, feeds: PlayedFeeds): Promise<FakeRouter> {
  const onFrame = (frame: routerSide.Frame) => feeds.take(frame) === undefined
  const router = new FakeRouter(enrolled, overTls(port, enrolled), { onFrame })
  expect(await router.connect()).toMatchObject({ accepted: true })
  router.send(CONTENT_TYPE.clientHello, routerSide.ClientHello.encode({ hostname: 'r1.test' }))
  subscribe(router, feeds)
  return router
}

it('a router whose process is killed loses nothing at the next one: PostgreSQL', async () => {
  const database = await startPostgres()
  onTestFinished(() => database.stop())
  const pki = await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'test', now: Date.now() })
  const controller = await createController({
    storage: await postgresStorage({ connection: database.url }),
    pki,
    address: 'controller.test:1280',
    admin: TEST_ADMIN,
    passwordHasher: plainPasswordHasher,
    rateLimits: false,
  })
  onTestFinished(() => controller.close())
  const token = await adminToken(controller)
  const call = (method: string, path: string, body?: object) =>
    callController(controller, [method, `/management/v1${path}`], body, token)
  const identity = async (name: string) =>
    (await call('POST', '/identities', { name, type: 'Device', isAdmin: false })).id
  const enrolled = await enrollTlsRouter(controller, token, 'r1')
  const bystander = await enrollTlsRouter(controller, token, 'bystander')
  const first = await startProcess({ url: database.url, pki })
  const second = await startProcess({ url: database.url, pki })

  // The second process reads the model while there is little in it.
  const early = new PlayedFeeds()
  const other = await connect(second.port, bystander, early)
  await other.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
  const feeds = new PlayedFeeds()
  await connect(first.port, enrolled, feeds)
  for (let at = 0; at < 50; at += 1) await identity(`n${at}`)
  const gone = await identity('gone')
  const session = await callController(controller, ['POST', '/management/v1/authenticate?method=password'], TEST_ADMIN)
  const knows = (id: string) => feeds.entities.has(`identity ${id}`)
  const hasSession = () => feeds.apiSessions.has(String(session.token))
  await vi.waitFor(() => expect([knows(gone), hasSession()]).toEqual([true, true]), 10_000)

  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  await call('DELETE', `/identities/${gone}`)
  await call('DELETE', `/api-sessions/${session.id}`)
  const late = await identity('late')
  const before = identitiesOf(feeds).filter((key) => key !== `identity ${gone}`)
  const again = await connect(second.port, enrolled, feeds)
  await again.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
  expect(identitiesOf(feeds)).toEqual(expect.arrayContaining(before))
  expect(feeds.setBack).toEqual([])
  expect([knows(gone), knows(late)]).toEqual([false, true])
  await vi.waitFor(() => expect(hasSession()).toBe(false), PROMISED_MS)

  // From then on it follows, as it did.
  await call('DELETE', `/identities/${late}`)
  await vi.waitFor(() => expect(knows(late)).toBe(false), PROMISED_MS)
  expect(feeds.hasGap).toBe(false)
}, 120_000)
