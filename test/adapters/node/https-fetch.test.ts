import { createClient } from 'portcullis/client'
import { httpsFetch, serve } from 'portcullis/node'
import { createTestController } from 'portcullis/testing'
import { expect, it, onTestFinished } from 'vitest'

async function served() {
  const controller = await createTestController({ address: 'localhost:1280', now: Date.now() })
  const server = await serve(controller, { port: 0 })
  onTestFinished(() => server.close({ graceMs: 0 }))
  return { ...server, ca: controller.caPem }
}

it('reaches a controller that only its own authority vouches for', async () => {
  const { url, ca } = await served()
  const client = createClient({ baseUrl: url, fetch: httpsFetch({ ca }) })
  const { data } = await client.call('GET /version')
  expect(data.capabilities).toContain('OIDC_AUTH')
  const refused = client.call('GET /current-identity')
  await expect(refused).rejects.toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
})

it('trusts nobody else', async () => {
  const { url } = await served()
  const client = createClient({ baseUrl: url, fetch: httpsFetch() })
  await expect(client.call('GET /version')).rejects.toMatchObject({ code: expect.stringMatching(/CERT|SIGNATURE/) })
})

it('is what a client advises whose runtime does not trust the controller', async () => {
  const { url } = await served()
  const call = createClient({ baseUrl: url }).call('GET /version')
  const message = "the controller's certificate is not trusted: pass fetch: httpsFetch({ ca }) of portcullis/node"
  await expect(call).rejects.toMatchObject({ name: 'TypeError', message, cause: { code: expect.any(String) } })
})

it('gives up when it is told to, with the reason', async () => {
  const { url, ca } = await served()
  const client = createClient({ baseUrl: url, fetch: httpsFetch({ ca }) })
  const call = client.call('GET /version', { signal: AbortSignal.timeout(0) })
  await expect(call).rejects.toMatchObject({ name: 'TimeoutError' })
})
