import { SYSTEM_CALL } from 'portcullis'
import { createTestController } from 'portcullis/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { receiver, storyOf } from './receiver.ts'

it('gives an endpoint that never answers 15 s, and tells it again', { timeout: 120_000 }, async () => {
  const target = await receiver(() => undefined)
  const controller = await createTestController({ webhooks: { allow: ['127.0.0.1'] }, clock: 'live' })
  onTestFinished(() => controller.close())
  const body = { name: 'slow', endpoint: target.url, filter: 'kind = "services"' }
  const { id } = await controller.engine.webhooks.create(SYSTEM_CALL, body)
  await controller.engine.services.create(SYSTEM_CALL, { name: 'web', encryptionRequired: true })
  const report = () => controller.engine.webhooks.deliveries(SYSTEM_CALL, id)
  await vi.waitFor(async () => expect((await report()).problem).toBe('no answer in 15 s'), 60_000)
  target.answering = (_message, response) => response.writeHead(200).end()
  await vi.waitFor(async () => expect(await report()).toMatchObject({ delivered: 1, waitingCount: 0 }), 60_000)
  expect(storyOf(target.received)).toEqual(['created web', 'created web'])
})

it('is let go of at once when the controller closes', async () => {
  const target = await receiver(() => undefined)
  const controller = await createTestController({ webhooks: { allow: ['127.0.0.1'] } })
  await controller.engine.webhooks.create(SYSTEM_CALL, { name: 'slow', endpoint: target.url })
  await vi.waitFor(() => expect(target.received).toHaveLength(1), 10_000)
  const startedAt = performance.now()
  await controller.close()
  expect(performance.now() - startedAt).toBeLessThan(10_000)
})
