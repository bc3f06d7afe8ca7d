import { serve } from 'portcullis/node'
import { createTestController } from 'portcullis/testing'
import { httpContract } from '../contract/http.ts'
import type { Mount } from '../contract/http/mount.ts'
import { httpsClient } from '../support/https-fetch.ts'

/** Over a socket: real TLS, whose client verifies the server, so that the clock starts at the real now. */
const mount: Mount = async (options) => {
  const controller = await createTestController({ now: Date.now(), ...options })
  const server = await serve(controller, { port: 0 })
  const client = httpsClient({ port: server.port, ca: controller.caPem })
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

httpContract('portcullis/node', mount)
