// One of several controllers over one database: its parent tells it where that is and which routers connect to it, and hears
// when they are connected and which of them were let go of.
import { createController, type PkiMaterial } from 'portcullis'
import { openControlListener } from 'portcullis/fabric'
import { postgresStorage, sqliteStorage } from 'portcullis/kysely'
import { FakeRouter } from 'portcullis/testing'

/** The task that the parent gives. */
export interface ControlProcessTask {
  readonly where: { readonly file: string } | { readonly url: string }
  readonly pki: PkiMaterial
  /** Routers with their certificates: DER in base64, leaf first. */
  readonly routers: readonly { readonly id: string; readonly chain: readonly string[] }[]
}

process.once('message', async ({ where, pki, routers }: ControlProcessTask) => {
  const storage = 'file' in where ? await sqliteStorage(where.file) : await postgresStorage({ connection: where.url })
  const controller = await createController({ storage, pki, address: 'controller.test:1280', rateLimits: false })
  const listener = await openControlListener(controller, { addresses: [`tls:process-${process.pid}:1`] })
  for (const { id, chain } of routers) {
    const router = new FakeRouter({ id, chain: chain.map((der) => Buffer.from(der, 'base64')) }, listener)
    if (!(await router.connect()).accepted) throw new Error(`router ${id} was not let in`)
    const watch = setInterval(() => {
      if (!router.isClosed) return
      clearInterval(watch)
      process.send?.({ closed: id })
    }, 10)
  }
  process.send?.('connected')
})
process.on('disconnect', () => process.exit(0))
