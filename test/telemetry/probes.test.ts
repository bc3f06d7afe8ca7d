import { type Storage, SYSTEM_CALL } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { type ReadTransaction, StorageUnavailable } from 'portcullis/storage'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { extend, pkiOf } from '../pki/keys.ts'
import { faultyStorage } from '../support/faulty-storage.ts'
import { withSharedPki } from '../support/shared-pki.ts'

const DAY_MS = 86_400_000

describe('probes', () => {
  const ask = async (controller: Awaited<ReturnType<typeof createTestController>>, path: string) => {
    const answer = await controller.fetch(new Request(`https://controller.test:1280${path}`))
    return { status: answer.status, text: await answer.text() }
  }

  it('are not there unless they are asked for', async () => {
    const controller = await createTestController(await withSharedPki())
    for (const path of ['/healthz', '/readyz', '/metrics']) expect((await ask(controller, path)).status).toBe(404)
  })

  it('tell that the process answers, and that it has its storage', async () => {
    const controller = await createTestController(await withSharedPki({ probes: true }))
    expect(await ask(controller, '/healthz')).toEqual({ status: 200, text: 'ok\n' })
    expect(await ask(controller, '/readyz')).toEqual({ status: 200, text: 'ok\n' })
    await controller.close()
    expect(await ask(controller, '/healthz')).toEqual({ status: 503, text: 'closed\n' })
    expect((await ask(controller, '/readyz')).status).toBe(503)
  })

  it('tell that the storage is away, and that it is back', async () => {
    const storage = faultyStorage(memoryStorage())
    const controller = await createTestController(await withSharedPki({ probes: true, storage }))
    storage.fault = { call: 1, when: 'before' }
    expect(await ask(controller, '/readyz')).toEqual({ status: 503, text: 'the storage is not available\n' })
    expect(await ask(controller, '/readyz')).toEqual({ status: 200, text: 'ok\n' })
  })

  it('are not ready before the access index stands, tell how far it is, and answer without it', async () => {
    const inner = memoryStorage()
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = (tx: ReadTransaction): ReadTransaction => ({
      revision: tx.revision,
      line: tx.line,
      changesSince: (revision, line) => tx.changesSince(revision, line),
      collection(kind) {
        const collection = tx.collection(kind)
        const scan: typeof collection.scan = async function* (...given) {
          if (kind.name === 'services') await released
          yield* collection.scan(...given)
        }
        return new Proxy(collection, {
          get: (target, name) => {
            const member: unknown = name === 'scan' ? scan : Reflect.get(target, name)
            return typeof member === 'function' ? member.bind(target) : member
          },
        })
      },
    })
    const storage: Storage = { ...inner, read: (work, options) => inner.read((tx) => work(slow(tx)), options) }
    const controller = await createTestController(await withSharedPki({ probes: true, storage }))
    const { status, text } = await ask(controller, '/readyz')
    expect(status).toBe(503)
    expect(text).toMatch(/^the access index is being built: [1-9]\d* records were read\n$/)
    expect((await ask(controller, '/healthz')).status).toBe(200)
    release()
    expect(await ask(controller, '/readyz')).toEqual({ status: 200, text: 'ok\n' })
  })

  it('tell that the storage is full, in the log and the figures too, and that there is room again', async () => {
    const inner = memoryStorage()
    let isFull = false
    const storage: Storage = {
      ...inner,
      write: (work) =>
        isFull ? Promise.reject(new StorageUnavailable('full', 'the database is full')) : inner.write(work),
    }
    const logged: string[] = []
    const log = (message: string) => void logged.push(message)
    const logger = { info: log, warn: log, error: log }
    const controller = await createTestController(await withSharedPki({ probes: true, storage, logger }))
    const create = (name: string) =>
      controller.engine.services.create(SYSTEM_CALL, { name, encryptionRequired: false }).then(
        () => 'made',
        () => 'refused',
      )
    isFull = true
    expect([await create('a'), await create('b')]).toEqual(['refused', 'refused'])
    expect(await ask(controller, '/readyz')).toEqual({
      status: 503,
      text: 'the storage is full: changes are refused\n',
    })
    expect((await ask(controller, '/metrics')).text).toContain('portcullis_store_refuses_writes 1\n')
    expect(logged.filter((line) => line.startsWith('the storage is full'))).toHaveLength(1)
    // Nobody asks a controller that is not ready: it is tried again after a while.
    await controller.elapse(31_000)
    expect((await ask(controller, '/readyz')).status).toBe(200)
    isFull = false
    expect(await create('a')).toBe('made')
    expect((await ask(controller, '/metrics')).text).toContain('portcullis_store_refuses_writes 0\n')
    expect(logged).toContain('the storage takes changes again')
  })

  it('count requests by method and status, and by nothing that a caller makes up', async () => {
    const controller = await createTestController(await withSharedPki({ probes: true }))
    await ask(controller, '/edge/client/v1/version')
    await ask(controller, '/nowhere')
    await controller.fetch(new Request('https://controller.test:1280/', { method: 'MADEUP' }))
    await controller.fetch(new Request('https://controller.test:1280/', { method: 'MADEUPTOO' }))
    await controller.elapse(5000)
    const { status, text } = await ask(controller, '/metrics')
    expect(status).toBe(200)
    expect(text).toContain('portcullis_requests_total{method="GET",status="200"} 1\n')
    expect(text).toContain('portcullis_requests_total{method="GET",status="404"} 1\n')
    expect(text).toMatch(/portcullis_requests_total\{method="other",status="405"\} 2\n/)
    expect(text).toContain('portcullis_uptime_seconds 5\n')
    expect(text).not.toContain('MADEUP')
  })

  it('count those who have no certificate of the latest authority, are let in for a month still, or are locked out', async () => {
    const controller = await createTestController(await withSharedPki({ probes: true }))
    for (const name of ['a', 'b', 'c']) await controller.enroll(name)
    const gauges = async () => {
      const { text } = await ask(controller, '/metrics')
      return ['outstanding', 'ending', 'ended'].map((what) => {
        const line = new RegExp(`^portcullis_certificates_${what}\\{of="identities"\\} (\\d+)$`, 'm').exec(text)
        return Number(line?.[1])
      })
    }
    expect(await gauges()).toEqual([0, 0, 0])
    const pki = await pkiOf(controller)
    const keepUntil = new Date(controller.clock.now() + 20 * DAY_MS).toISOString()
    await pki.call('POST /pki/rotations', { body: { what: 'root', keepUntil } })
    expect(await gauges()).toEqual([3, 3, 0])
    await extend(controller.as('a'))
    await controller.elapse(61_000)
    expect(await gauges()).toEqual([2, 2, 0])
    await controller.elapse(20 * DAY_MS)
    expect(await gauges()).toEqual([2, 0, 2])
    // A certificate that ends by itself, with no change of keys.
    await controller.elapse(320 * DAY_MS)
    expect(await gauges()).toEqual([2, 1, 2])
    await controller.close()
  })

  it('count figures towards the rate of their address, and nothing else', async () => {
    const rateLimits = { anonymous: { limit: 2, windowMs: 60_000 } }
    const controller = await createTestController(await withSharedPki({ probes: true, rateLimits }))
    const from = (remoteAddress: string, path: string) =>
      controller.fetch(new Request(`https://controller.test:1280${path}`), { remoteAddress })
    for (const status of [200, 200, 429]) expect((await from('192.0.2.1', '/metrics')).status).toBe(status)
    expect(Number((await from('192.0.2.1', '/metrics')).headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await from('192.0.2.2', '/metrics')).status).toBe(200)
    for (const path of ['/healthz', '/readyz']) expect((await from('192.0.2.1', path)).status).toBe(200)
  })
})
