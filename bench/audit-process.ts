// A controller over SQLite or PostgreSQL, served over TLS with the audit trail or without it. Its parent asks for the
// processor time that it used.
import { createController, type PkiMaterial } from 'portcullis'
import { postgresStorage, sqliteStorage } from 'portcullis/kysely'
import { serve } from 'portcullis/node'
import { engineOf } from '../src/controller/guarded-engine.ts'
import { contextOf } from '../src/engine/entity-services.ts'

/** The first message of the parent. */
export interface AuditProcessTask {
  readonly storage: { readonly file: string } | { readonly url: string; readonly tablePrefix: string }
  readonly hasTrail: boolean
  readonly pki: PkiMaterial
  readonly admin: { readonly username: string; readonly password: string }
}

/** An answer to the parent: the port once, then milliseconds of the processor since the start for each further message. */
export interface AuditProcessAnswer {
  readonly port: number
  readonly usedMs: number
}

process.once('message', async ({ storage, hasTrail, pki, admin }: AuditProcessTask) => {
  const controller = await createController({
    storage:
      'file' in storage
        ? await sqliteStorage(storage.file)
        : await postgresStorage({ connection: storage.url, tablePrefix: storage.tablePrefix }),
    address: 'localhost:1280',
    rateLimits: false,
    pki,
    admin,
  })
  const { auditTrail } = engineOf(controller.engine)
  if (!hasTrail) contextOf(engineOf(controller.engine)).writes.record(async () => undefined)
  const { port } = await serve(controller, { host: '127.0.0.1', port: 0 })
  process.on('message', async () => {
    if (hasTrail) await auditTrail.seal()
    const { user, system } = process.cpuUsage()
    process.send?.({ port, usedMs: (user + system) / 1000 } satisfies AuditProcessAnswer)
  })
  process.send?.({ port, usedMs: 0 } satisfies AuditProcessAnswer)
})
process.on('disconnect', () => process.exit(0))
