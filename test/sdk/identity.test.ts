import { once } from 'node:events'
import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { enroll, enrollDevice, type Identity, openIdentity, type ServiceConnection } from 'portcullis/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedNetwork, servedNetwork } from './served-network.ts'

let network: ServedNetwork
let laptop: Identity
let box: Identity

const echo = (connection: ServiceConnection) => connection.pipe(connection)

/** When a connection is over, whether with an error or without. */
function closing(connection: ServiceConnection): Promise<void> {
  if (connection.closed) return Promise.resolve()
  return new Promise((resolve) => connection.once('close', () => resolve()))
}

beforeAll(async () => {
  network = await servedNetwork()
  laptop = await network.identity('laptop', 'clients', { posture: { domain: 'corp.example' } })
  box = await network.identity('box', 'hosts')
})

afterAll(() => network.close())

describe('an identity of a network', () => {
  it.each(['app', 'plain'])('dials a service that another one hosts: %s', async (service) => {
    await using hosted = await box.host(service, async (connection: ServiceConnection) => {
      const asked = await text(connection)
      connection.end(`${connection.caller?.name} said ${asked}, and ${Buffer.from(connection.applicationData)}`)
    })
    const connection = await laptop.dial(service, { applicationData: 'a note' })
    connection.end('hello')
    expect(await text(connection)).toBe('laptop said hello, and a note')
    expect(connection.isEncrypted).toBe(service === 'app')
    expect(connection.circuitId).not.toBe('')
    await closing(connection)
    expect(hosted.connections).toBe(0)
  })

  it('fetches from an app by the name of its service: by its own fetch, that of the runtime and node:http', async () => {
    await using _hosted = await box.host('app', (request, response) => {
      response.end(`${request.method} ${request.url} by ${request.caller?.name} for ${request.headers.host}`)
    })
    const response = await laptop.fetch('http://app/a?b', { method: 'PUT', body: 'c' })
    expect([response.status, await response.text()]).toEqual([200, 'PUT /a?b by laptop for app'])
    const { dispatcher } = laptop
    const init = { dispatcher, method: 'POST', body: new Uint8Array(300_000) }
    const dispatched = await fetch('http://app/e?f', init)
    expect([dispatched.status, await dispatched.text()]).toEqual([200, 'POST /e?f by laptop for app'])
    await expect(fetch('http://nothing/', { dispatcher })).rejects.toMatchObject({
      cause: { code: 'SERVICE_NOT_FOUND' },
    })
    const answer = await new Promise<string>((resolve) => {
      get({ agent: laptop.agent, host: 'app', path: '/d' }, (incoming) => resolve(text(incoming)))
    })
    expect(answer).toBe('GET /d by laptop for app')
  })

  it('gives two hundred dials at once the answers that they asked for', async () => {
    await using _hosted = await box.host('app', echo)
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

  it('waits with writing while nobody reads, and loses nothing', async () => {
    let arrived: ServiceConnection | undefined
    await using _hosted = await box.host('app', (connection: ServiceConnection) => {
      arrived = connection
    })
    const connection = await laptop.dial('app')
    const chunk = Buffer.alloc(262_144, 7)
    let written = 0
    const writing = (async () => {
      for (; written < 160; written += 1) if (!connection.write(chunk)) await once(connection, 'drain')
      connection.end()
    })()
    for (let before = -1; before !== written; await sleep(300)) before = written
    // Bytes that wait on the way are bounded: sockets, the router, and a megabyte at the end that does not read.
    expect(written * 0.25).toBeLessThan(35)
    let received = 0
    for await (const bytes of arrived ?? []) received += bytes.length
    await writing
    expect(received).toBe(160 * chunk.length)
    connection.destroy()
  })

  it('reaches others while it does not read one connection', async () => {
    await using _slow = await box.host('plain', (connection: ServiceConnection) => {
      connection.write(Buffer.alloc(8_000_000))
    })
    const other = await network.identity('other', 'hosts')
    await using _quick = await other.host('app', echo)
    const silent = await laptop.dial('plain')
    await sleep(300)
    const connection = await laptop.dial('app', { timeoutMs: 5000 })
    connection.end('quick')
    expect(await text(connection)).toBe('quick')
    silent.destroy()
  })

  it('tells by a code why it gets nowhere', async () => {
    await expect(laptop.dial('app')).rejects.toMatchObject({ code: 'NO_HOST' })
    await expect(laptop.dial('nothing')).rejects.toMatchObject({ code: 'SERVICE_NOT_FOUND' })
    await expect(box.dial('app')).rejects.toMatchObject({ code: 'ACCESS_DENIED' })
    await expect(laptop.host('app', echo)).rejects.toMatchObject({ code: 'ACCESS_DENIED' })
    const options = { accept: ({ name = '' }) => (name === 'laptop' ? 'not you' : true) }
    await using _hosted = await box.host('app', echo, options)
    const refusal = { code: 'HOST_REFUSED', message: expect.stringContaining('not you') }
    await expect(laptop.dial('app')).rejects.toMatchObject(refusal)
    await expect(laptop.dial('app', { instance: 'nobody' })).rejects.toMatchObject({ code: 'NO_HOST' })
    await expect(laptop.dial('app', { signal: AbortSignal.abort('enough') })).rejects.toBe('enough')
  })

  it('reaches the one host that it names', async () => {
    const host = (instance: string) => (connection: ServiceConnection) => void connection.end(instance)
    await using _one = await box.host('app', host('one'), { instance: 'one' })
    await using _other = await box.host('app', host('other'), { instance: 'other' })
    for (const instance of ['one', 'other', 'one']) {
      const connection = await laptop.dial('app', { instance })
      connection.end()
      expect(await text(connection)).toBe(instance)
    }
  })

  it('loses what its posture let it have, and is told so', async () => {
    await using _hosted = await box.host('guarded', echo)
    const connection = await laptop.dial('guarded')
    connection.on('error', () => undefined)
    connection.write('hello')
    expect(String((await once(connection, 'data'))[0])).toBe('hello')
    await laptop.report({ domain: 'elsewhere.example' })
    await closing(connection)
    await expect(laptop.dial('guarded')).rejects.toMatchObject({ code: 'POSTURE_FAILED' })
    await laptop.report({ domain: 'corp.example' })
    const again = await laptop.dial('guarded')
    again.end('back')
    expect(await text(again)).toBe('back')
  })

  it('hosts no more connections than it wants to, also of callers who come at once and are judged slowly', async () => {
    const box = await network.identity('small-box', 'hosts')
    const open: ServiceConnection[] = []
    // Circuits that are open at the end are lost with their host.
    const ignore = (connection: ServiceConnection) => connection.on('error', () => undefined)
    await using _hosted = await box.host('plain', (connection: ServiceConnection) => void open.push(connection), {
      maxConnections: 2,
      instance: 'small',
      accept: async () => {
        await new Promise((resolve) => setTimeout(resolve, 100))
        return true
      },
    })
    const crowd = await network.identity('crowd', 'clients')
    const dial = () => crowd.dial('plain', { instance: 'small' }).then(ignore)
    const dials = Array.from({ length: 8 }, dial)
    const outcomes = await Promise.allSettled(dials)
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(2)
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
    expect(new Set(refused)).toEqual(new Set(['HOST_REFUSED']))
    for (const connection of open) connection.destroy()
    await expect.poll(async () => (await dial()).readable).toBe(true)
  })

  it('lists the services that it may use', async () => {
    const services = await laptop.services()
    expect(services.map(({ name, mayDial, mayBind }) => [name, mayDial, mayBind]).toSorted()).toEqual([
      ['app', true, false],
      ['guarded', true, false],
      ['plain', true, false],
    ])
  })

  it('begins a new session where its session was ended', async () => {
    await using _hosted = await box.host('app', echo)
    const own = await network.net.admin.call('GET /api-sessions', { query: { filter: 'identity.name = "laptop"' } })
    for (const { id } of own.data) await network.net.admin.call('DELETE /api-sessions/{id}', { params: { id } })
    const connection = await laptop.dial('app')
    connection.end('again')
    expect(await text(connection)).toBe('again')
  })

  it('works by bearer tokens', async () => {
    const bearer = await network.identity('bearer', 'clients', { sessions: 'bearer' })
    await using _hosted = await box.host('app', echo)
    const connection = await bearer.dial('app')
    connection.end('by token')
    expect(await text(connection)).toBe('by token')
  })

  it('is closed with all that it has', async () => {
    const short = await network.identity('short', 'clients')
    await using _hosted = await box.host('app', echo)
    const connection = await short.dial('app')
    connection.on('error', () => undefined)
    await short.close()
    await closing(connection)
    await expect(short.dial('app')).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('the router of a process', () => {
  it('hosts and dials for its own identity, as policies let it, and for others', async () => {
    const { server, net } = network
    const { router } = server
    if (router === undefined) throw new Error('no router runs')
    await expect(router.host('app', echo)).rejects.toMatchObject({ code: 'SERVICE_NOT_FOUND' })
    const body = { name: 'the router', semantic: 'AnyOf' as const, identityRoles: [`@${router.id}`] }
    const all = { ...body, type: 'Bind' as const, serviceRoles: ['#all'] }
    await net.admin.call('POST /service-policies', { body: all })
    await using _hosted = await router.host('app', (request, response) => response.end(request.caller?.name))
    expect(await (await laptop.fetch('http://app/')).text()).toBe('laptop')
    expect(await (await router.as('laptop').fetch('http://app/')).text()).toBe('laptop')
    await expect(router.dial('app')).rejects.toMatchObject({ code: 'ACCESS_DENIED' })
    await expect(router.as('nobody').dial('app')).rejects.toMatchObject({ code: 'NOT_AUTHENTICATED' })
  })
})

describe('the file of an identity', () => {
  it('is made by a token once, from the controller that signed it', async () => {
    const jwt = await network.invite('newcomer', 'clients')
    const file = await enroll(jwt)
    expect(file.ztAPI).toBe(`${network.server.url}/edge/client/v1`)
    expect(file.id.key).toMatch(/^pem:-----BEGIN PRIVATE KEY-----/)
    await expect(enroll(jwt)).rejects.toMatchObject({ code: 'NOT_ALLOWED' })
    const [header, , signature] = jwt.split('.')
    const claims = { iss: network.server.url, em: 'ott', jti: 'x', sub: 'y' }
    const forged = [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.')
    await expect(enroll(forged)).rejects.toMatchObject({ code: 'NOT_AUTHENTICATED' })
    await expect(enroll('no token')).rejects.toThrow(/^this is no enrollment token$/)
    await expect(enroll(`${jwt.slice(0, 60)}.jwt`)).rejects.toThrow(/^this is no enrollment token$/)
    for (const jwt of ['laptop.jwt', './tokens/laptop']) {
      await expect(enrollDevice({ jwt })).rejects.toThrow(
        `'${jwt}' looks like the path of a file; give what is in it, which is await readFile('${jwt}', 'utf8')`,
      )
    }
  })

  it.each([
    [
      'no file',
      '/nowhere/laptop.json',
      /no identity file .*laptop.json: .* enrollDevice.* or run: portcullis tunnel enroll/,
    ],
    [
      'no identity',
      { ztAPI: 'https://localhost' },
      /^what openIdentity was given is no identity: .* enrollDevice\(\) answer one$/,
    ],
    ['no key', { ztAPI: 'https://localhost', id: { cert: 'pem:-----BEGIN A-----' } }, 'lacks id.key'],
    [
      'a key of hardware',
      { ztAPI: 'https://localhost', id: { cert: 'pem:-----BEGIN A-----', key: 'pkcs11://x' } },
      'id.key',
    ],
  ])('is refused where it is %s', async (_, identity, words) => {
    await expect(openIdentity(identity as string)).rejects.toThrow(words)
  })
})
