import { X509Certificate } from 'node:crypto'
import type { Controller } from 'portcullis'
import { createTestController } from 'portcullis/testing'
import type { Mount } from '../contract/http/mount.ts'
import { httpsClient } from './https-fetch.ts'
import { withSharedPki } from './shared-pki.ts'

/** A controller that listens on a port of this machine. */
export interface Listening {
  readonly port: number
  close(): Promise<unknown>
}

/** Mounts controllers on a socket: real TLS, whose client verifies the server, so that the clock starts at the real now. */
export function socketMount(listen: (controller: Controller) => Promise<Listening>): Mount {
  return async (options) => {
    const controller = await createTestController(await withSharedPki({ now: Date.now(), ...options }))
    const server = await listen(controller)
    const client = httpsClient({ port: server.port, ca: rootsOf(controller.caPem) })
    return {
      url: `https://127.0.0.1:${server.port}`,
      controller,
      clock: controller.clock,
      fetch: client.fetch,
      dispose: async () => {
        client.close()
        await server.close()
        await controller.close()
      },
    }
  }
}

/** A client that trusts intermediates, too, would add them to the chain that it sends for its own certificate. */
function rootsOf(bundle: string): string {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? []
  return blocks.filter((block) => new X509Certificate(block).issuer === new X509Certificate(block).subject).join('')
}
