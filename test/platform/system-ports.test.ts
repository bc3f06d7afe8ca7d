import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import { createSealer, findNativeCipher, webCipher } from '../../src/platform/aes-gcm-sealer.ts'
import { createDigest, createScheduler, systemClock, systemRandom } from '../../src/platform/system-runtime.ts'

describe('system clock', () => {
  it('answers the milliseconds of the host', () => {
    const before = Date.now()
    expect(systemClock.now()).toBeGreaterThanOrEqual(before)
    expect(systemClock.now()).toBeLessThanOrEqual(Date.now())
  })
})

describe('system random', () => {
  it('makes ids of ten letters and digits that do not repeat', () => {
    const ids = Array.from({ length: 5000 }, () => systemRandom.id())
    expect(ids.every((id) => /^[0-9a-zA-Z]{10}$/.test(id))).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('draws every character equally often (chi-square under 61 degrees of freedom)', () => {
    const counts = new Map<string, number>()
    const draws = 62_000
    for (let at = 0; at < draws / 10; at += 1) {
      for (const char of systemRandom.id()) counts.set(char, (counts.get(char) ?? 0) + 1)
    }
    expect(counts.size).toBe(62)
    const expected = draws / 62
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    // A fair source exceeds 140 about once in ten million runs; modulo bias (256 = 4 * 62 + 8) adds about 460.
    expect(chiSquare).toBeLessThan(140)
  })

  it('makes version 4 UUIDs', () => {
    expect(systemRandom.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(systemRandom.uuid()).not.toBe(systemRandom.uuid())
  })
})

describe('digest', () => {
  it.each(['', 'token', 'zażółć 🔑'])('answers the SHA-256 of the UTF-8 text %j', async (text) => {
    expect((await createDigest()).sha256(text)).toBe(createHash('sha256').update(text).digest('hex'))
  })
})

describe('sealer', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const key = new Uint8Array(32).fill(7)
  const nonce = new Uint8Array(12).fill(1)
  const ciphers = async (of: Uint8Array<ArrayBuffer> = key) => {
    const native = await findNativeCipher(of)
    if (native === undefined) throw new Error('this runtime has node:crypto')
    return [native, await webCipher(of)] as const
  }

  it('seals the same by node:crypto and by WebCrypto, and each opens it', async () => {
    const [native, web] = await ciphers()
    const sealed = await native.seal(nonce, bytes('purpose'), bytes('text'))
    expect(sealed).toEqual(await web.seal(nonce, bytes('purpose'), bytes('text')))
    for (const cipher of [native, web]) {
      expect(await cipher.open(nonce, bytes('purpose'), new Uint8Array(sealed))).toEqual(bytes('text'))
    }
  })

  it('opens nothing that was changed, cut, or sealed otherwise', async () => {
    const [native, web] = await ciphers()
    const sealed = new Uint8Array(await native.seal(nonce, bytes('purpose'), bytes('text')))
    const others = await ciphers(new Uint8Array(32).fill(8))
    for (const cipher of [native, web]) {
      for (let at = 0; at < sealed.length; at += 1) {
        await expect(cipher.open(nonce, bytes('purpose'), sealed.with(at, (sealed[at] ?? 0) ^ 1))).rejects.toThrow()
        await expect(cipher.open(nonce, bytes('purpose'), sealed.slice(0, at))).rejects.toThrow()
      }
      await expect(cipher.open(nonce, bytes('other'), sealed)).rejects.toThrow()
      await expect(cipher.open(new Uint8Array(12), bytes('purpose'), sealed)).rejects.toThrow()
    }
    for (const cipher of others) await expect(cipher.open(nonce, bytes('purpose'), sealed)).rejects.toThrow()
  })

  it('uses a nonce of its own for each text', async () => {
    const sealer = await createSealer(key)
    const sealed = await Promise.all(Array.from({ length: 100 }, () => sealer.seal('text', 'purpose')))
    expect(new Set(sealed).size).toBe(100)
    await expect(sealer.open(sealed[0] ?? '', 'purpose')).resolves.toBe('text')
    await expect(sealer.open('', 'purpose')).rejects.toThrow('another secretsKey')
  })
})

const DAY = 24 * 60 * 60 * 1000

describe('timers of the host', () => {
  it('go off at their instant, not before it by the clock', async () => {
    const scheduler = createScheduler({ now: () => Date.now() })
    const at = Date.now() + 25
    const wentOffAt = await new Promise<number>((resolve) => {
      scheduler.at(at, async () => resolve(Date.now()))
    })
    expect(wentOffAt).toBeGreaterThanOrEqual(at)
  })

  it('go off soon when their instant is past', async () => {
    const scheduler = createScheduler({ now: () => 1000 })
    await new Promise<void>((resolve) => {
      scheduler.at(0, async () => resolve())
    })
  })

  it.each([
    ['more than 24.8 days away', 25 * DAY],
    ['a century away', 36_525 * DAY],
  ])('do not go off early when they are %s', async (_, distance) => {
    const scheduler = createScheduler({ now: () => 0 })
    let isOff = false
    const cancel = scheduler.at(distance, async () => {
      isOff = true
    })
    await sleep(20)
    cancel()
    expect(isOff).toBe(false)
  })

  it('never go off once cancelled', async () => {
    let isOff = false
    createScheduler({ now: () => 0 }).at(5, async () => {
      isOff = true
    })()
    await sleep(20)
    expect(isOff).toBe(false)
  })
})
