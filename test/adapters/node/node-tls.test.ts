import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type ConnectionOptions, getCiphers, type TLSSocket } from 'node:tls'
import { type ConnectionInfo, type ControllerFetch, createPkiMaterial } from 'portcullis'
import { type RunningServer, serve } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyExchangeFinding } from '../../../adapters/tools/cli/commands/examine-runtime.ts'
import { type Issued, issue } from '../../support/https-certificates.ts'
import { gate, parseResponse, requestText } from './raw-http.ts'
import { openTls, receiveAll, receiveUntil } from './tls-client.ts'

let certificates: Record<'server' | 'other' | 'root' | 'intermediate' | 'leaf' | 'expired' | 'selfSigned', Issued>
let server: RunningServer
/** The facts about the connection that the controller was told, request by request. */
const connections: (ConnectionInfo | undefined)[] = []

const fetch: ControllerFetch = async (request, connection) => {
  connections.push(connection)
  return Response.json({ url: request.url })
}
const start = (options: { host?: string; port?: number } = {}, answer = fetch) =>
  serve({ fetch: answer, tls: () => certificates.server }, { port: 0, ...options })

beforeAll(async () => {
  const root = await issue('root', undefined, { ca: true })
  const intermediate = await issue('intermediate', root, { ca: true })
  certificates = {
    root,
    intermediate,
    leaf: await issue('leaf', intermediate),
    expired: await issue('expired', intermediate, { expired: true }),
    selfSigned: await issue('self'),
    server: await issue('localhost'),
    other: await issue('localhost'),
  }
  server = await start()
})
afterAll(() => server.close({ graceMs: 0 }))

type CertificateName = keyof typeof certificates

const withClient = (names: readonly CertificateName[]): ConnectionOptions => {
  const [leaf] = names
  return leaf === undefined
    ? {}
    : { key: certificates[leaf].key, cert: names.map((name) => certificates[name].cert).join('') }
}

async function presentedBy(socket: TLSSocket): Promise<readonly Uint8Array[] | undefined> {
  connections.length = 0
  socket.write(requestText('GET /'))
  expect(await receiveAll(socket)).toContain('200 OK')
  return connections[0]?.clientCertificates
}

describe('the key exchange of TLS 1.3', () => {
  it.each([
    ['a peer that offers what its Node offers', undefined, 'X25519MLKEM768'],
    ['a peer that offers post-quantum exchange alone', 'X25519MLKEM768', 'X25519MLKEM768'],
    ['a peer that has none of it', 'X25519', 'X25519'],
  ])('with %s', async (_peer, ecdhCurve, agreed) => {
    const socket = await openTls(server.port, ecdhCurve === undefined ? {} : { ecdhCurve })
    expect(socket.getEphemeralKeyInfo()).toMatchObject({ name: agreed })
    socket.destroy()
  })

  it.each([
    ['3.0.19', 'warning', 'X25519:'],
    ['3.5.0', 'ok', 'X25519MLKEM768'],
    ['4.0.0', 'ok', 'X25519MLKEM768'],
  ])('is named by doctor for OpenSSL %s', (openssl, level, named) => {
    expect(keyExchangeFinding(openssl)).toEqual({ level, about: 'runtime', text: expect.stringContaining(named) })
  })
})

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('client certificates over %s', (version) => {
  const only: ConnectionOptions = { minVersion: version, maxVersion: version }

  it.each<[string, CertificateName[]]>([
    ['none', []],
    ['a leaf alone', ['leaf']],
    ['a leaf with its intermediate', ['leaf', 'intermediate']],
    ['a whole chain', ['leaf', 'intermediate', 'root']],
    ['an expired leaf', ['expired', 'intermediate']],
    ['one that signed itself', ['selfSigned']],
  ])('%s arrives as presented, leaf first', async (_what, names) => {
    const presented = await presentedBy(await openTls(server.port, { ...only, ...withClient(names) }))
    expect(presented).toEqual(names.length === 0 ? undefined : names.map((name) => certificates[name].der))
  })

  it('are all there on a second connection of the same client, for sessions are not resumed', async () => {
    const options = { ...only, ...withClient(['leaf', 'intermediate']) }
    const first = await openTls(server.port, options)
    let session: Buffer | undefined = first.getSession()
    first.on('session', (ticket: Buffer) => {
      session = ticket
    })
    await presentedBy(first)
    expect(session).toBeInstanceOf(Buffer)
    const second = await openTls(server.port, { ...options, ...(session === undefined ? {} : { session }) })
    expect(second.isSessionReused()).toBe(false)
    expect(await presentedBy(second)).toEqual([certificates.leaf.der, certificates.intermediate.der])
  })
})

