import { X509Certificate } from 'node:crypto'
import { serve } from 'portcullis/node'
import { createTestController } from 'portcullis/testing'
import type { Mount } from '../contract/http/mount.ts'
import { httpContract } from '../contract/http.ts'
import { httpsClient } from '../support/https-fetch.ts'

/** Over a socket: real TLS, whose client verifies the server, so that the clock starts at the real now. */
const mount: Mount = async (options) => {
  const controller = await createTestController({ now: Date.now(), ...options })
  const server = await serve(controller, { port: 0 })
  const client = httpsClient({ port: server.port, ca: rootsOf(controller.caPem) })
  return {
    url: server.url,
    controller,
    clock: controller.clock,
    fetch: client.fetch,
    dispose: async () => {
      client.close()
      await server.close({ graceMs: 0 })
      await controller.close()
    },
  }
}

/** A client that trusts intermediates, too, would add them to the chain that it sends for its own certificate. */
function rootsOf(bundle: string): string {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? []
  return blocks.filter((block) => new X509Certificate(block).issuer === new X509Certificate(block).subject).join('')
}

httpContract('portcullis/node', mount)
