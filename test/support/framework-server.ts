import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { Controller } from 'portcullis'
import type { Listening } from './socket-mount.ts'

/** TLS as a host sets it up: client certificates are asked for and left to the controller to judge. */
export function tlsOf(controller: Controller) {
  return { ...controller.tls(), requestCert: true, rejectUnauthorized: false }
}

/** Lets a framework's server listen on a free port. */
export async function listening(server: Server): Promise<Listening> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    port: address.port,
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

export { createServer }
