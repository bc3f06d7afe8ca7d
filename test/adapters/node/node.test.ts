import { once } from 'node:events'
import { connect } from 'node:net'
import fc from 'fast-check'
import type { ControllerFetch } from 'portcullis'
import { createListener } from 'portcullis/node'
import { describe, expect, it } from 'vitest'
import { growingBytes } from '../../../adapters/web/node/http/body.ts'
import { echo, exchange, gate, parseResponse, requestText, withHttpServer } from './raw-http.ts'

const ask = (fetch: ControllerFetch, text: string) =>
  withHttpServer(createListener(fetch), async (port) => parseResponse(await exchange(port, text)))
const askEcho = async (text: string) => JSON.parse((await ask(echo, text)).body)

describe('the URL of a request', () => {
  it.each([
    ['/version', 'ctrl.example:1280', 'http://ctrl.example:1280/version'],
    ['/a?b=c%20d&e', 'localhost', 'http://localhost/a?b=c%20d&e'],
    ['/', '[::1]:8443', 'http://[::1]:8443/'],
    ['//evil.example/x', 'localhost', 'http://localhost//evil.example/x'],
    ['http://evil.example/x?y', 'localhost', 'http://localhost/x?y'],
    ['http://evil.example', 'localhost', 'http://localhost/'],
    ['/x', 'user:secret@evil.example', 'http://localhost/x'],
    ['/x', 'evil.example/path?q#', 'http://localhost/x'],
    ['/x', 'evil.example:99999', 'http://localhost/x'],
    ['/x', '', 'http://localhost/x'],
  ])('target %j with host %j is %s', async (target, host, url) => {
    expect((await askEcho(requestText(`GET ${target}`, [`Host: ${host}`]))).url).toBe(url)
  })

  it('of OPTIONS * is a path', async () => {
    expect((await askEcho(requestText('OPTIONS *'))).url).toBe('http://localhost/*')
  })
})

describe('headers', () => {
  it('of a request arrive each, duplicates joined', async () => {
    const lines = ['Authorization: Bearer a', 'Authorization: Bearer b', 'zt-session: s', 'x-twice: 1', 'X-Twice: 2']
    const { headers } = await askEcho(requestText('GET /', lines))
    expect(headers).toMatchObject({ authorization: 'Bearer a, Bearer b', 'zt-session': 's', 'x-twice': '1, 2' })
  })

  it('of a response are sent each, Set-Cookie on lines of their own, with the length of the body', async () => {
    const headers = new Headers({ 'www-authenticate': 'zt-session a,Bearer b', 'transfer-encoding': 'chunked' })
    headers.append('set-cookie', 'a=1')
    headers.append('set-cookie', 'b=2')
    const { status, head, body } = await ask(
      async () => new Response('grüß', { status: 401, headers }),
      requestText('GET /'),
    )
    expect(status).toBe(401)
    expect(head).toContain('www-authenticate: zt-session a,Bearer b')
    expect(head.match(/set-cookie: .*/g)).toEqual(['set-cookie: a=1', 'set-cookie: b=2'])
    expect(head).toContain('content-length: 6')
    expect(head.toLowerCase()).not.toContain('transfer-encoding')
    expect(Buffer.from(body, 'latin1').toString()).toBe('grüß')
  })

  it.each([
    ['HEAD', () => new Response('five!'), 'content-length: 5'],
    ['GET', () => new Response(null), 'content-length: 0'],
  ])('of a %s response without a body still carry its length', async (method, respond, line) => {
    const { head, body } = await ask(async () => respond(), requestText(`${method} /`))
    expect(head).toContain(line)
    expect(body).toBe('')
  })

  it('of status 204 carry no length', async () => {
    const { head } = await ask(async () => new Response(null, { status: 204 }), requestText('GET /'))
    expect(head.toLowerCase()).not.toContain('content-length')
  })
})

