import { get } from 'node:https'
import { SYSTEM_CALL } from 'portcullis'
import { serve } from 'portcullis/node'
import { createTestController } from 'portcullis/testing'
import { expect, it, onTestFinished } from 'vitest'
import { adminToken } from '../../support/delegate.ts'
import { withSharedPki } from '../../support/shared-pki.ts'

it('sends events as they happen over a socket, and ends the streams when the server closes', async () => {
  const controller = await createTestController(await withSharedPki())
  onTestFinished(() => controller.close())
  const server = await serve(controller, { port: 0 })
  const token = await adminToken(controller)
  const headers = { 'zt-session': token, accept: 'text/event-stream' }
  let text = ''
  let isEnded = false
  const heard = (part: string) =>
    new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (!text.includes(part)) return
        clearInterval(timer)
        resolve()
      }, 5)
    })
  const request = get(
    `${server.url}/portcullis/v1/events`,
    { headers, ca: controller.caPem, agent: false },
    (response) => {
      expect(response.headers['content-length']).toBeUndefined()
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      response.on('end', () => {
        isEnded = response.complete
      })
    },
  )
  request.on('error', () => undefined)
  await heard('retry:')
  await controller.engine.services.create(SYSTEM_CALL, { name: 'payroll', encryptionRequired: true })
  await heard('"kind":"services"')
  const from = performance.now()
  await server.close()
  expect(performance.now() - from).toBeLessThan(3000)
  await expect.poll(() => isEnded).toBe(true)
})
