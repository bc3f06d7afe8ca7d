import { memoryStorage } from 'portcullis/memory'
import { describe, expect, it } from 'vitest'
import { expectDone } from '../contract/http/errors.ts'
import { adminOf, create } from '../contract/http/foreign-client.ts'
import { network } from '../contract/http/scenario.ts'
import { countedWrites } from '../support/counted-writes.ts'
import { mount } from '../support/mount.ts'
import { apiSessions, sessions } from '../support/stored-records.ts'

describe('a list of more bytes than an answer may have', () => {
  it('ends early, and says where to go on', async () => {
    const answerBytes = 10_000
    const admin = await adminOf(await mount({ limits: { answerBytes } }))
    const names = Array.from({ length: 25 }, (_, n) => `service ${String(n).padStart(2, '0')}`)
    for (const name of names) await create(admin, '/services', { name, tags: { big: 'ä'.repeat(700) } })
    const seen: string[] = []
    let pages = 0
    for (let offset = 0, totalCount = 1; offset < totalCount; pages += 1) {
      const { body, text } = await admin.get(`/services?sort=name&limit=500&offset=${offset}`)
      const { pagination } = body.meta
      expect(Buffer.byteLength(text)).toBeLessThan(answerBytes + 1000)
      expect(pagination).toEqual({
        limit: body.data.length < 25 - offset ? body.data.length : 500,
        offset,
        totalCount: 25,
      })
      seen.push(...body.data.map((service: { name: string }) => service.name))
      offset += pagination.limit
      totalCount = pagination.totalCount
    }
    expect([seen, pages > 3]).toEqual([names, true])
  })

  it('has one entity at least', async () => {
    const admin = await adminOf(await mount({ limits: { answerBytes: 1 } }))
    expect((await admin.get('/config-types?limit=10')).body.data).toHaveLength(1)
  })
})

/** The small network in which alice has 50 API sessions with 20 service sessions each. */
async function crowded() {
  const storage = countedWrites(memoryStorage())
  const scene = await network(await mount({ storage }))
  const { mounted, alice, serviceId } = scene
  const [known] = (await storage.read((tx) => tx.collection(apiSessions).find())).items.filter(
    ({ identityId }) => identityId === alice.id,
  )
  if (known === undefined) throw new Error('alice has no API session')
  await storage.write(async (tx) => {
    for (let n = 0; n < 50; n += 1) {
      const apiSessionId = `crowd ${n}`
      await tx.collection(apiSessions).insert({ ...known, id: apiSessionId, tokenDigest: apiSessionId })
      for (let m = 0; m < 20; m += 1) {
        const base = {
          createdAt: 0,
          updatedAt: 0,
          tags: {},
          servicePolicies: [],
          dueAt: 8.64e15,
          type: 'Dial',
        } as const
        const id = `${apiSessionId} ${m}`
        await tx.collection(sessions).insert({ ...base, id, apiSessionId, identityId: alice.id, serviceId })
      }
    }
  })
  const left = async () => {
    const own = (record: { readonly identityId: string }) => record.identityId === alice.id
    return storage.read(async (tx) => [
      (await tx.collection(apiSessions).find()).items.filter(own).length,
      (await tx.collection(sessions).find()).items.filter(own).length,
    ])
  }
  storage.take()
  const reasons = new Set<string>()
  mounted.controller.events.on('session.ended', ({ reason }) => void reasons.add(reason))
  return { ...scene, left, reasons, writes: () => storage.take() }
}

describe('what takes much away', () => {
  it.each([
    ['deleting an identity', 'api-session-ended', 1050, ({ admin, alice }) => admin.delete(`/identities/${alice.id}`)],
    ['deleting a service', 'service-deleted', 1000, ({ admin, serviceId }) => admin.delete(`/services/${serviceId}`)],
    [
      'disabling an identity',
      'api-session-ended',
      1050,
      ({ admin, alice }) => admin.post(`/identities/${alice.id}/disable`, { durationMinutes: 0 }),
    ],
  ] as const satisfies readonly [string, string, number, (scene: Awaited<ReturnType<typeof crowded>>) => unknown][])(
    'as %s, leaves room for other writers in between',
    async (_, reason, least, act) => {
      const scene = await crowded()
      expectDone(await act(scene))
      expect((await scene.left())[1]).toBe(0)
      const writes = scene.writes()
      expect(writes.reduce((a, b) => a + b)).toBeGreaterThanOrEqual(least)
      expect(Math.max(...writes)).toBeLessThanOrEqual(110)
      expect(scene.reasons).toEqual(new Set([reason]))
    },
  )

  it('changes nothing where it is refused', async () => {
    const { mounted, admin, alice, left, writes } = await crowded()
    const [own] = (await mounted.controller.storage.read((tx) => tx.collection(apiSessions).find())).items
    const before = await left()
    expect(
      (await admin.delete(`/identities/${own?.identityId === alice.id ? 'nobody' : own?.identityId}`)).status,
    ).not.toBe(200)
    expect((await admin.delete('/identity-types/User')).status).not.toBe(200)
    expect([await left(), writes()]).toEqual([before, []])
  })
})
