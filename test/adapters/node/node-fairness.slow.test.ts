import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { ControllerFetch } from 'portcullis'
import { createListener, type ListenerOptions, type ServeOptions, serve } from 'portcullis/node'
import { afterEach, describe, expect, it } from 'vitest'
import { type Issued, issue } from '../../support/https-certificates.ts'
import { exchange, gate, parseResponse, requestText, withHttpServer } from './raw-http.ts'
import { openTls, receiveAll } from './tls-client.ts'

// Every address below 127.0.0.0/8 is this machine, so that a test can come from two of them.
const ATTACKER = '127.0.0.1'
const OTHER = '127.0.0.2'

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

function open(port: number, text: string, localAddress = ATTACKER): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined)
  sockets.push(socket)
  socket.write(text)
  return socket
}

async function received(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
  })
  socket.resume()
  if (!socket.closed) await once(socket, 'close')
  return text
}

const lengths: ControllerFetch = async (request) => new Response(String((await request.arrayBuffer()).byteLength))
const halfSent = (bytes: number) => requestText('POST /', ['Content-Length: 900000']) + 'x'.repeat(bytes)
const large = requestText('PUT /', [], 'x'.repeat(200_000))
const listening = (options: ListenerOptions, use: (port: number) => Promise<void>, fetch = lengths) =>
  withHttpServer(createListener(fetch, options), use)

describe('bodies that stand still', () => {
  it('delay nobody, of the same address or another', async () => {
    await listening({}, async (port) => {
      for (let each = 0; each < 200; each += 1) open(port, halfSent(70_000))
      await delay(300)
      const started = performance.now()
      for (let each = 0; each < 5; each += 1) expect(parseResponse(await exchange(port, large)).body).toBe('200000')
      expect(performance.now() - started).toBeLessThan(2000)
    })
  })

  it('give their memory up to others, the longest standing first: 429, try again', async () => {
    await listening({ maxArrivingBytes: 1_000_000 }, async (port) => {
      const standing = Array.from({ length: 4 }, () => open(port, halfSent(150_000)))
      const answers = standing.map(received)
      await delay(200)
      const text = await received(open(port, large, OTHER))
      expect(parseResponse(text)).toMatchObject({ status: 200, body: '200000' })
      const given = parseResponse((await answers[0]) ?? '')
      expect(given.status).toBe(429)
      expect(given.head).toContain('retry-after: 1')
      expect(JSON.parse(given.body).error.code).toBe('SERVER_TOO_MANY_REQUESTS')
      expect(standing.map(({ closed }) => closed)).toEqual([true, false, false, false])
    })
  })

  it('never push out the bodies of an address that holds less', async () => {
    await listening({ maxArrivingBytes: 1_000_000 }, async (port) => {
      const slow = open(port, requestText('POST /', ['Content-Length: 100000']) + 'x'.repeat(99_999), OTHER)
      const answer = received(slow)
      await delay(100)
      for (let each = 0; each < 40; each += 1) open(port, halfSent(300_000))
      await delay(500)
      slow.write('x')
      expect(parseResponse(await answer)).toMatchObject({ status: 200, body: '100000' })
    })
  })

  it('reserve nothing by what they say will come, nor by small pieces', async () => {
    const seen: number[] = []
    await listening({ maxArrivingBytes: 300_000 }, async (port) => {
      // 100 bodies of 1 KB fit, whatever length they declare.
      const standing = Array.from({ length: 100 }, () => open(port, halfSent(1000)))
      await delay(200)
      for (const { closed } of standing) seen.push(Number(closed))
      expect(seen).toEqual(standing.map(() => 0))
    })
  })

  it('one alone may be as large as bodies may be', async () => {
    await listening({ maxArrivingBytes: 1 }, async (port) => {
      expect(parseResponse(await exchange(port, large)).body).toBe('200000')
    })
  })
})

