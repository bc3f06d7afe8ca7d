import { createServer, request as openRequest } from 'node:http'
import { duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'
import express from 'express'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { appServer, type HostedApp, type HostedAppOptions } from '../../adapters/network/sdk/hosted-app.ts'
import type { ServiceConnection } from '../../adapters/network/sdk/service-connection.ts'

const CALLER = { id: 'an-id', name: 'laptop', claimedName: 'admin' }

/** Sends a request to an app over a connection in memory; answers status, headers and body. */
async function ask(app: HostedApp, options: HostedAppOptions = {}, headers: Record<string, string> = {}) {
  const [own, theirs] = duplexPair()
  const server = appServer(app, options)
  // It has what a connection has that an app looks at.
  server.take(Object.assign(theirs, { caller: CALLER }) as unknown as ServiceConnection)
  const request = openRequest({ createConnection: () => own, method: 'POST', path: '/a?b=c', host: 'wiki', headers })
  request.end('sent')
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    request.once('error', reject)
  })
  const body = await text(answer)
  own.destroy()
  server.close()
  return { status: answer.statusCode, headers: answer.headers, body }
}

const appWithExpress = express()
appWithExpress.post('/a', (request, response) => response.json({ by: request.caller?.name, query: request.query }))

const appWithHono = new Hono<{ Bindings: { caller: { name?: string } } }>()
appWithHono.post('/a', async (context) =>
  context.json({ by: context.env.caller.name, query: context.req.query(), body: await context.req.text() }),
)

describe('an app that is hosted', () => {
  it('is a listener, and reads who calls', async () => {
    const listener: HostedApp = (request, response) => {
      text(request).then((body) => response.end(`${request.caller?.name} sent ${body} to ${request.url}`))
    }
    expect((await ask(listener)).body).toBe('laptop sent sent to /a?b=c')
  })

  it('is a server of node:http, which keeps its other listeners', async () => {
    const server = createServer((request, response) => response.end(request.caller?.id))
    expect((await ask(server)).body).toBe('an-id')
    expect(server.listenerCount('request')).toBe(1)
  })

  it('is an app of Express', async () => {
    expect(JSON.parse((await ask(appWithExpress)).body)).toEqual({ by: 'laptop', query: { b: 'c' } })
  })

  it('is an app of Hono', async () => {
    expect(JSON.parse((await ask(appWithHono)).body)).toEqual({ by: 'laptop', query: { b: 'c' }, body: 'sent' })
  })

  it('is a fetch function, whose failure is a 500 that tells nothing', async () => {
    const fetch = async (request: Request & { readonly caller: { readonly name?: string | undefined } }) => {
      if (request.headers.has('x-fail')) throw new Error('a secret')
      const headers = new Headers([
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ])
      return new Response(`${request.caller.name} ${request.url} ${await request.text()}`, { status: 201, headers })
    }
    const good = await ask({ fetch })
    expect(good).toMatchObject({ status: 201, body: 'laptop http://wiki/a?b=c sent' })
    expect(good.headers['set-cookie']).toEqual(['a=1', 'b=2'])
    expect(await ask({ fetch }, {}, { 'x-fail': '1' })).toMatchObject({ status: 500, body: '' })
  })

  it('is a handler of connections', async () => {
    const handler = (connection: ServiceConnection) => {
      connection.end(`HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n${connection.caller?.name}`)
    }
    expect((await ask(handler)).body).toBe('laptop')
  })

  it('reads the caller in a header where it asks for one, and never one that the caller wrote', async () => {
    const listener: HostedApp = (request, response) => {
      response.end(JSON.stringify([request.headers['x-caller'] ?? null, request.rawHeaders.includes('admin')]))
    }
    const forged = { 'X-Caller': 'admin' }
    expect(JSON.parse((await ask(listener, { callerHeader: 'X-Caller' }, forged)).body)).toEqual(['laptop', false])
    expect(JSON.parse((await ask(listener, {}, {})).body)).toEqual([null, false])
  })

  it('is nothing else', () => {
    for (const app of [undefined, 'wiki', {}, () => undefined]) {
      expect(() => appServer(app as HostedApp)).toThrow(TypeError)
    }
  })
})
