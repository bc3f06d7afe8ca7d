// One of several controllers over one database, with its APIs and its routers on a port of its own: its parent tells it where
// that is and where routers find the others, hears when it is ready, and may kill it.
import { createController } from 'portcullis'
import { withExplorer } from 'portcullis/explorer'
import { postgresStorage } from 'portcullis/kysely'
import { openPkiDirectory, serve } from 'portcullis/node'

/** The task that the parent gives. */
export interface RoutedProcessTask {
  /** The connection string of the database. */
  readonly url: string
  /** The folder of the keys and certificates that all processes have. */
  readonly pki: string
  readonly port: number
  readonly others: readonly number[]
  readonly admin: { readonly username: string; readonly password: string }
}

process.once('message', async ({ url, pki, port, others, admin }: RoutedProcessTask) => {
  const host = '127.0.0.1'
  const address = `${host}:${port}`
  const storage = await postgresStorage({ connection: url })
  const controller = await createController({ storage, pki: openPkiDirectory(pki), address, admin, rateLimits: false })
  await serve(withExplorer(controller), {
    port,
    host,
    fabric: { others: others.map((other) => ({ host, port: other })) },
  })
  process.send?.('ready')
})
process.on('disconnect', () => process.exit(0))