describe('answers that nobody reads', () => {
  const answerBytes = 8_388_608
  const long: ControllerFetch = async () => new Response('x'.repeat(answerBytes))

  it('lose their connection when others need the memory, the longest standing first', async () => {
    await listening(
      { maxUnsentBytes: 3 * answerBytes, maxUnsentBytesPerAddress: 3 * answerBytes },
      async (port) => {
        const standing = Array.from({ length: 5 }, () => open(port, requestText('GET /')).pause())
        await delay(500)
        const text = await received(open(port, requestText('GET /'), OTHER))
        expect(parseResponse(text).body).toHaveLength(answerBytes)
        const texts = await Promise.all(standing.map(received))
        const whole = texts.filter((each) => each.length > answerBytes)
        expect(whole.length).toBeGreaterThanOrEqual(2)
        expect(whole.length).toBeLessThan(5)
      },
      long,
    )
  })

  it('lose their connection when their address has too many, before others need anything', async () => {
    await listening(
      { maxUnsentBytes: 4 * answerBytes },
      async (port) => {
        const standing = Array.from({ length: 6 }, () => open(port, requestText('GET /')).pause())
        const other = open(port, requestText('GET /'), OTHER).pause()
        await delay(500)
        const whole = (await Promise.all(standing.map(received))).filter((text) => text.length > answerBytes)
        expect(whole).toHaveLength(2)
        expect(parseResponse(await received(other)).body).toHaveLength(answerBytes)
      },
      long,
    )
  })

  const endless: ControllerFetch = async () => {
    const body = new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(answerBytes)) })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  const slowly = { answerTimeoutMs: 400, leastBytesPerSecond: 100 * answerBytes }
  const unread = async (port: number, step: (socket: Socket) => unknown) => {
    const socket = open(port, requestText('GET /')).pause()
    const started = performance.now()
    const reader = setInterval(() => step(socket), 20)
    // A socket that is paused tells its end when what came is read.
    await delay(900)
    clearInterval(reader)
    const text = await received(socket)
    return { text, elapsed: performance.now() - started }
  }
  it.each([
    ['that stand still', long, () => undefined],
    ['that are read byte by byte', long, (socket: Socket) => socket.read(1)],
    ['that go on without end', endless, () => undefined],
  ] as const)('lose their connection when it takes too long: %s', async (_, fetch, step) => {
    await listening(
      slowly,
      async (port) => {
        const { text, elapsed } = await unread(port, step)
        expect(text.length).toBeLessThan(answerBytes)
        expect(elapsed).toBeLessThan(3000)
      },
      fetch,
    )
  })

  it('are given the time that their length asks for', async () => {
    await listening(
      { answerTimeoutMs: 1, leastBytesPerSecond: answerBytes / 2 },
      async (port) => expect((await unread(port, () => undefined)).text.length).toBeGreaterThan(answerBytes),
      long,
    )
  })
})

describe('requests sent ahead', () => {
  it('are answered one after the other, in order', async () => {
    let atOnce = 0
    let most = 0
    const counting: ControllerFetch = async (request) => {
      atOnce += 1
      most = Math.max(most, atOnce)
      await delay(5)
      atOnce -= 1
      return new Response(new URL(request.url).pathname)
    }
    await listening(
      {},
      async (port) => {
        const ahead = Array.from(
          { length: 20 },
          (_, at) => `POST /p${at}p HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx`,
        )
        const text = await exchange(port, ahead.join('') + requestText('GET /plastp'))
        expect(text.match(/\/p\w+p/g)).toEqual([...ahead.map((_, at) => `/p${at}p`), '/plastp'])
        expect(most).toBe(1)
      },
      counting,
    )
  })

  it('cost the connection when they are too many', async () => {
    let asked = 0
    const blocked = gate()
    const stuck: ControllerFetch = async () => {
      asked += 1
      await blocked.opened
      return new Response('done')
    }
    await listening(
      {},
      async (port) => {
        const text = await exchange(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1500))
        expect(text).toBe('')
        expect(asked).toBe(1)
        blocked.open()
      },
      stuck,
    )
    expect(asked).toBe(1)
  })
})

