import { once } from 'node:events'
import { Agent, get } from 'node:https'
import type { Socket } from 'node:net'
import { serve } from 'portcullis/node'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { withSharedPki } from '../../support/shared-pki.ts'

const CLIENTS = 16

/** A client that keeps its connection, as browsers, SDKs and load balancers do. */
class KeepingClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
  readonly #url: string
  socket: Socket | undefined

  constructor(url: string) {
    this.#url = `${url}/edge/client/v1/version`
  }

  /** Asks once; answers the header `connection`, or the code of the error. */
  ask(): Promise<string> {
    return new Promise((resolve) => {
      const asking = get(this.#url, { agent: this.#agent }, (answer) => {
        answer.resume().once('end', () => resolve(answer.headers.connection ?? ''))
      })
      asking.once('socket', (socket) => {
        this.socket = socket
      })
      asking.once('error', (error) => resolve(Reflect.get(error, 'code')))
    })
  }

  /** Asks again and again until it hears that the server leaves, or an error. */
  async askOnAndOn(): Promise<string> {
    for (;;) {
      const heard = await this.ask()
      if (heard !== 'keep-alive') return heard
    }
  }
}

describe('a server that is closed', () => {
  it('says so in its last answers, and resets no client that asks again at once', async () => {
    const server = await serve(await createTestController(await withSharedPki()), { port: 0 })
    const clients = Array.from({ length: CLIENTS }, () => new KeepingClient(server.url))
    await Promise.all(clients.map((client) => client.ask()))
    const heard = clients.map((client) => client.askOnAndOn())
    await new Promise((resolve) => setTimeout(resolve, 100))
    await server.close()
    expect(new Set(await Promise.all(heard))).toEqual(new Set(['close']))
  })

  it('answers a request that is on its way over a connection that was kept', async () => {
    const server = await serve(await createTestController(await withSharedPki()), { port: 0 })
    const clients = Array.from({ length: CLIENTS }, () => new KeepingClient(server.url))
    await Promise.all(clients.map((client) => client.ask()))
    const closing = server.close()
    await new Promise((resolve) => setImmediate(resolve))
    expect(new Set(await Promise.all(clients.map((client) => client.ask())))).toEqual(new Set(['close']))
    await closing
  })

  it('ends a connection that nobody uses, and waits for its client to do the same', async () => {
    const server = await serve(await createTestController(await withSharedPki()), { port: 0 })
    const client = new KeepingClient(server.url)
    await client.ask()
    const closed = client.socket === undefined ? [] : once(client.socket, 'close')
    const began = performance.now()
    await server.close()
    // Without an error: it was no reset.
    expect(await closed).toEqual([false])
    expect(performance.now() - began).toBeLessThan(3000)
    expect(await client.ask()).toBe('ECONNREFUSED')
  })

  it('waits for nobody where it is to close at once', async () => {
    const server = await serve(await createTestController(await withSharedPki()), { port: 0 })
    await new KeepingClient(server.url).ask()
    const began = performance.now()
    await server.close({ graceMs: 0 })
    expect(performance.now() - began).toBeLessThan(200)
  })
})
