import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { createController } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { type RunningServer, serve } from 'portcullis/node'
import { enroll, type Identity, openIdentity, type ServiceConnection } from 'portcullis/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enrollDevice, enrollRouter } from '../../examples/traffic/enroll.ts'
import { type Admin, createNetwork, logIn } from '../../examples/traffic/network.ts'
import { FILE, freePorts, serveWeb } from '../../examples/traffic/web.ts'
import { findZiti, ZitiProcesses } from '../../examples/traffic/ziti.ts'

const ADMIN = { username: 'admin', password: 'admin-of-the-test' }
const ziti = findZiti()

if (ziti === undefined) {
  console.warn('SKIPPED: the SDK was not tried, because there is no `ziti` on the path and ZITI names none')
}

let folder: string
let processes: ZitiProcesses
let router: ReturnType<ZitiProcesses['start']>
let web: Awaited<ReturnType<typeof serveWeb>>
let controller: Awaited<ReturnType<typeof createController>>
let server: RunningServer
let admin: Admin
let proxied = 0
let dialPolicy = ''
let laptop: Identity
let box: Identity
const file = (name: string) => join(folder, name)

/** An identity that the SDK itself enrolls, in the file that it is opened from. */
async function enrolled(name: string, role: string): Promise<string> {
  const fields = { name, type: 'Device', isAdmin: false, roleAttributes: [role], enrollment: { ott: true } }
  const id = await admin.create('/identities', fields)
  const { enrollment } = await admin.call('GET', `/identities/${id}`)
  // An identity that was created with `ott` has this member until it enrolls.
  const { ott } = enrollment as { readonly ott: { readonly jwt: string } }
  await writeFile(file(`${name}.json`), JSON.stringify(await enroll(ott.jwt)), { mode: 0o600 })
  return file(`${name}.json`)
}

/** Does something again until it goes well: programs of others take a while to be there. */
async function eventually<T>(work: () => Promise<T>, patienceMs = 30_000): Promise<T> {
  const deadline = Date.now() + patienceMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await sleep(200)
    }
  }
}

/** When a connection is over, whether with an error or without. */
function closing(connection: ServiceConnection): Promise<void> {
  if (connection.closed) return Promise.resolve()
  return new Promise((resolve) => connection.once('close', () => resolve()))
}

const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

beforeAll(async () => {
  if (ziti === undefined) return
  folder = await mkdtemp(join(tmpdir(), 'portcullis-sdk-'))
  processes = new ZitiProcesses(ziti)
  web = await serveWeb()
  const [port = 0, linkPort = 0, edgePort = 0, proxyPort = 0] = await freePorts(4)
  proxied = proxyPort
  const options = { storage: memoryStorage(), address: `127.0.0.1:${port}`, admin: ADMIN, rateLimits: false as const }
  controller = await createController({ ...options, oidc: { accessTokenLifetimeMs: 60_000 } })
  server = await serve(controller, { port, fabric: true })
  admin = await logIn(controller, ADMIN)
  dialPolicy = (await createNetwork(admin, web.port)).dialPolicy
  for (const [name, encryptionRequired] of [
    ['app', true],
    ['plain', false],
  ] as const) {
    await admin.create('/services', { name, encryptionRequired, roleAttributes: ['web'] })
  }
  const id = await enrollRouter(admin, ziti, { name: 'first' }, { files: file('first'), linkPort, edgePort })
  router = processes.start(file('first.log'), ['router', 'run', file('first.yml')])
  await eventually(async () => expect((await admin.call('GET', `/edge-routers/${id}`)).isOnline).toBe(true))
  for (const [name, role] of [
    ['host', 'hosts'],
    ['client', 'clients'],
  ] as const) {
    await enrollDevice(admin, ziti, { name, role, files: file(name) })
  }
  processes.start(file('host.log'), ['tunnel', 'host', '--identity', file('host.json')])
  laptop = await openIdentity(await enrolled('laptop', 'clients'))
  // The services of the file work too, also for an identity that the other program enrolled.
  box = await openIdentity(JSON.parse(await readFile(await enrolled('box', 'hosts'), 'utf8')))
}, 120_000)

