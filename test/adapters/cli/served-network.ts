import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Controller, createController } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { serve } from 'portcullis/node'

/** A controller that is served over HTTPS, as commands find it. */
export interface ServedNetwork extends AsyncDisposable {
  readonly controller: Controller
  readonly url: string
  /** A folder of its own, in which `ca.pem` stands. */
  readonly folder: string
  /** The variables by which commands find it and log in as its administrator. */
  readonly environment: Readonly<Record<string, string>>
}

/** Serves a controller over a memory storage to commands; disposing of it closes it and removes its folder. */
export async function servedNetwork(): Promise<ServedNetwork> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-served-'))
  const admin = { username: 'keeper', password: 'a-secret-of-mine' }
  const controller = await createController({ storage: memoryStorage(), address: 'localhost:1280', admin })
  const server = await serve(controller, { port: 0 })
  await writeFile(join(folder, 'ca.pem'), controller.caPem)
  return {
    controller,
    url: server.url,
    folder,
    environment: {
      PORTCULLIS_URL: server.url,
      PORTCULLIS_CA: join(folder, 'ca.pem'),
      PORTCULLIS_ADMIN_USERNAME: admin.username,
      PORTCULLIS_ADMIN_PASSWORD: admin.password,
    },
    [Symbol.asyncDispose]: async () => {
      await server.close({ graceMs: 0 })
      await controller.close()
      await rm(folder, { recursive: true })
    },
  }
}
