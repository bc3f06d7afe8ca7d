import { createController } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { openPkiDirectory, serve } from 'portcullis/node'
import { createApp } from './app.ts'
import { readSettings } from './settings.ts'

const { folder, port, admin } = await readSettings(process.env)
const controller = await createController({
  storage: await sqliteStorage(`${folder}/network.sqlite`),
  address: `localhost:${port}`,
  pki: openPkiDirectory(`${folder}/pki`),
  admin,
})
const server = await serve(controller, { port, app: createApp(controller) })

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    // Requests in flight are answered first.
    await server.close()
    await controller.close()
  })
}

console.log(`https://localhost:${server.port} is served; its trust bundle is ${folder}/pki/ca.pem`)
