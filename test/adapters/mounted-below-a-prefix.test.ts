import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import { createClient, createManagementClient } from 'portcullis/client'
import { expressHandler } from 'portcullis/express'
import { fastifyController } from 'portcullis/fastify'
import { honoHandler } from 'portcullis/hono'
import { httpsFetch, type ServeOptions, serve } from 'portcullis/node'
import { createTestController, TEST_ADMIN, type TestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'

type App = NonNullable<ServeOptions['app']>

/** Applications of a host with a route of their own, in which a controller is mounted below `/ziti`. */
const APPLICATIONS: Readonly<Record<string, (controller: TestController) => App | Promise<App>>> = {
  Express: (controller) => {
    const app = express()
    app.get('/hello', (_request, response) => void response.send('hello'))
    return app.use('/ziti', expressHandler(controller))
  },
  'Express, its body parser before': (controller) => {
    const app = express()
    app.use(express.json())
    app.get('/hello', (_request, response) => void response.send('hello'))
    return app.use('/ziti', expressHandler(controller))
  },
  Hono: (controller) => {
    const app = new Hono()
    app.get('/hello', (context) => context.text('hello'))
    app.all('/ziti/*', honoHandler(controller))
    return getRequestListener(app.fetch)
  },
  'Hono, by a route': (controller) => {
    const app = new Hono()
    app.get('/hello', (context) => context.text('hello'))
    return getRequestListener(app.route('/ziti', new Hono().all('*', honoHandler(controller))).fetch)
  },
  Fastify: async (controller) => {
    const app = fastify()
    app.get('/hello', async () => 'hello')
    await app.register(fastifyController, { controller, prefix: '/ziti' })
    await app.ready()
    return app.routing
  },
}

describe.each(Object.entries(APPLICATIONS))('%s', (_, application) => {
  it('answers its own routes, and the controller below the prefix, with client certificates', async () => {
    const net = await createTestController({ clock: 'live' })
    const server = await serve(net, { port: 0, app: await application(net) })
    onTestFinished(() => server.close({ graceMs: 0 }))
    const ca = net.caPem
    const fetch = httpsFetch({ ca })
    expect(await (await fetch(new Request(`${server.url}/hello`))).text()).toBe('hello')

    const baseUrl = `${server.url}/ziti`
    const login = async () => {
      const management = createManagementClient({ baseUrl, fetch })
      const credentials = { query: { method: 'password' as const }, body: TEST_ADMIN }
      return (await management.call('POST /authenticate', credentials)).data.token
    }
    const admin = createManagementClient({ baseUrl, fetch, login })
    const { id } = (await admin.call('POST /services', { body: { name: 'wiki' } })).data
    expect((await admin.call('GET /services/{id}', { params: { id } })).data.name).toBe('wiki')

    const { cert, key } = await net.enroll('laptop')
    const laptop = createClient({ baseUrl, fetch: httpsFetch({ ca, cert, key }) })
    const session = await laptop.call('POST /authenticate', { query: { method: 'cert' }, body: {} })
    expect(session.data.identity?.name).toBe('laptop')
  })
})

describe('a prefix that is a path of the controller', () => {
  it('belongs to the question', async () => {
    const net = await createTestController({ clock: 'live' })
    const app = express().use('/edge', expressHandler(net))
    const server = await serve(net, { port: 0, app })
    onTestFinished(() => server.close({ graceMs: 0 }))
    const client = createClient({ baseUrl: server.url, fetch: httpsFetch({ ca: net.caPem }) })
    expect((await client.call('GET /version')).data.version).toMatch(/^v/)
  })
})