describe('the body of a request', () => {
  it.each([
    ['POST', '{"a":1}', '{"a":1}'],
    ['PUT', 'x', 'x'],
    ['PATCH', 'x', 'x'],
    ['DELETE', '{"code":"123456"}', '{"code":"123456"}'],
    ['POST', '', ''],
    ['GET', 'dropped', ''],
  ])('of %s %j arrives as %j', async (method, sent, received) => {
    expect(await askEcho(requestText(`${method} /`, [], sent))).toMatchObject({ method, body: received })
  })

  it('arrives when sent in chunks', async () => {
    const chunked = requestText('POST /', ['Transfer-Encoding: chunked'])
    expect((await askEcho(`${chunked}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`)).body).toBe('abcde')
  })

  it.each([
    ['gzip', 415],
    ['identity, gzip', 415],
    ['deflate', 415],
    ['identity', 200],
    ['', 200],
  ])('with content-encoding %j is answered %i', async (encoding, expected) => {
    const { status, body } = await ask(echo, requestText('POST /', [`Content-Encoding: ${encoding}`], 'x'))
    expect(status).toBe(expected)
    if (expected === 415) {
      expect(JSON.parse(body)).toEqual({
        error: {
          cause: {
            field: 'Content-Encoding',
            reason: `unsupported content encoding "${encoding}", only [identity] are allowed`,
            value: encoding,
          },
          code: 'COULD_NOT_VALIDATE',
          message: expect.any(String),
          requestId: expect.stringMatching(/^[\w-]{11}$/),
        },
        meta: { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' },
      })
    }
  })

  it('is gathered in order from any pieces', () => {
    const lengths = fc.array(fc.nat(100_000), { maxLength: 8 })
    fc.assert(
      fc.property(lengths, (list) => {
        const pieces = list.map((length, index) => Buffer.alloc(length, `piece ${index} of ${length}`))
        const bytes = growingBytes()
        for (const piece of pieces) bytes.append(piece)
        expect(Buffer.concat(pieces).equals(bytes.toUint8Array())).toBe(true)
        expect(bytes.length).toBe(bytes.toUint8Array().length)
        expect(bytes.reserved).toBeLessThanOrEqual(2 * bytes.length + 1024)
      }),
    )
  })
})

describe('the listener', () => {
  it('tells the address of the peer, and certificates only where there are some', async () => {
    expect(await askEcho(requestText('GET /'))).toMatchObject({ remoteAddress: '127.0.0.1', hasCertificates: false })
  })

  it('takes the facts of the connection from the host that ends TLS elsewhere', async () => {
    const connectionInfo = () => ({ remoteAddress: '192.0.2.7', clientCertificates: [new Uint8Array([1])] })
    const text = await withHttpServer(createListener(echo, { connectionInfo }), (port) =>
      exchange(port, requestText('GET /')),
    )
    expect(JSON.parse(parseResponse(text).body)).toMatchObject({ remoteAddress: '192.0.2.7', hasCertificates: true })
  })

  it('refuses TRACE', async () => {
    const { status, body } = await ask(echo, requestText('TRACE /'))
    expect(status).toBe(405)
    expect(JSON.parse(body).error.code).toBe('METHOD_NOT_ALLOWED')
  })

  it.each([
    ['throws', async () => Promise.reject(new Error('secret detail'))],
    [
      'answers with an unreadable body',
      async () => new Response(new ReadableStream({ pull: (stream) => stream.error(new Error('secret detail')) })),
    ],
  ])('masks a controller that %s, keeps the connection, and tells the host', async (_what, fetch: ControllerFetch) => {
    const errors: unknown[] = []
    const twice = requestText('POST /', [], 'x').replace('Connection: close', 'X: y') + requestText('GET /')
    const text = await withHttpServer(createListener(fetch, { onError: (error) => errors.push(error) }), (port) =>
      exchange(port, twice),
    )
    expect(text.match(/HTTP\/1.1 500/g)).toHaveLength(2)
    expect(text).toContain('"code":"UNHANDLED"')
    expect(text).not.toContain('secret')
    expect(errors.map(String)).toEqual(['Error: secret detail', 'Error: secret detail'])
  })

  it('forgets a client that leaves within its body, without asking the controller', async () => {
    let asked = 0
    const errors: unknown[] = []
    const count: ControllerFetch = async () => Response.json(++asked)
    await withHttpServer(createListener(count, { onError: (error) => errors.push(error) }), async (port) => {
      const socket = connect(port, '127.0.0.1')
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc')
      setTimeout(() => socket.resetAndDestroy(), 100)
      await once(socket, 'close')
      expect(parseResponse(await exchange(port, requestText('GET /'))).body).toBe('1')
    })
    expect(errors).toEqual([])
  })

  it('forgets a client that leaves before the answer', async () => {
    const errors: unknown[] = []
    const left = gate()
    const answered = gate()
    const slow: ControllerFetch = async (request) => {
      if (request.url.endsWith('/slow')) await left.opened
      answered.open()
      return new Response('late')
    }
    await withHttpServer(createListener(slow, { onError: (error) => errors.push(error) }), async (port) => {
      const socket = connect(port, '127.0.0.1')
      socket.write(requestText('GET /slow'))
      setTimeout(() => socket.resetAndDestroy(), 100)
      await once(socket, 'close')
      left.open()
      await answered.opened
      expect(parseResponse(await exchange(port, requestText('GET /'))).body).toBe('late')
    })
    expect(errors).toEqual([])
  })
})
