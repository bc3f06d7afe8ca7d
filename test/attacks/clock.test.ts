import { memoryStorage } from 'portcullis/memory'
import { describe, expect, it } from 'vitest'
import { adminOf } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'
import { apisOf, person } from '../support/people.ts'
import { apiSessions } from '../support/stored-records.ts'

const MINUTE = 60_000

async function scene() {
  const mounted = await mount()
  const alice = await person(mounted, await adminOf(mounted), 'alice')
  const { api } = await apisOf(mounted, alice)
  const status = async () => (await api.get('/current-identity')).status
  const stored = async () => {
    const { items } = await mounted.controller.storage.read((tx) => tx.collection(apiSessions).find())
    return items.filter(({ identityId }) => identityId === alice.id).length
  }
  return { mounted, alice, status, stored, clock: mounted.clock }
}

describe('an API session and a clock that goes back', () => {
  it('that the clock has ended stays ended', async () => {
    const { status, stored, clock } = await scene()
    clock.advance(30 * MINUTE)
    expect([await status(), await stored()]).toEqual([401, 0])
    clock.advance(-30 * MINUTE)
    expect(await status()).toBe(401)
  })

  it('that nobody asked for while it was over stays ended, too', async () => {
    const { mounted, status, clock } = await scene()
    await mounted.controller.elapse(31 * MINUTE)
    clock.advance(-31 * MINUTE)
    expect(await status()).toBe(401)
  })

  it('from the future is not accepted, and is there again when its time has come', async () => {
    const { status, clock } = await scene()
    clock.advance(-2 * MINUTE)
    expect(await status()).toBe(401)
    clock.advance(2 * MINUTE)
    expect(await status()).toBe(200)
  })

  it('that was used in the future is not accepted', async () => {
    const { status, clock } = await scene()
    clock.advance(20 * MINUTE)
    expect(await status()).toBe(200)
    clock.advance(-10 * MINUTE)
    expect(await status()).toBe(401)
  })

  it('is accepted where clocks differ by seconds, and lasts no longer for it', async () => {
    const { status, clock } = await scene()
    clock.advance(-30_000)
    expect(await status()).toBe(200)
    clock.advance(30_000 + 30 * MINUTE)
    expect(await status()).toBe(401)
  })
})

describe('what is believed for some minutes, when the clock goes back by a year', () => {
  it('keeps nobody from another snapshot', async () => {
    const stored = memoryStorage()
    const storage = { read: stored.read, write: stored.write, close: stored.close, snapshot: async () => undefined }
    const mounted = await mount({ storage })
    const { engine } = mounted.controller
    expect(await engine.host.snapshot()).toBe('beside the store')
    await expect(engine.host.snapshot()).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    mounted.clock.advance(-365 * 1440 * MINUTE)
    expect(await engine.host.snapshot()).toBe('beside the store')
  })
})
