import { once } from 'node:events'
import { connect } from 'node:net'
import type { ControllerFetch } from 'portcullis'
import { createListener, type ServeOptions, serve } from 'portcullis/node'
import { describe, expect, it } from 'vitest'
import { issue } from '../../support/https-certificates.ts'
import { exchange, parseResponse, requestText, withHttpServer } from './raw-http.ts'
import { openTls, receiveAll } from './tls-client.ts'

const mebibyte = 1_048_576
const tooLarge =
  '{"code":"REQUEST_ENTITY_TOO_LARGE","message":"The request body exceeds the maximum accepted size","cause":null}'

/** Counts the requests that reach the controller and answers the length of their body. */
function countingController() {
  const asked: string[] = []
  const fetch: ControllerFetch = async (request) => {
    asked.push(request.method)
    return new Response(String((await request.arrayBuffer()).byteLength))
  }
  return { asked, fetch }
}

const chunkOf = (length: number) => `${length.toString(16)}\r\n${'x'.repeat(length)}\r\n`
const chunkedHead = requestText('POST /', ['Transfer-Encoding: chunked'])

describe('the size of a body', () => {
  it.each([
    ['exactly the limit', [requestText('POST /', [], 'x'.repeat(mebibyte))], 200, String(mebibyte)],
    ['exactly the limit in chunks', [chunkedHead, chunkOf(mebibyte), '0\r\n\r\n'], 200, String(mebibyte)],
    ['one byte more', [requestText('POST /', [], 'x'.repeat(mebibyte + 1))], 413, tooLarge],
    ['one byte more in chunks', [chunkedHead, chunkOf(mebibyte), chunkOf(1), '0\r\n\r\n'], 413, tooLarge],
    ['declared larger and never sent', [requestText('POST /', ['Content-Length: 1073741824'])], 413, tooLarge],
    ['more with GET', [requestText('GET /', [], 'x'.repeat(mebibyte + 1))], 413, tooLarge],
    ['more with DELETE', [requestText('DELETE /', [], 'x'.repeat(mebibyte + 1))], 413, tooLarge],
  ])('%s', async (_size, pieces, status, body) => {
    const { asked, fetch } = countingController()
    const text = await withHttpServer(createListener(fetch), (port) => exchange(port, ...pieces))
    expect(parseResponse(text)).toMatchObject({ status, body })
    if (status === 413) {
      expect(text).toContain('connection: close')
      expect(text).toContain('content-type: application/json')
      expect(asked).toEqual([])
    }
  })

  it('a little over the limit leaves the connection whole until the client has read its answer', async () => {
    await withHttpServer(createListener(countingController().fetch), async (port) => {
      const errors: Error[] = []
      const socket = connect(port, '127.0.0.1').on('error', (error) => errors.push(error))
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
      let answer = ''
      socket.on('data', (data: Buffer) => {
        answer += data
      })
      socket.write(chunkedHead + chunkOf(mebibyte) + chunkOf(1))
      while (!answer.includes(tooLarge)) await once(socket, 'data')
      for (let more = 0; more < 3; more += 1) {
        socket.write(chunkOf(50_000))
        await new Promise((resolve) => setTimeout(resolve, 50))
        expect(socket.writable).toBe(true)
      }
      socket.write('0\r\n\r\n')
      await closed
      expect(errors).toEqual([])
    })
  })

  it('may be limited otherwise', async () => {
    const listener = createListener(countingController().fetch, { maxBodyBytes: 3 })
    await withHttpServer(listener, async (port) => {
      expect(parseResponse(await exchange(port, requestText('POST /', [], 'abc'))).status).toBe(200)
      expect(parseResponse(await exchange(port, requestText('POST /', [], 'abcd'))).status).toBe(413)
    })
  })

  it('also holds for what a framework has parsed', async () => {
    const { asked, fetch } = countingController()
    const listener = createListener(fetch, { maxBodyBytes: 100 })
    const text = await withHttpServer(
      async (incoming, outgoing) => {
        for await (const _chunk of incoming);
        listener(Object.assign(incoming, { body: 'x'.repeat(101) }), outgoing)
      },
      (port) => exchange(port, requestText('POST /', [], 'x')),
    )
    expect(parseResponse(text)).toMatchObject({ status: 413, body: tooLarge })
    expect(asked).toEqual([])
  })

  it('is refused long before 100 MiB have been streamed, and the rest is not read', async () => {
    const { asked, fetch } = countingController()
    const total = 100 * mebibyte
    const piece = Buffer.from(chunkOf(65_536))
    await withHttpServer(createListener(fetch), async (port) => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => undefined)
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
      const writable = () => new Promise<void>((resolve) => socket.once('drain', resolve))
      const before = process.memoryUsage().rss
      let sent = 0
      let growth = 0
      let answer = ''
      socket.on('data', (data: Buffer) => {
        answer += data
      })
      socket.write(chunkedHead)
      while (sent < total && !socket.destroyed) {
        sent += piece.length
        if (!socket.write(piece)) await Promise.race([writable(), closed])
        growth = Math.max(growth, process.memoryUsage().rss - before)
      }
      await closed
      expect(parseResponse(answer)).toMatchObject({ status: 413, body: tooLarge })
      expect(sent).toBeLessThan(20 * mebibyte)
      expect(growth).toBeLessThan(64 * mebibyte)
    })
    expect(asked).toEqual([])
  })

  // Keeping the pieces costs about 255 MiB; what the collector has not taken yet is counted as well.
  it('is counted, not its pieces: a MiB of one-byte chunks costs a MiB', async () => {
    const { fetch } = countingController()
    const pieces = Array.from({ length: 16 }, () => '1\r\nx\r\n'.repeat(65_536))
    const before = process.memoryUsage().heapUsed
    let held = 0
    const measured: ControllerFetch = (request, connection) => {
      held = process.memoryUsage().heapUsed - before
      return fetch(request, connection)
    }
    const text = await withHttpServer(createListener(measured), (port) =>
      exchange(port, chunkedHead, ...pieces, '0\r\n\r\n'),
    )
    expect(parseResponse(text).body).toBe(String(mebibyte))
    expect(held).toBeLessThan(160 * mebibyte)
  })
})

