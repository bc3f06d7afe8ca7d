import { memoryStorage } from 'portcullis/memory'
import type { FakeRouterOptions } from 'portcullis/testing'
import { describe, expect, it, vi } from 'vitest'
import { heldStorage } from '../../support/held-storage.ts'
import { dial, fabricWorld, host, reportLinks, tunnelNetwork } from './fabric-world.ts'
import { TUNNELER } from './linked-pair.ts'

const SECOND_MS = 1000

/** Two tunnelers with a link, the second of which hosts the service, over a storage that may hang. */
async function scene(server: FakeRouterOptions = {}) {
  const storage = heldStorage(memoryStorage())
  const world = await fabricWorld({}, { storage })
  const { serviceId } = await tunnelNetwork(world)
  const client = await world.router('client', TUNNELER)
  const hosting = await world.router('server', { ...TUNNELER, ...server })
  reportLinks(client, [['link-1', hosting]])
  await host(hosting, serviceId)
  const laid = async () => (await dial(client)).refused === undefined
  return { storage, world, serviceId, client, hosting, laid }
}

/** A router that lost its terminators, and finds them again; the next write hangs when it is asked for them. */
function forgetful() {
  const state = { isKnown: false, hang: () => {} }
  const onRoute = () => {
    if (state.isKnown) return { success: true } as const
    state.hang()
    return { success: false, code: 1, message: 'unknown terminator' } as const
  }
  return { state, onRoute }
}

describe('a dial, while the storage hangs', () => {
  it('is reported as failed if an attempt failed before', async () => {
    const { state, onRoute } = forgetful()
    const { storage, world, laid } = await scene({ onRoute })
    state.hang = () => {
      storage.holds = (call) => call === 'write' && storage.held.length === 0
    }
    const dialed = laid()
    await vi.waitFor(() => expect(storage.held).toHaveLength(1))
    await world.controller.elapse(4 * SECOND_MS)
    expect(await dialed).toBe(false)
    expect(world.told('circuit.failed')).toMatchObject([{ reason: 'routers-failed', cause: 'invalid-terminator' }])
    storage.held[0]?.()
  })

  it('takes away no terminator that its router registered again meanwhile', async () => {
    const { state, onRoute } = forgetful()
    const { storage, world, serviceId, hosting, laid } = await scene({ onRoute })
    state.hang = () => {
      storage.holds = (call) => call === 'write' && storage.held.length === 0
    }
    const dialed = laid()
    await vi.waitFor(() => expect(storage.held).toHaveLength(1))
    await world.controller.elapse(4 * SECOND_MS)
    expect(await dialed).toBe(false)
    state.isKnown = true
    await host(hosting, serviceId)
    storage.held[0]?.()
    // A write behind the late one.
    await world.create('/services', { name: 'other', encryptionRequired: false })
    expect(await laid()).toBe(true)
  })

  it('is refused at once when a thousand wait, and laid again soon after the storage answers others', async () => {
    const { storage, world, client, laid } = await scene()
    storage.holds = (call) => call === 'find terminators'
    const held = async (count: number, dials: number) => {
      const dialed = Array.from({ length: dials }, laid)
      await vi.waitFor(() => expect(storage.held.length).toBeGreaterThanOrEqual(count))
      await world.controller.elapse(4 * SECOND_MS)
      expect(await Promise.all(dialed)).toEqual(dialed.map(() => false))
      client.forget()
    }
    for (let count = 50; count <= 1000; count += 50) await held(count, 50)
    // One dial finds out whether the storage answers again; others ask nothing.
    await held(1001, 20)
    expect(storage.held).toHaveLength(1001)
    // The thousand are never answered.
    storage.holds = () => false
    await world.controller.elapse(4 * SECOND_MS)
    expect(await laid()).toBe(true)
    const together = Array.from({ length: 20 }, laid)
    expect(await Promise.all(together)).toEqual(together.map(() => true))
  })
})

it('a storm of dials is answered one after the other, and none takes a busy storage for one that is away', async () => {
  const { storage, world, laid } = await scene()
  storage.holds = (call) => call === 'find terminators'
  const dialed = Array.from({ length: 120 }, laid)
  let answered = 0
  // The storage takes 50 ms for each, one after the other: 6 s for all.
  const answerNext = async () => {
    await vi.waitFor(() => expect(storage.held.length).toBeGreaterThan(answered))
    expect(storage.held.length).toBeLessThanOrEqual(answered + 64)
    storage.held[answered]?.()
    answered += 1
    await world.controller.elapse(50)
  }
  while (answered < dialed.length) await answerNext()
  expect(await Promise.all(dialed)).toEqual(dialed.map(() => true))
})

it('a dial behind too many others is refused as by a busy controller', async () => {
  const { storage, world, client } = await scene()
  storage.holds = (call) => call === 'find terminators'
  const dialed = Array.from({ length: 120 }, () => dial(client))
  for (let answered = 0; answered < 11; answered += 1) {
    await vi.waitFor(() => expect(storage.held.length).toBeGreaterThan(answered))
    storage.held[answered]?.()
    await world.controller.elapse(SECOND_MS)
  }
  const refused = (await Promise.all(dialed)).flatMap(({ refused }) => (refused === undefined ? [] : [refused]))
  expect(refused.length).toBeGreaterThan(100)
  expect([...new Set(refused.map(String))]).toEqual(['too many circuits'])
})
