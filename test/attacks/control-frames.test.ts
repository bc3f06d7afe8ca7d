import { routerSide } from 'portcullis/fabric'
import { FakeRouter } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fabricWorld } from '../fabric/control/fabric-world.ts'
import { randomFrom } from '../support/seeded-random.ts'
import { IS_SHORT } from '../support/suite.ts'

const { CONTENT_TYPE, HEADER } = routerSide
/** Frames that are sent; PORTCULLIS_FUZZ_FRAMES asks for others. */
const FRAMES = Number(process.env.PORTCULLIS_FUZZ_FRAMES ?? (IS_SHORT ? 2_000 : 20_000))
const SEED = Number(process.env.PORTCULLIS_FUZZ_SEED ?? 1)
/** Frames of one router before the next one goes on: fewer than the burst that a channel may send. */
const TURN = 500
const ROUTERS = 20

/** Bytes that a frame of a router may hold: nothing, any bytes, or fields of Protocol Buffers of any type and length. */
function anyBody(random: () => number): Uint8Array {
  const bytes = Uint8Array.from({ length: Math.floor(random() * 48) }, () => Math.floor(random() * 256))
  if (random() < 0.3) return bytes
  const field = (1 + Math.floor(random() * 12)) * 8 + Math.floor(random() * 8)
  return Uint8Array.from([field % 256, bytes.length, ...bytes])
}

function anyHeaders(random: () => number): Map<number, Uint8Array> {
  const numbers = Object.values(HEADER)
  const any = () => numbers[Math.floor(random() * numbers.length)] ?? 0
  return new Map(Array.from({ length: Math.floor(random() * 4) }, () => [any(), anyBody(random)] as const))
}

describe('frames of an enrolled router that mean nothing', () => {
  it('crash nothing, are logged as no error of ours, and leave others their channel', {
    timeout: 600_000,
  }, async () => {
    const complaints: unknown[][] = []
    const logger = {
      info: () => undefined,
      warn: () => undefined,
      error: (...told: unknown[]) => void complaints.push(told),
    }
    const world = await fabricWorld({}, { logger })
    onTestFinished(async () => {
      await world.listener.close()
      await world.controller.close()
    })
    const decent = await world.router('decent')
    const enrolled = await Promise.all(Array.from({ length: ROUTERS }, (_, at) => world.enroll(`fuzzing ${at}`)))
    const random = randomFrom(SEED)
    // A router that takes itself out of service is deleted, which is what it asked for.
    const types = Object.values(CONTENT_TYPE).filter((type) => type !== CONTENT_TYPE.decommission)
    let [sent, channels] = [0, 0]
    for (let turn = 0; sent < FRAMES; turn += 1) {
      const [facts] = enrolled.slice(turn % ROUTERS)
      if (facts === undefined) throw new Error('no router is left')
      const router = new FakeRouter(facts, world.listener)
      if ((await router.connect()).accepted) channels += 1
      for (let frame = 0; frame < TURN && sent < FRAMES && !router.isClosed; frame += 1) {
        const type = random() < 0.9 ? types[Math.floor(random() * types.length)] : 70_000 + Math.floor(random() * 1000)
        router.send(type ?? 0, anyBody(random), anyHeaders(random))
        sent += 1
        if (frame % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      await new Promise((resolve) => setImmediate(resolve))
      router.close()
      // Who connects again within a minute is a twin, and refused.
      if (turn % ROUTERS === ROUTERS - 1) await world.controller.elapse(61_000)
    }
    expect(sent).toBeGreaterThanOrEqual(FRAMES)
    expect((await decent.request(CONTENT_TYPE.ping)).contentType).toBe(CONTENT_TYPE.result)
    expect(complaints).toEqual([])
    expect(channels).toBeGreaterThan(1)
    console.log(`${sent} frames over ${channels} channels`)
  })
})