describe('connections', () => {
  let certificate: Issued | undefined
  const serving = async (
    options: Partial<ServeOptions>,
    use: (port: number, server: Awaited<ReturnType<typeof serve>>) => Promise<void>,
    fetch = lengths,
  ) => {
    const issued = certificate ?? (await issue('localhost'))
    certificate = issued
    const server = await serve({ fetch, tls: () => issued }, { port: 0, ...options })
    try {
      await use(server.port, server)
    } finally {
      await server.close({ graceMs: 0 })
    }
  }
  const isAnswered = async (port: number, localAddress: string) => {
    const socket = await openTls(port, { localAddress })
    socket.write(requestText('GET /'))
    return (await receiveAll(socket)).includes('200 OK')
  }

  it.each([
    ['that say nothing', async (port: number) => void open(port, '')],
    ['that have only begun TLS', async (port: number) => void open(port, '\x16\x03\x01')],
    ['that send no request', async (port: number) => void sockets.push(await openTls(port))],
    [
      'that send half a request',
      async (port: number) => {
        const socket = await openTls(port)
        sockets.push(socket.on('error', () => undefined))
        socket.write(halfSent(10))
      },
    ],
    [
      'that wait after a request',
      async (port: number) => {
        const socket = await openTls(port)
        sockets.push(socket.on('error', () => undefined))
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
        await once(socket, 'data')
      },
    ],
  ])('%s shut nobody out', async (_what, occupy) => {
    await serving({ maxConnections: 20 }, async (port) => {
      for (let each = 0; each < 30; each += 1) await occupy(port)
      await delay(100)
      expect(await isAnswered(port, OTHER)).toBe(true)
      expect(await isAnswered(port, ATTACKER)).toBe(true)
    })
  })

  it('of an address that has few stay open when another fills the server', async () => {
    await serving({ maxConnections: 20, maxConnectionsPerAddress: 20 }, async (port) => {
      const few = await openTls(port, { localAddress: OTHER })
      for (let each = 0; each < 60; each += 1) open(port, '')
      await delay(200)
      few.write(requestText('GET /'))
      expect(await receiveAll(few)).toContain('200 OK')
      expect(sockets.filter(({ closed }) => !closed)).toHaveLength(19)
    })
  })

  it('of one address are at most as many as allowed', async () => {
    await serving({ maxConnections: 100, maxConnectionsPerAddress: 5 }, async (port) => {
      for (let each = 0; each < 30; each += 1) open(port, '')
      await delay(200)
      expect(sockets.filter(({ closed }) => !closed)).toHaveLength(5)
    })
  })

  it('on which requests are being answered are left alone: one too many is dropped, and slots are freed', async () => {
    const blocked = gate()
    const entered = gate()
    const stuck: ControllerFetch = async () => {
      entered.open()
      await blocked.opened
      return new Response('done')
    }
    await serving(
      { maxConnections: 1 },
      async (port) => {
        const first = await openTls(port)
        first.write(requestText('GET /'))
        const answer = receiveAll(first)
        await entered.opened
        await expect(openTls(port)).rejects.toThrow()
        blocked.open()
        expect(await answer).toContain('done')
        expect(await isAnswered(port, ATTACKER)).toBe(true)
      },
      stuck,
    )
  })

  it.each([
    ['maxConnections', 0],
    ['maxConnectionsPerAddress', -1],
    ['maxArrivingBytes', 1.5],
    ['maxUnsentBytes', Number.NaN],
    ['maxUnsentBytesPerAddress', 0],
    ['answerTimeoutMs', 0],
    ['leastBytesPerSecond', -1],
  ])('limits that are none are refused by name: %s', async (option, value) => {
    await expect(serving({ [option]: value }, async () => undefined)).rejects.toThrow(`${option} must be`)
  })

  it('with half a request do not keep a server that closes waiting; whole ones are answered', async () => {
    const blocked = gate()
    const entered = gate()
    const stuck: ControllerFetch = async (request) => {
      await request.arrayBuffer()
      entered.open()
      await blocked.opened
      return new Response('done')
    }
    await serving(
      {},
      async (port, server) => {
        const half = await openTls(port)
        half.write(halfSent(10))
        const ahead = await openTls(port)
        // Whole, and half of another one sent ahead: the first is answered, the second never reaches the controller.
        ahead.write(`GET / HTTP/1.1\r\nHost: x\r\n\r\n${halfSent(10)}`)
        const answer = receiveAll(ahead)
        await entered.opened
        const started = performance.now()
        const closed = server.close()
        expect(await receiveAll(half)).toBe('')
        expect(performance.now() - started).toBeLessThan(2000)
        blocked.open()
        await closed
        expect(performance.now() - started).toBeLessThan(2500)
        expect((await answer).match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200'])
      },
      stuck,
    )
  })
})