describe('the TLS server', () => {
  it('reads certificates once per connection', async () => {
    const socket = await openTls(server.port, withClient(['leaf', 'intermediate']))
    connections.length = 0
    for (let turn = 0; turn < 2; turn += 1) {
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      await receiveUntil(socket, '"}')
    }
    socket.destroy()
    expect(connections).toHaveLength(2)
    expect(connections[1]?.clientCertificates).toBe(connections[0]?.clientCertificates)
    expect(connections[0]?.remoteAddress).toBe('127.0.0.1')
  })

  it.each(['-tls1_2', '-tls1_3'])('asks for a certificate without naming authorities (%s)', async (version) => {
    const seen = await openssl('s_client', '-connect', `127.0.0.1:${server.port}`, version)
    expect(seen).toContain('No client certificate CA names sent')
    expect(seen).toContain('Requested Signature Algorithms')
  })

  it('speaks HTTP/1.1 and no TLS before 1.2', async () => {
    const socket = await openTls(server.port, { ALPNProtocols: ['h2', 'http/1.1'] })
    expect(socket.alpnProtocol).toBe('http/1.1')
    socket.destroy()
    const old: ConnectionOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }
    await expect(openTls(server.port, old)).rejects.toThrow()
  })

  it.each([
    ['an ECDSA certificate', undefined],
    ['an RSA certificate', 'RSA-2048'],
  ] as const)(
    'exchanges keys with forward secrecy only, and authenticates what it encrypts: %s',
    async (_, serverKey) => {
      const request = { hosts: ['localhost'], trustDomain: 'example.org', now: Date.now() }
      const { serverCertPem, serverKeyPem } = await createPkiMaterial({ ...request, ...(serverKey && { serverKey }) })
      const own = await serve({ fetch, tls: () => ({ cert: serverCertPem, key: serverKeyPem }) }, { port: 0 })
      const accepted: string[] = []
      // Also those that OpenSSL keeps for old peers: a client must ask for them by the lowest level of security.
      const offered = getCiphers().filter((name) => !name.startsWith('tls_'))
      for (const name of offered) {
        const ciphers = `${name.toUpperCase()}:@SECLEVEL=0`
        const options: ConnectionOptions = { maxVersion: 'TLSv1.2', ciphers }
        const socket = await openTls(own.port, options).catch(() => undefined)
        if (socket !== undefined) accepted.push(socket.getCipher().name)
        socket?.destroy()
      }
      const kind = serverKey === undefined ? 'ECDSA' : 'RSA'
      const ciphers = ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305']
      expect(accepted.sort()).toEqual(ciphers.map((cipher) => `ECDHE-${kind}-${cipher}`))
      expect(offered.length).toBeGreaterThan(30)
      await own.close({ graceMs: 0 })
    },
  )

  // The offers of the SDKs: Go's defaults, BoringSSL and mbed TLS of the C SDK, and the JVM's.
  it.each([
    ['Go', 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384', 'X25519:P-256'],
    ['mbed TLS', 'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:AES256-GCM-SHA384', 'P-384:P-256'],
    ['JVM', 'ECDHE-ECDSA-AES256-GCM-SHA384:DHE-RSA-AES256-GCM-SHA384:AES256-SHA', 'P-256:P-521'],
  ])('agrees with clients of %s over TLS 1.2 and 1.3', async (_sdk, ciphers, ecdhCurve) => {
    const over12 = await openTls(server.port, { maxVersion: 'TLSv1.2', ciphers, ecdhCurve })
    expect(await presentedBy(over12)).toBeUndefined()
    const over13 = await openTls(server.port, { minVersion: 'TLSv1.3', ecdhCurve })
    expect(await presentedBy(over13)).toBeUndefined()
  })

  it('presents a replaced certificate to new connections and still asks for theirs', async () => {
    const own = await start()
    const before = await openTls(own.port)
    expect(before.getPeerX509Certificate()?.raw).toEqual(Buffer.from(certificates.server.der))
    own.replaceCertificate(certificates.other)
    const after = await openTls(own.port, withClient(['leaf', 'intermediate']))
    expect(after.getPeerX509Certificate()?.raw).toEqual(Buffer.from(certificates.other.der))
    expect(await presentedBy(after)).toEqual([certificates.leaf.der, certificates.intermediate.der])
    own.replaceCertificate()
    const restored = await openTls(own.port)
    expect(restored.getPeerX509Certificate()?.raw).toEqual(Buffer.from(certificates.server.der))
    await own.close({ graceMs: 0 })
  })
})

