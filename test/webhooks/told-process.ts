// A controller that is killed while it tells of what was committed. Arguments: SQLite file or address of its database, URL of the
// receiver, how many services to make; `change` in its place to change those that another process makes, from that one's start on.

import { SYSTEM_CALL } from 'portcullis'
import { postgresStorage, sqliteStorage } from 'portcullis/kysely'
import { createTestController } from 'portcullis/testing'

const [place = '', url = '', task = '0'] = process.argv.slice(2)
const isChanging = task === 'change'
const isServer = place.startsWith('postgres:')
const controller = await createTestController({
  storage: isServer ? await postgresStorage({ connection: place }) : await sqliteStorage(place),
  webhooks: { allow: ['127.0.0.1'] },
  secretsKey: new Uint8Array(32).fill(7),
  clock: 'live',
  // Processes over one database go by one time.
  now: isServer ? Date.now() : Date.UTC(2026, 0, 1),
  seed: isChanging ? 2 : 1,
})
const { services, webhooks } = controller.engine

async function change(id: string, name: string): Promise<void> {
  await services.patch(SYSTEM_CALL, id, { roleAttributes: ['told'] })
  console.log(`committed ${name}`)
}

if (isChanging) {
  console.log('ready')
  for (const changed = new Set<string>(); ; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const { items } = await services.list(SYSTEM_CALL, { limit: 500 })
    for (const { id, name } of items) {
      if (changed.has(id)) continue
      changed.add(id)
      await change(id, name)
    }
  }
}
await webhooks.create(SYSTEM_CALL, { name: 'told', endpoint: url, filter: 'kind = "services"' })
for (let at = 0; at < Number(task); at += 1) {
  const { id } = await services.create(SYSTEM_CALL, { name: `s${at}`, encryptionRequired: true })
  if (isServer) console.log(`created s${at}`)
  else await change(id, `s${at}`)
}
setInterval(() => undefined, 1000)
