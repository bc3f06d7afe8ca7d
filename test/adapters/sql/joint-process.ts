// A host that signs a tenant up in one commit, and kills itself at a step: `node joint-process.ts PLACE STEP`.
import { createController, SYSTEM_CALL } from 'portcullis'
import { postgresStorage, sqliteStorage } from 'portcullis/kysely'

/** The tables of the host. */
export interface SignUpTables {
  tenants: { name: string; seats: number }
}

const [place = '', asked = ''] = process.argv.slice(2)

if (process.argv[1] === import.meta.filename) {
  const storage = place.startsWith('postgres:')
    ? await postgresStorage<SignUpTables>({ connection: place })
    : await sqliteStorage<SignUpTables>(place)
  const logger = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const controller = await createController({ storage, address: 'localhost:1280', webhooks: false, logger })
  const name = `tenant-${asked}`
  let step = 0
  const next = () => {
    step += 1
    if (step === Number(asked)) process.kill(process.pid, 'SIGKILL')
  }
  const values = place.startsWith('postgres:') ? '($1, $2)' : '(?, ?)'
  await storage.together(async ({ transaction, connection, controller: { engine } }) => {
    next()
    await transaction.insertInto('tenants').values({ name, seats: 1 }).execute()
    next()
    await connection.query(`insert into tenants (name, seats) values ${values}`, [`${name}-second`, 2])
    next()
    await engine.services.create(SYSTEM_CALL, { name })
    next()
    await engine.identities.create(SYSTEM_CALL, { name, type: 'User', isAdmin: false })
    next()
  })
  process.stdout.write('committed')
  await controller.close()
}
