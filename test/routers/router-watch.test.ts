import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStorage } from 'portcullis/kysely'
import { createTestController, type TestController } from 'portcullis/testing'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { withSharedPki } from '../support/shared-pki.ts'
import { edgeRouters } from '../support/stored-records.ts'

const folder = mkdtempSync(join(tmpdir(), 'portcullis-watch-'))
let files = 0
afterAll(() => rmSync(folder, { recursive: true }))

const FINGERPRINTS = { er1: 'aa'.repeat(20), er2: 'bb'.repeat(20), another: 'cc'.repeat(20) } as const
/** The longest time until a change is noticed, ms. */
const NOTICED_MS = 2_000

/** Gives an edge router a certificate, as its enrollment does. */
async function enrollRouter({ storage }: TestController, id: string, fingerprint: string): Promise<void> {
  await storage.write(async (tx) => {
    const router = await tx.collection(edgeRouters).get(id)
    if (router !== undefined) await tx.collection(edgeRouters).update({ ...router, fingerprint, isVerified: true })
  })
}

/** Two controllers over one SQLite file, with a router that is connected to the second. */
async function twoControllers() {
  const file = join(folder, `${++files}.db`)
  const here = await createTestController(await withSharedPki({ storage: await sqliteStorage(file) }))
  const there = await createTestController(await withSharedPki({ storage: await sqliteStorage(file) }))
  onTestFinished(async () => {
    await Promise.all([here.close(), there.close()])
  })
  const admin = await here.asAdmin()
  const connect = async (name: 'er1' | 'er2') => {
    const { data } = await admin.call('POST /edge-routers', { body: { name } })
    await enrollRouter(here, data.id, FINGERPRINTS[name])
    expect(await there.presence.routerConnected(data.id, FINGERPRINTS[name])).toEqual({ accepted: true })
    return data.id
  }
  const [id, otherId] = [await connect('er1'), await connect('er2')]
  const told: unknown[] = []
  there.presence.onDisconnect((...facts) => told.push(facts))
  return { here, there, admin, id, otherId, told }
}

type Two = Awaited<ReturnType<typeof twoControllers>>
const params = (id: string) => ({ params: { id } })

describe('a router that is connected to another process', () => {
  it.each<readonly [string, string, (two: Two) => Promise<unknown>]>([
    ['deleted', 'deleted', ({ admin, id }) => admin.call('DELETE /edge-routers/{id}', params(id))],
    [
      'disabled',
      'disabled',
      ({ admin, id }) => admin.call('PATCH /edge-routers/{id}', { ...params(id), body: { disabled: true } }),
    ],
    ['re-enrolled', 're-enrolled', ({ admin, id }) => admin.call('POST /edge-routers/{id}/re-enroll', params(id))],
    ['given another certificate', 'fingerprint', ({ here, id }) => enrollRouter(here, id, FINGERPRINTS.another)],
  ])('is let go of there when it is %s here', async (_, reason, change) => {
    const two = await twoControllers()
    // Facts that are known from the start are told apart from those that change later.
    await two.there.elapse(NOTICED_MS)
    await change(two)
    expect(two.told).toEqual([])
    await two.there.elapse(NOTICED_MS)
    expect(two.told).toEqual([[two.id, reason]])
    const { data } = await (await two.there.asAdmin()).call('GET /edge-routers')
    expect(data.filter(({ isOnline }) => isOnline).map(({ id }) => id)).toEqual([two.otherId])
    await two.there.elapse(10 * NOTICED_MS)
    expect(two.told).toHaveLength(1)
  })

  it('is let go of when the change came right after it connected', async () => {
    const { admin, there, id, told } = await twoControllers()
    await admin.call('DELETE /edge-routers/{id}', params(id))
    await there.elapse(NOTICED_MS)
    expect(told).toEqual([[id, 'deleted']])
  })

  it('stays connected through changes that leave it its right, and after a new start of the watch', async () => {
    const { admin, there, id, otherId, told } = await twoControllers()
    await admin.call('PATCH /edge-routers/{id}', { ...params(id), body: { cost: 7 } })
    await there.elapse(NOTICED_MS)
    there.presence.routerDisconnected(id)
    there.presence.routerDisconnected(otherId)
    await there.elapse(NOTICED_MS)
    expect(await there.presence.routerConnected(id, FINGERPRINTS.er1)).toEqual({ accepted: true })
    await there.elapse(NOTICED_MS)
    expect(told).toEqual([])
    await admin.call('DELETE /edge-routers/{id}', params(id))
    await there.elapse(NOTICED_MS)
    expect(told).toEqual([[id, 'deleted']])
  })
})
