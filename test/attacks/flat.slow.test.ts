import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sqliteStorage } from 'portcullis/kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CLIENT, type ForeignClient, foreignClient, passwordLogin } from '../contract/http/foreign-client.ts'
import { network } from '../contract/http/scenario.ts'
import { mount } from '../support/mount.ts'
import { person } from '../support/people.ts'

/** `npm run test:attacks` asks for 10,000. */
const REQUESTS = Number(process.env.PORTCULLIS_ATTACK_REQUESTS ?? 120)
const IS_LONG = REQUESTS >= 5000
/** The first half of the requests reaches every limit, and the second half must cost nothing. */
const LIMITS = IS_LONG ? {} : { apiSessionsPerIdentity: 10, reportedProcessBytes: 100_000 }

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

async function attacked() {
  const folder = mkdtempSync(join(tmpdir(), 'attacked-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const mounted = await mount({ storage: await sqliteStorage(join(folder, 'network.sqlite')), limits: LIMITS })
  const scene = await network(mounted)
  const mallory = await person(mounted, scene.admin, 'mallory', { roleAttributes: ['people'] })
  const logIn = async () => foreignClient(mounted, CLIENT, await passwordLogin(mounted, mallory))
  const diskMiB = () => readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0) / 2 ** 20
  return { ...scene, mounted, mallory, logIn, diskMiB }
}
type Attacked = Awaited<ReturnType<typeof attacked>>

function heapMiB(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed / 2 ** 20
}

/** Sends the requests, and tells what memory and disk are after half of them and after all. */
async function flatness({ diskMiB, mounted }: Attacked, send: (n: number) => Promise<void>) {
  const measure = () => ({ diskMiB: diskMiB(), heapMiB: heapMiB() })
  const run = async (from: number, to: number) => {
    for (let n = from; n < to; n += 1) {
      mounted.clock.advance(100)
      await send(n)
    }
  }
  const half = Math.ceil(REQUESTS / 2)
  await run(0, half)
  const middle = measure()
  await run(half, REQUESTS)
  const end = measure()
  if (IS_LONG) console.log(JSON.stringify({ requests: REQUESTS, middle, end }))
  return { middle, end }
}

function expectFlat({ middle, end }: Awaited<ReturnType<typeof flatness>>): void {
  // The change feed grows for 100,000 writes, by some hundred bytes with each.
  const feedMiB = (REQUESTS / 2) * (600 / 2 ** 20)
  expect(end.diskMiB).toBeLessThan(middle.diskMiB * 1.05 + feedMiB + 1)
  expect(end.heapMiB).toBeLessThan(middle.heapMiB * 1.1 + 10)
}

/** As large a report as is taken, of processes that no report before had. */
function report(serial: number): readonly object[] {
  const signerFingerprints = Array.from({ length: 20 }, (_, n) => n.toString(16).padStart(40, '0'))
  return Array.from({ length: 110 }, (_, n) => ({
    id: `${serial} ${n}`,
    typeId: 'PROCESS',
    path: `/opt/${serial}/${n}`,
    hash: 'ab'.repeat(32),
    signerFingerprints,
  }))
}

describe(`memory and disk after ${REQUESTS} requests of one device`, () => {
  it('that reports other processes each time are flat', async () => {
    const scene = await attacked()
    const api = await scene.logIn()
    const send = async (n: number) => {
      expect((await api.post('/posture-response-bulk', report(n))).status).toBe(200)
    }
    expectFlat(await flatness(scene, send))
  }, 1_800_000)

  it('that logs in each time, tells of itself, and opens a session with tags are flat', async () => {
    const scene = await attacked()
    const tags = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`key ${n}`, 'x'.repeat(15)]))
    const send = async (n: number) => {
      const api: ForeignClient = await scene.logIn()
      const { serviceId } = scene
      expect((await api.post('/sessions', { serviceId, type: 'Dial', tags: { ...tags, n } })).status).toBe(201)
      expect((await api.post('/posture-response', { id: 'e', typeId: 'ENDPOINT_STATE', woken: true })).status).toBe(201)
    }
    expectFlat(await flatness(scene, send))
    expect((await scene.admin.delete(`/identities/${scene.mallory.id}`)).status).toBe(200)
  }, 1_800_000)
})
