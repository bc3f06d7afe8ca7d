import { memoryStorage } from 'portcullis/memory'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { faultyStorage } from '../support/faulty-storage.ts'

describe('probes', () => {
  const ask = async (controller: Awaited<ReturnType<typeof createTestController>>, path: string) => {
    const answer = await controller.fetch(new Request(`https://controller.test:1280${path}`))
    return { status: answer.status, text: await answer.text() }
  }

  it('are not there unless they are asked for', async () => {
    const controller = await createTestController()
    for (const path of ['/healthz', '/readyz', '/metrics']) expect((await ask(controller, path)).status).toBe(404)
  })

  it('tell that the process answers, and that it has its storage', async () => {
    const controller = await createTestController({ probes: true })
    expect(await ask(controller, '/healthz')).toEqual({ status: 200, text: 'ok\n' })
    expect(await ask(controller, '/readyz')).toEqual({ status: 200, text: 'ok\n' })
    await controller.close()
    expect(await ask(controller, '/healthz')).toEqual({ status: 503, text: 'closed\n' })
    expect((await ask(controller, '/readyz')).status).toBe(503)
  })

  it('tell that the storage is away, and that it is back', async () => {
    const storage = faultyStorage(memoryStorage())
    const controller = await createTestController({ probes: true, storage })
    storage.fault = { call: 1, when: 'before' }
    expect(await ask(controller, '/readyz')).toEqual({ status: 503, text: 'the storage is not available\n' })
    expect(await ask(controller, '/readyz')).toEqual({ status: 200, text: 'ok\n' })
  })

  it('count requests by method and status, and by nothing that a caller makes up', async () => {
    const controller = await createTestController({ probes: true })
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

  it('count figures towards the rate of their address, and nothing else', async () => {
    const rateLimits = { anonymous: { limit: 2, windowMs: 60_000 } }
    const controller = await createTestController({ probes: true, rateLimits })
    const from = (remoteAddress: string, path: string) =>
      controller.fetch(new Request(`https://controller.test:1280${path}`), { remoteAddress })
    for (const status of [200, 200, 429]) expect((await from('192.0.2.1', '/metrics')).status).toBe(status)
    expect(Number((await from('192.0.2.1', '/metrics')).headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await from('192.0.2.2', '/metrics')).status).toBe(200)
    for (const path of ['/healthz', '/readyz']) expect((await from('192.0.2.1', path)).status).toBe(200)
  })
})
