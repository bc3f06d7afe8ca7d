// One of several controllers over one database, served over TLS to APIs and routers: its parent tells it where the database
// is, and hears at which port it listens.
import { createController, type PkiMaterial } from 'portcullis'
import { postgresStorage } from 'portcullis/kysely'
import { type Address, serve } from 'portcullis/node'

/** The task that the parent gives. */
export interface ServedProcessTask {
  /** A connection as `pg` takes it. */
  readonly url: string
  readonly pki: PkiMaterial
  /** Port 0 lets the system choose. */
  readonly port?: number
  /** Where routers reach the other processes. */
  readonly others?: readonly Address[]
  readonly admin?: { readonly username: string; readonly password: string }
}

process.once('message', async ({ url, pki, port = 0, others = [], admin }: ServedProcessTask) => {
  const storage = await postgresStorage({ connection: url })
  const address = port === 0 ? 'controller.test:1280' : `127.0.0.1:${port}`
  const controller = await createController({
    storage,
    pki,
    address,
    rateLimits: false,
    ...(admin === undefined ? {} : { admin }),
  })
  const server = await serve(controller, { host: '127.0.0.1', port, fabric: { others } })
  process.send?.({ port: server.port })
})
process.on('disconnect', () => process.exit(0))
