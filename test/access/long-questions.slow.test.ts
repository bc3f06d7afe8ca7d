import type { Storage } from 'portcullis'
import { createTestController, type TestController } from 'portcullis/testing'
import { expect, it, onTestFinished } from 'vitest'
import { adminToken, delegate } from '../support/delegate.ts'
import { identities, servicePolicies, services } from '../support/stored-records.ts'

const IDENTITIES = 500
const SERVICES = 1000
const CHANGES = 500
/** The part of a simulation that may go by between two turns of the event loop: a share, because machines differ. */
const LARGEST_SHARE = 1 / 3

const range = (count: number) => Array.from({ length: count }, (_, n) => n)

/** A network in which every identity may dial every service. */
async function network(): Promise<TestController> {
  const controller = await createTestController()
  onTestFinished(() => controller.close())
  const { storage } = controller
  await insert(
    storage,
    identities,
    (tx) => tx.collection(identities),
    IDENTITIES,
    (n) => ({ typeId: 'Device', roleAttributes: [`team-${n % 20}`] }),
  )
  await insert(
    storage,
    services,
    (tx) => tx.collection(services),
    SERVICES,
    (n) => ({ roleAttributes: [`app-${n % 40}`] }),
  )
  const everybody = { type: 'Dial', semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#all'] }
  await insert(
    storage,
    servicePolicies,
    (tx) => tx.collection(servicePolicies),
    1,
    () => ({ ...everybody, postureCheckRoles: [] }),
  )
  return controller
}

type Transaction = Parameters<Parameters<Storage['write']>[0]>[0]

async function insert(
  storage: Storage,
  resource: typeof identities | typeof services | typeof servicePolicies,
  collectionIn: (tx: Transaction) => { insert(record: never): Promise<unknown> },
  count: number,
  of: (n: number) => object,
): Promise<void> {
  await storage.write(async (tx) => {
    const collection = collectionIn(tx)
    for (const n of range(count)) {
      const id = `${resource.name}-${n}`
      const record = { ...resource.defaults, id, name: id, createdAt: 0, updatedAt: 0, tags: {}, ...of(n) }
      // The declaration of the resource says what is missing, which is nothing.
      await collection.insert(record as never)
    }
  })
}

const ask = (controller: TestController, token: string, path: string, body: object) =>
  controller.fetch(
    new Request(`https://controller.test/portcullis/v1/${path}`, {
      method: 'POST',
      headers: { 'zt-session': token, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )

/**
 * The share of some work that went by between two turns of the event loop, counted by the processor time of every thread.
 * The least of five: when the collector runs is not for the work to say.
 */
async function shareHeld(work: () => Promise<unknown>): Promise<number> {
  const shares: number[] = []
  for (let time = 0; time < 5; time += 1) shares.push(await largestShare(work))
  return Math.min(...shares)
}

async function largestShare(work: () => Promise<unknown>): Promise<number> {
  let most = 0
  let isOver = false
  const spent = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  const begun = spent()
  let last = begun
  const look = () => {
    const now = spent()
    most = Math.max(most, now - last)
    last = now
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await work()
  isOver = true
  return most / (spent() - begun)
}

const everybodyMay = (n: number) => ({
  kind: 'service-policies',
  action: 'create',
  body: { name: `new-${n}`, type: 'Dial', semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#all'] },
})

it.each([
  ['500 policies for everybody', (n: number) => everybodyMay(n)],
  [
    '500 policies of many names',
    (n: number) => {
      const identityRoles = range(20).map((k) => `@identities-${(n * 20 + k) % IDENTITIES}`)
      const { body, ...rest } = everybodyMay(n)
      return { ...rest, body: { ...body, identityRoles, serviceRoles: [`@services-${n}`, `@services-${n + 1}`] } }
    },
  ],
  ['500 identities that go', (n: number) => ({ kind: 'identities', action: 'delete', id: `identities-${n}` })],
])('a simulation of %s gives the event loop back in between', { timeout: 120_000 }, async (_, change) => {
  const controller = await network()
  const token = await adminToken(controller)
  const changes = range(CHANGES).map<object>(change)
  const simulate = async (more: object = {}) =>
    expect((await ask(controller, token, 'simulate', { changes, limit: 500, ...more })).status).toBe(200)
  // The first one compiles what the next ones run.
  await simulate()
  expect(await shareHeld(simulate)).toBeLessThan(LARGEST_SHARE)
  const judged = () => simulate({ mfa: true })
  await judged()
  expect(await shareHeld(judged)).toBeLessThan(LARGEST_SHARE)
})

it('sixteen simulations of one caller are waited for once by another one', async () => {
  const controller = await network()
  const one = await delegate(controller, 'one', ['service-policy.read', 'identity.read', 'service.read'])
  const other = await delegate(controller, 'other', ['service-policy.read', 'identity.read', 'service.read'])
  const changes = range(50).map(everybodyMay)
  const done: string[] = []
  const simulated = async (name: string, token: string) => {
    const { status } = await ask(controller, token, 'simulate', { changes })
    done.push(name)
    return status
  }
  const sixteen = range(16).map(() => simulated('one', one.token))
  const statuses = await Promise.all([...sixteen, simulated('other', other.token)])
  expect(statuses).toEqual(Array(17).fill(200))
  expect(done.indexOf('other')).toBeLessThan(3)
})

it('questions of one identity that are too many are refused: try again', async () => {
  const controller = await createTestController({ limits: { questionsPerIdentity: 2 } })
  onTestFinished(() => controller.close())
  const token = await adminToken(controller)
  const answers = await Promise.all(range(10).map(() => ask(controller, token, 'simulate', { changes: [] })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, ...Array(7).fill(429)])
  for (const { status, headers } of answers) if (status === 429) expect(headers.get('retry-after')).toBe('1')
})
