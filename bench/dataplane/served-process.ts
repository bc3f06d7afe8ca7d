// Serves a controller with the router of its process, on memory storage. Its first message has the port and the admin; it answers the
// authorities of the network, and from then on every question as a router's process does.
import { createController } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { serve } from 'portcullis/node'
import { tellWhenAsked } from './measured-process.ts'

interface Served {
  readonly port: number
  readonly admin: { readonly username: string; readonly password: string }
}

process.once('message', async ({ port, admin }: Served) => {
  const storage = memoryStorage()
  const address = `127.0.0.1:${port}`
  const controller = await createController({ storage, address, admin, rateLimits: false })
  const server = await serve(controller, { port, fabric: true, router: { roleAttributes: ['all'] } })
  process.send?.({ port: server.port, ca: controller.caPem })
  tellWhenAsked()
})
