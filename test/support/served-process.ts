// One of several controllers over one database, served over TLS to APIs and routers: its parent tells it where the database
// is, and hears at which port it listens.
import { createController, type PkiMaterial } from 'portcullis'
import { serve } from 'portcullis/node'
import { postgresStorage } from '../../adapters/kysely/index.ts'

/** What the parent tells. */
export interface ServedProcessTask {
  /** What `pg` takes as a connection. */
  readonly url: string
  readonly pki: PkiMaterial
}

process.once('message', async ({ url, pki }: ServedProcessTask) => {
  const storage = await postgresStorage({ connection: url })
  const controller = await createController({ storage, pki, address: 'controller.test:1280', rateLimits: false })
  const server = await serve(controller, { host: '127.0.0.1', port: 0, fabric: true })
  process.send?.({ port: server.port })
})
process.on('disconnect', () => process.exit(0))