afterAll(async () => {
  if (ziti === undefined) return
  await Promise.all([laptop?.close(), box?.close()])
  await processes.stop()
  web.close()
  await server.close({ graceMs: 0 })
  await controller.close()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

describe.skipIf(ziti === undefined)('the SDK through real routers', () => {
  it('fetches a file from a host that is another program, encrypted from end to end', async () => {
    const response = await eventually(() => laptop.fetch('http://web/file'))
    expect(response.status).toBe(200)
    expect(await response.text()).toBe(FILE)
  })

  it.each(['app', 'plain'])(
    'hosts a listener for another program and for itself: %s',
    async (service) => {
      const told: unknown[] = []
      await using _hosted = await box.host(service, (request, response) => {
        told.push(request.caller?.name ?? request.caller?.claimedName)
        request.pipe(response)
      })
      const port = service === 'app' ? proxied : (await freePorts(1))[0]
      const args = ['tunnel', 'proxy', '--identity', file('client.json'), `${service}:${port}`]
      const tunnel = processes.start(file('client.log'), args)
      const body = randomBytes(3_000_000)
      const asked = { method: 'POST', body: new Uint8Array(body) }
      const echoed = await eventually(async () => (await fetch(`http://127.0.0.1:${port}/`, asked)).arrayBuffer())
      expect(digestOf(new Uint8Array(echoed))).toBe(digestOf(body))
      const own = await (await laptop.fetch(`http://${service}/`, asked)).arrayBuffer()
      expect(digestOf(new Uint8Array(own))).toBe(digestOf(body))
      expect(new Set(told)).toEqual(new Set(['client', 'laptop']))
      tunnel.kill('SIGKILL')
      await once(tunnel, 'exit')
    },
    60_000,
  )

  it.each(['app', 'plain'])('ends one direction and goes on in the other: %s', async (service) => {
    await using _hosted = await box.host(service, async (connection: ServiceConnection) => {
      const asked = await text(connection)
      connection.end(`${connection.caller?.claimedName} said ${asked} with ${Buffer.from(connection.applicationData)}`)
    })
    const connection = await laptop.dial(service, { applicationData: 'a note' })
    expect(connection.isEncrypted).toBe(service === 'app')
    connection.end('hello')
    expect(await text(connection)).toBe('laptop said hello with a note')
  })

  it('carries two hundred dials at once, and their answers to who asked', async () => {
    await using _hosted = await box.host('app', (connection: ServiceConnection) => connection.pipe(connection))
    const numbers = Array.from({ length: 200 }, (_, index) => String(index))
    const answers = await Promise.all(
      numbers.map(async (number) => {
        const connection = await laptop.dial('app')
        connection.end(number)
        return text(connection)
      }),
    )
    expect(answers).toEqual(numbers)
  })

  it('tells why nobody answers: no host, refused by the host, no such service', async () => {
    // The host of the test before may not be gone everywhere yet.
    await eventually(() => expect(laptop.dial('app')).rejects.toMatchObject({ code: 'NO_HOST' }))
    await using _hosted = await box.host('app', (connection: ServiceConnection) => connection.end(), {
      accept: ({ claimedName }) => `not ${claimedName}`,
    })
    const refused = { code: 'HOST_REFUSED', message: expect.stringContaining('not laptop') }
    await expect(laptop.dial('app')).rejects.toMatchObject(refused)
    await expect(laptop.dial('nothing')).rejects.toMatchObject({ code: 'SERVICE_NOT_FOUND' })
    await expect(box.dial('app')).rejects.toMatchObject({ code: 'ACCESS_DENIED' })
  })

  it('slows down who writes while nobody reads, and carries all of it afterwards', async () => {
    const megabytes = 48
    let arrived: ServiceConnection | undefined
    await using _hosted = await box.host('app', (connection: ServiceConnection) => {
      arrived = connection
    })
    const connection = await laptop.dial('app')
    const sent = createHash('sha256')
    let written = 0
    const writing = (async () => {
      for (; written < megabytes; written += 1) {
        const chunk = randomBytes(1_048_576)
        sent.update(chunk)
        if (!connection.write(chunk)) await once(connection, 'drain')
      }
      connection.end()
    })()
    await sleep(3000)
    expect(written).toBeLessThan(40)
    const received = createHash('sha256')
    for await (const chunk of arrived ?? []) received.update(chunk)
    await writing
    expect(written).toBe(megabytes)
    expect(received.digest('hex')).toBe(sent.digest('hex'))
    arrived?.end('done')
    expect(String(await buffer(connection))).toBe('done')
  }, 120_000)

  it('carries the same bytes both ways at once, in memory that stays flat', async () => {
    const megabytes = Number(process.env.PORTCULLIS_TRANSFER_MB ?? 32)
    await using _hosted = await box.host('app', (connection: ServiceConnection) => connection.pipe(connection))
    const connection = await laptop.dial('app')
    const [sent, received] = [createHash('sha256'), createHash('sha256')]
    const before = process.memoryUsage().rss
    const begun = performance.now()
    const writing = (async () => {
      for (let written = 0; written < megabytes; written += 1) {
        const chunk = randomBytes(1_048_576)
        sent.update(chunk)
        if (!connection.write(chunk)) await once(connection, 'drain')
      }
      connection.end()
    })()
    let most = 0
    for await (const chunk of connection) {
      received.update(chunk)
      most = Math.max(most, process.memoryUsage().rss)
    }
    await writing
    expect(received.digest('hex')).toBe(sent.digest('hex'))
    expect(most - before).toBeLessThan(250_000_000)
    const seconds = (performance.now() - begun) / 1000
    console.log(
      `${megabytes} MB each way in ${seconds.toFixed(1)} s, ${Math.round((most - before) / 1e6)} MB more memory`,
    )
  }, 600_000)

  it('keeps a connection over the renewal of its access token, which lasts a minute', async () => {
    await using _hosted = await box.host('app', (connection: ServiceConnection) => connection.pipe(connection))
    await using bearer = await openIdentity(await enrolled('bearer', 'clients'), { sessions: 'bearer' })
    const connection = await bearer.dial('app')
    for (let round = 0; round < 5; round += 1) {
      connection.write(`round ${round}`)
      expect(String((await once(connection, 'data'))[0])).toBe(`round ${round}`)
      await sleep(16_000)
    }
    connection.end('end')
    expect(await text(connection)).toBe('end')
  }, 120_000)

  it('hosts and dials again after its router was gone', async () => {
    const changes: (string | undefined)[] = []
    const app = createServer((_request, response) => response.end('here'))
    await using hosted = await box.host('app', app, { onChange: (failure) => changes.push(failure?.code) })
    const open = await laptop.dial('app')
    const lost = closing(open)
    open.on('error', (error) => changes.push(`open: ${Reflect.get(error, 'code')}`))
    router.kill('SIGKILL')
    await lost
    await expect.poll(() => hosted.routers).toEqual([])
    await expect(laptop.dial('app', { timeoutMs: 3000 })).rejects.toMatchObject({
      code: expect.stringMatching(/ROUTER|TIMED_OUT/),
    })
    router = processes.start(file('first.log'), ['router', 'run', file('first.yml')])
    const answer = await eventually(async () => (await laptop.fetch('http://app/')).text(), 60_000)
    expect(answer).toBe('here')
    expect(changes.toSorted()).toEqual(['CONNECTION_LOST', 'open: CONNECTION_LOST', undefined])
  }, 120_000)

  it('loses its open connections with its policy, and new ones are refused', async () => {
    await using _hosted = await box.host('app', (connection: ServiceConnection) => connection.pipe(connection))
    const open = await laptop.dial('app')
    open.on('error', () => undefined)
    open.write('tick')
    expect(String((await once(open, 'data'))[0])).toBe('tick')
    const begun = performance.now()
    await admin.call('DELETE', `/service-policies/${dialPolicy}`)
    await closing(open)
    expect(performance.now() - begun).toBeLessThan(2000)
    await expect(laptop.dial('app')).rejects.toMatchObject({
      code: expect.stringMatching(/SERVICE_NOT_FOUND|ACCESS_DENIED/),
    })
  })
})
