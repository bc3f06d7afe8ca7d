import { getRequestListener } from '@hono/node-server'
import { createController } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { openPkiDirectory, serve } from 'portcullis/node'
import { createApp } from './app.ts'

const { FOLDER: folder = '.hono-example', PORT = '1280', ADMIN_PASSWORD: password } = process.env
if (password === undefined) throw new Error('ADMIN_PASSWORD is the password of the first admin: set it')
const port = Number(PORT)
const controller = await createController({
  // The folder is made for its owner alone, together with the certificates.
  pki: await openPkiDirectory(`${folder}/pki`),
  storage: await sqliteStorage(`${folder}/network.sqlite`),
  address: `localhost:${port}`,
  admin: { username: 'admin', password },
})
const app = createApp(controller)
const server = await serve(controller, { port, app: getRequestListener(app.fetch) })

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    // Requests in flight are answered first.
    await server.close()
    await controller.close()
  })
}

console.log(`https://localhost:${server.port} is served; its trust bundle is ${folder}/pki/ca.pem`)
