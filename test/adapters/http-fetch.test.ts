import { X509Certificate } from 'node:crypto'
import { createTestController } from 'portcullis/testing'
import type { Mount } from '../contract/http/mount.ts'
import { httpContract } from '../contract/http.ts'

/** In process: what a framework adapter would hand over is handed to the controller directly. */
const mount: Mount = async (options) => {
  const controller = await createTestController(options)
  const url = 'https://controller.test:1280'
  return {
    url,
    controller,
    clock: controller.clock,
    fetch: (path, { body, authorizations = [], ...request } = {}, client) => {
      // Bytes, because a Request of text makes up a content type.
      const content = typeof body === 'string' ? new TextEncoder().encode(body) : body
      const sent = new Request(`${url}${path}`, { ...request, ...(content === undefined ? {} : { body: content }) })
      for (const line of authorizations) sent.headers.append('authorization', line)
      const connection = { remoteAddress: '127.0.0.1' }
      return controller.fetch(
        sent,
        client === undefined ? connection : { ...connection, clientCertificates: chainOf(client.cert) },
      )
    },
    dispose: () => controller.close(),
  }
}

function chainOf(pem: string): readonly Uint8Array[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new Uint8Array(new X509Certificate(block).raw))
}

httpContract('controller.fetch', mount)
