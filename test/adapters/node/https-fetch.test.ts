import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createClient } from 'portcullis/client'
import { httpsFetch, serve } from 'portcullis/node'
import { createTestController } from 'portcullis/testing'
import { expect, it, onTestFinished } from 'vitest'
import { dialController } from '../../../adapters/network/router/control/controller-channel.ts'
import { newKey, signingRequest } from '../../contract/http/signing-request.ts'
import { adminToken, callController } from '../../support/tls-router.ts'

async function served() {
  const controller = await createTestController({ address: 'localhost:1280', now: Date.now() })
  const server = await serve(controller, { port: 0 })
  onTestFinished(() => server.close({ graceMs: 0 }))
  return { ...server, controller, ca: controller.caPem }
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

/** A server with the certificate of an edge router that asked for the names of the controller. */
async function routerInPlaceOf({ controller, ca }: Awaited<ReturnType<typeof served>>) {
  const token = await adminToken(controller)
  const { id } = await callController(controller, ['POST', '/management/v1/edge-routers'], { name: 'hostile' }, token)
  const shown = await callController(controller, ['GET', `/management/v1/edge-routers/${id}`], undefined, token)
  const key = newKey()
  const csr = signingRequest(key, `/CN=${id}`, ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'])
  const { cert: clientCert, serverCert } = await callController(
    controller,
    ['POST', `/client/v1/enroll?method=erott&token=${shown.enrollmentToken}`],
    { certCsr: csr, serverCertCsr: csr },
  )
  const ALPNProtocols = ['http/1.1', 'ziti-ctrl']
  const server = createServer({ key, cert: serverCert, ALPNProtocols }, (_request, response) => response.end('{}'))
  server.on('tlsClientError', () => undefined).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, routerId: String(id), credentials: { key, clientCert, serverCert, ca } }
}

it('trusts no router in the place of the controller, whatever names its certificate has', async () => {
  const scene = await served()
  const { port, routerId, credentials } = await routerInPlaceOf(scene)
  for (const host of ['localhost', '127.0.0.1']) {
    const answered = httpsFetch({ ca: scene.ca })(new Request(`https://${host}:${port}/edge/client/v1/version`))
    await expect(answered).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      message: `the server at ${host} shows the certificate of a router, and no controller does`,
    })
  }
  const router = { routerId, version: '0.0.0', linkListeners: [] }
  const dialed = dialController(`tls:localhost:${port}`, router, credentials)
  await expect(dialed).rejects.toThrow('shows the certificate of a router')
})