describe('the address', () => {
  it.each([
    [undefined, (port: number) => `https://127.0.0.1:${port}`, '127.0.0.1'],
    ['::1', (port: number) => `https://[::1]:${port}`, '::1'],
    ['0.0.0.0', (port: number) => `https://localhost:${port}`, '127.0.0.1'],
  ])('of host %s is a URL that answers', async (host, url, reach) => {
    const own = await start(host === undefined ? {} : { host })
    expect(own.url).toBe(url(own.port))
    const socket = await openTls(own.port, { host: reach })
    socket.write(requestText('GET /version', [`Host: ${new URL(own.url).host}`]))
    expect(JSON.parse(parseResponse(await receiveAll(socket)).body).url).toBe(`${own.url}/version`)
    await own.close()
  })

  it('that is no port is refused with those that are', async () => {
    await expect(start({ port: 99_999 })).rejects.toThrow('serve: port takes 0 to 65535, not 99999')
  })

  it('that is in use is said to be', async () => {
    const blocker = createServer().listen(0, '127.0.0.1')
    await once(blocker, 'listening')
    const address = blocker.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    await expect(start({ port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
      message: expect.stringContaining(`127.0.0.1:${port} is already in use`),
    })
    blocker.close()
  })
})

describe('closing', () => {
  const slowController = () => {
    const entered = gate()
    const released = gate()
    const answer: ControllerFetch = async () => {
      entered.open()
      await released.opened
      return new Response('done')
    }
    return { entered, released, answer }
  }

  it('refuses new connections, finishes requests in flight, and ends idle connections', async () => {
    const { entered, released, answer } = slowController()
    const own = await start({}, answer)
    const idle = await openTls(own.port)
    const idleEnded = receiveAll(idle)
    const busy = await openTls(own.port)
    busy.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    const received = receiveAll(busy)
    await entered.opened

    const closed = own.close()
    expect(own.close()).toBe(closed)
    await expect(openTls(own.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    released.open()
    await closed
    expect(await received).toMatch(/^HTTP\/1.1 200 OK\r\nconnection: close.*done$/is)
    expect(await idleEnded).toBe('')
  })

  it('waits for requests in flight no longer than its grace', async () => {
    const { entered, answer } = slowController()
    const own = await start({}, answer)
    const busy = await openTls(own.port)
    busy.write(requestText('GET /'))
    const received = receiveAll(busy)
    await entered.opened
    const started = performance.now()
    await own.close({ graceMs: 200 })
    expect(performance.now() - started).toBeGreaterThan(150)
    expect(performance.now() - started).toBeLessThan(2000)
    expect(await received).toBe('')
  })
})

function openssl(...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('openssl', args, { timeout: 10_000 }, (error, stdout) => {
      if (error === null) resolve(stdout)
      else reject(error)
    })
    child.stdin?.end('Q\n')
  })
}
