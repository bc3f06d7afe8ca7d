import { createController, type PkiMaterial } from 'portcullis'
import { withExplorer } from 'portcullis/explorer'
import { formatAddress, type LocalRouter, serve } from 'portcullis/node'
import { type Admin, openAdmin } from '../admin.ts'
import { ADMIN_FILE } from '../files.ts'
import type { Options } from '../options.ts'
import { openStorage } from '../storage.ts'
import type { Tick } from '../story.ts'

/** The edge router of `network.yaml` that runs in this process; the other one is for you to start. */
const ROUTER = { name: 'er-cloud', roleAttributes: ['cloud'] }

/** A controller that answers over HTTPS, with an edge router on the same port. */
export interface ServedController {
  readonly url: string
  /** The CA certificates by which clients verify the server, PEM. */
  readonly ca: string
  readonly admin: Admin
  /** The edge router of this process. */
  readonly router: LocalRouter
  close(): Promise<void>
}

/** Starts a controller and serves it. Rejects when the address is taken, naming the option that chooses another. */
export async function startController(options: Options, pki: PkiMaterial, tick: Tick): Promise<ServedController> {
  const { storage, note } = await openStorage()
  const { admin, created } = await openAdmin()
  const address = formatAddress(options.reached)
  const controller = withExplorer(await createController({ storage, pki, admin, address }))
  const fabric = { advertise: options.reached }
  const router = { ...ROUTER, advertise: options.reached }
  const server = await serve(controller, { ...options.listen, fabric, router }).catch((error: unknown) => {
    throw new Error(`${messageOf(error)} with --listen HOST:PORT or PORTCULLIS_LISTEN`)
  })
  const url = `https://${address}`
  tick(`serving the client API and the management API on ${url}`)
  tick(`access explorer, for a browser: ${url}/portcullis/explorer/`)
  tick(`edge router ${server.router.name}, on the same port: it needs no other program`)
  tick(note)
  if (created) tick(`admin: username ${admin.username}, password ${admin.password} (shown once; kept in ${ADMIN_FILE})`)
  else tick(`admin: username ${admin.username}, password as shown on the first run (kept in ${ADMIN_FILE})`)
  return {
    url,
    ca: controller.caPem,
    admin,
    router: server.router,
    close: async () => {
      await server.close({ graceMs: 1000 })
      await controller.close()
    },
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
