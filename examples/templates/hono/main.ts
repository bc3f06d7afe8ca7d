import { mkdirSync } from 'node:fs'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { createController } from 'portcullis'
import { honoHandler } from 'portcullis/hono'
import { sqliteStorage } from 'portcullis/kysely'
import { openPkiDirectory, serve } from 'portcullis/node'
import network from '../shared/network.ts'

const port = Number(process.env.PORT ?? 1280)
// The data holds keys and invitations: the folder is for its owner alone.
mkdirSync('data', { recursive: true, mode: 0o700 })
const controller = await createController({
  storage: await sqliteStorage('data/network.sqlite'),
  address: `localhost:${port}`,
  pki: openPkiDirectory('data/pki'),
  model: network,
})

const app = new Hono()
app.get('/', (context) => context.text('hello'))
app.all('*', honoHandler(controller))
const server = await serve(controller, { port, app: getRequestListener(app.fetch) })
console.log(`the app and the controller are at https://localhost:${port}`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await server.close()
    await controller.close()
  })
}
