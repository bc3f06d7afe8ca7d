// A server that always answers the same: bare, or through one of the adapters or the framework below it. Its argument says how.
import { readFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { tlsOptions } from 'portcullis/node'

/**
 * How the constant is answered: by Node, Express, Fastify or Hono alone, or by a controller's adapter of them, which is given it
 * as a web `Response`, or in plain values as controllers give their answers to those adapters that take them.
 */
export type ConstantServerKind =
  | 'bare'
  | 'express'
  | 'fastify'
  | 'hono'
  | 'node-adapter'
  | 'express-adapter'
  | 'hono-adapter'
  | 'plain-node-adapter'
  | 'plain-express-adapter'
  | 'plain-fastify-adapter'

/** The argument of the process, as JSON. */
export interface ConstantServerOptions {
  readonly kind: ConstantServerKind
  readonly pki: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** How long (ms) the processor is kept busy before each answer. */
  readonly burnMs: number
}

const OPTIONS: ConstantServerOptions = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const { kind, pki, status, headers, body, burnMs } = OPTIONS
const BYTES = Buffer.from(body)
const FETCH = async () => new Response(body, { status, headers })
const CONTROLLER = { fetch: FETCH, answerHeaders: {} }
const PLAIN_FETCH = Object.assign(async () => new Response(body, { status, headers }), {
  plain: async () => ({ status, headers, body }),
})
const PLAIN_CONTROLLER = { fetch: PLAIN_FETCH, answerHeaders: {} }

function answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (burnMs > 0) burn()
  const send = () => outgoing.writeHead(status, { ...headers, 'content-length': BYTES.length }).end(BYTES)
  if (incoming.method === 'GET') send()
  else incoming.resume().once('end', send)
}

/** In processor time, of which a machine that is busy gives less than the clock says. */
function burn(): void {
  const begin = process.cpuUsage()
  for (let used = 0; used < burnMs; ) {
    const { user, system } = process.cpuUsage(begin)
    used = (user + system) / 1000
  }
}

async function listener(): Promise<RequestListener> {
  switch (kind) {
    case 'bare':
      return answer
    case 'node-adapter':
      return (await import('portcullis/node')).createListener(FETCH)
    case 'plain-node-adapter':
      return (await import('portcullis/node')).createListener(PLAIN_FETCH)
    case 'fastify':
    case 'plain-fastify-adapter': {
      const { fastifyController } = await import('portcullis/fastify')
      const app = (await import('fastify')).default()
      if (kind === 'fastify') app.all('/*', (_request, reply) => void reply.code(status).headers(headers).send(body))
      else await app.register(fastifyController, { controller: PLAIN_CONTROLLER })
      await app.ready()
      return app.routing
    }
    case 'express':
      return (await import('express')).default().use(answer)
    case 'express-adapter':
    case 'plain-express-adapter': {
      const { expressHandler } = await import('portcullis/express')
      const controller = kind === 'express-adapter' ? CONTROLLER : PLAIN_CONTROLLER
      return (await import('express')).default().use(expressHandler(controller))
    }
    case 'hono':
    case 'hono-adapter': {
      const { Hono } = await import('hono')
      const { getRequestListener } = await import('@hono/node-server')
      const { honoHandler } = await import('portcullis/hono')
      const app = new Hono()
      app.all('*', kind === 'hono' ? () => new Response(body, { status, headers }) : honoHandler(CONTROLLER))
      return getRequestListener(app.fetch)
    }
  }
}

const tls = tlsOptions({
  cert: readFileSync(`${pki}/server.pem`, 'utf8'),
  key: readFileSync(`${pki}/server.key`, 'utf8'),
})
const server = createServer(tls, await listener())
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined })
})
