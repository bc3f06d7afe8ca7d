import { X509Certificate } from 'node:crypto'
import { createTestController } from 'portcullis/testing'
import type { Storage } from '../../../src/index.ts'
import type { Mount } from '../../contract/http/mount.ts'

/** In `npm test` the part that a storage matters to; `npm run test:storage` runs all. */
export const PART = process.env.PORTCULLIS_STORAGE_MATRIX === 'all' ? 'all' : 'what a storage matters to'

const URL_OF_CONTROLLER = 'https://controller.test:1280'

/** Mounts controllers in process on storages that `open` makes, empty for each. */
export function mountOn(open: () => Promise<Storage>): Mount {
  return async (options) => {
    const controller = await createTestController({ storage: await open(), ...options })
    return {
      url: URL_OF_CONTROLLER,
      controller,
      clock: controller.clock,
      fetch: (path, { body, authorizations = [], ...request } = {}, client) => {
        // Bytes, because a Request of text makes up a content type.
        const content = typeof body === 'string' ? new TextEncoder().encode(body) : body
        const init = { ...request, ...(content === undefined ? {} : { body: content }) }
        const connection = { remoteAddress: '127.0.0.1' }
        const sent = new Request(`${URL_OF_CONTROLLER}${path}`, init)
        for (const line of authorizations) sent.headers.append('authorization', line)
        return controller.fetch(
          sent,
          client === undefined ? connection : { ...connection, clientCertificates: chainOf(client.cert) },
        )
      },
      dispose: () => controller.close(),
    }
  }
}

function chainOf(pem: string): readonly Uint8Array[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new Uint8Array(new X509Certificate(block).raw))
}
