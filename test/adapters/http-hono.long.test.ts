import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { honoHandler } from 'portcullis/hono'
import { httpContract } from '../contract/http.ts'
import { ADAPTER_PART } from '../contract/http-part.ts'
import { createServer, listening, tlsOf } from '../support/framework-server.ts'
import { socketMount } from '../support/socket-mount.ts'

httpContract(
  'portcullis/hono',
  socketMount((controller) => {
    const app = new Hono()
    app.all('*', honoHandler(controller))
    const server = createAdaptorServer({ fetch: app.fetch, createServer, serverOptions: tlsOf(controller) })
    // With `createServer` of node:https the adaptor makes an HTTPS server, which its type does not tell.
    return listening(server as ReturnType<typeof createServer>)
  }),
  ADAPTER_PART,
)