describe('slow clients', () => {
  const withServer = async (options: Partial<ServeOptions>, use: (port: number) => Promise<void>) => {
    const certificate = await issue('localhost')
    const controller = { ...countingController(), tls: () => certificate }
    const server = await serve(controller, { port: 0, headersTimeoutMs: 300, requestTimeoutMs: 600, ...options })
    try {
      await use(server.port)
    } finally {
      await server.close({ graceMs: 0 })
    }
  }
  /** The timeout under test plus the interval at which connections are checked, and some air. */
  const patienceMs = 4000

  it.each([
    ['headers that never end', 'GET / HTTP/1.1\r\nHost: x\r\n'],
    ['no request at all', ''],
    ['a body that never ends', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc'],
    ['a chunked body that never ends', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
  ])('%s: the connection ends with 408 while others are answered', async (_what, text) => {
    await withServer({}, async (port) => {
      const slow = await openTls(port)
      const started = performance.now()
      const received = receiveAll(slow)
      slow.write(text)
      const quick = await openTls(port)
      quick.write(requestText('GET /'))
      expect(await receiveAll(quick)).toContain('200 OK')
      expect(await received).toMatch(/^HTTP\/1.1 408 /)
      expect(performance.now() - started).toBeLessThan(patienceMs)
    })
  })

  it('a TLS handshake that never starts', async () => {
    await withServer({}, async (port) => {
      const started = performance.now()
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => undefined).resume()
      await once(socket, 'close')
      expect(performance.now() - started).toBeLessThan(patienceMs)
    })
  })
})
