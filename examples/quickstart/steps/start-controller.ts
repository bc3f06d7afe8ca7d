import { createController, type PkiMaterial } from 'portcullis'
import { withExplorer } from 'portcullis/explorer'
import { formatAddress, serve } from 'portcullis/node'
import { type Admin, openAdmin } from '../admin.ts'
import { ADMIN_FILE } from '../files.ts'
import type { Options } from '../options.ts'
import { openStorage } from '../storage.ts'
import type { Tick } from '../story.ts'

/** A controller that answers over HTTPS. */
export interface ServedController {
  readonly url: string
  /** What clients verify the server with, PEM. */
  readonly ca: string
  readonly admin: Admin
  close(): Promise<void>
}

/** Starts a controller and serves it. Rejects when the address is taken, naming the option that chooses another. */
export async function startController(options: Options, pki: PkiMaterial, tick: Tick): Promise<ServedController> {
  const { storage, note } = await openStorage()
  const { admin, created } = await openAdmin()
  const address = formatAddress(options.reached)
  const controller = withExplorer(await createController({ storage, pki, admin, address }))
  const server = await serve(controller, options.listen).catch((error: unknown) => {
    throw new Error(`${messageOf(error)} with --listen HOST:PORT or PORTCULLIS_LISTEN`)
  })
  const url = `https://${address}`
  tick(`serving the client API and the management API on ${url}`)
  tick(`access explorer, for a browser: ${url}/portcullis/explorer/`)
  tick(note)
  if (created) tick(`admin: username ${admin.username}, password ${admin.password} (shown once; kept in ${ADMIN_FILE})`)
  else tick(`admin: username ${admin.username}, password as shown on the first run (kept in ${ADMIN_FILE})`)
  return {
    url,
    ca: controller.caPem,
    admin,
    close: async () => {
      await server.close({ graceMs: 1000 })
      await controller.close()
    },
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
