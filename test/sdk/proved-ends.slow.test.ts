import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Identity, ServiceConnection } from 'portcullis/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedNetwork, servedNetwork } from './served-network.ts'

let network: ServedNetwork
let laptop: Identity
let box: Identity
/** Identities that take part where the other end does. */
let offering: Identity
let offeringBox: Identity

beforeAll(async () => {
  network = await servedNetwork({ directE2EE: 'permissive' })
  laptop = await network.identity('laptop', 'clients')
  box = await network.identity('box', 'hosts')
  offering = await network.identity('offering', 'clients', { directE2EE: 'offered' })
  offeringBox = await network.identity('offering box', 'hosts', { directE2EE: 'offered' })
})

afterAll(() => network.close())

const echo = (connection: ServiceConnection) => connection.pipe(connection)

const told = async (connection: ServiceConnection) => {
  const asked = await text(connection)
  const { name, isProved } = connection.caller ?? {}
  connection.end(`${name} proved ${isProved}: ${asked}`)
}

const ask = async (connection: ServiceConnection, question = 'hello') => {
  connection.end(question)
  return text(connection)
}

/** The failure by which a connection ends; undefined where it ends without one. */
const failureOf = (connection: ServiceConnection) =>
  new Promise<unknown>((resolve) => {
    let failure: unknown
    connection.once('error', (error) => {
      failure = error
    })
    connection.resume().once('close', () => resolve(failure))
  })

describe('two ends that prove themselves to each other', () => {
  it.each(['app', 'plain'])('know each other by their certificates: %s', async (service) => {
    await using hosted = await box.host(service, told, { proved: true })
    const connection = await laptop.dial(service, { proved: true })
    expect(connection.isEncrypted).toBe(true)
    const { data } = await network.net.admin.call('GET /identities', { query: { filter: 'name = "box"' } })
    expect(connection.provedPeer).toEqual({ id: data[0]?.id, name: 'box' })
    expect(await ask(connection)).toBe('laptop proved true: hello')
    if (!connection.closed) await once(connection, 'close')
    expect(hosted.connections).toBe(0)
  })

  it('give a dark app a caller that is proved, and so does an identity that proves itself to everybody', async () => {
    const everywhere = await network.identity('everywhere', 'clients', { directE2EE: 'required' })
    const judged: unknown[] = []
    await using _hosted = await box.host(
      'app',
      (request, response) => response.end(`${request.method} by ${request.caller?.name}, ${request.caller?.isProved}`),
      {
        proved: true,
        accept: ({ name, isProved }) => {
          judged.push([name, isProved])
          return true
        },
      },
    )
    for (let round = 0; round < 3; round += 1) {
      const response = await everywhere.fetch('http://app/', { method: 'PUT', body: 'salaries' })
      expect(await response.text()).toBe('PUT by everywhere, true')
    }
    expect(judged).toEqual([['everywhere', true]])
  })

  it('may end one direction and go on with the other, and carry much at once both ways', async () => {
    await using _hosted = await box.host('app', echo, { proved: true })
    const connection = await laptop.dial('app', { proved: true })
    const chunk = Buffer.alloc(1_000_000, 'abc')
    const received = text(connection)
    for (let sent = 0; sent < 20; sent += 1) if (!connection.write(chunk)) await once(connection, 'drain')
    connection.end('the end')
    expect(await received).toBe(`${chunk.toString().repeat(20)}the end`)
  })

  it('hear the last words of an end that has stopped to listen long before', async () => {
    await using _hosted = await box.host(
      'app',
      async (connection: ServiceConnection) => {
        connection.end('all that there is')
        await sleep(100)
        expect(await text(connection)).toBe('thanks, late')
      },
      { proved: true },
    )
    const connection = await laptop.dial('app', { proved: true })
    expect(await text(connection)).toBe('all that there is')
    await sleep(200)
    connection.end('thanks, late')
    expect(await failureOf(connection)).toBeUndefined()
  })

  it('wait with writing while nobody reads, and lose nothing', async () => {
    let arrived: ServiceConnection | undefined
    const isThere = new Promise<void>((resolve) => {
      void box.host(
        'plain',
        (connection: ServiceConnection) => {
          arrived = connection
          resolve()
        },
        { proved: true },
      )
    })
    await sleep(300)
    const connection = await laptop.dial('plain', { proved: true })
    await isThere
    const chunk = Buffer.alloc(262_144, 7)
    let written = 0
    const writing = (async () => {
      for (; written < 120; written += 1) if (!connection.write(chunk)) await once(connection, 'drain')
      connection.end()
    })()
    for (let before = -1; before !== written; await sleep(300)) before = written
    expect(written * 0.25).toBeLessThan(25)
    let received = 0
    for await (const bytes of arrived ?? []) received += bytes.length
    await writing
    expect(received).toBe(120 * chunk.length)
    connection.destroy()
  })

  it('tell an end from a failure', async () => {
    const taken: ServiceConnection[] = []
    await using _hosted = await box.host('app', (connection: ServiceConnection) => void taken.push(connection), {
      proved: true,
    })
    const gone = await laptop.dial('app', { proved: true })
    const broken = await laptop.dial('app', { proved: true })
    const ends = Promise.all([failureOf(gone), failureOf(broken)])
    for (let waited = 0; taken.length < 2 && waited < 100; waited += 1) await sleep(10)
    taken[0]?.destroy()
    taken[1]?.destroy(new Error('out of paper'))
    expect(await ends).toEqual([undefined, expect.objectContaining({ code: 'CONNECTION_LOST' })])
  })

  it('take the word of a controller that signs by another address than the one that they enrolled at', async () => {
    const { net, server } = network
    const another = await network.identity('another', 'clients')
    await using _hosted = await box.host('app', told, { proved: true })
    net.changeAddress(`localhost:${server.port}`)
    try {
      expect(await ask(await another.dial('app', { proved: true }))).toBe('another proved true: hello')
    } finally {
      net.changeAddress(`127.0.0.1:${server.port}`)
    }
  })

  it('prove themselves where both offer it, and are connected as ever where one does not', async () => {
    await using hosted = await offeringBox.host('app', told)
    expect(await ask(await offering.dial('app'))).toBe('offering proved true: hello')
    const legacy = await laptop.dial('app')
    expect(legacy.provedPeer).toBeUndefined()
    expect(legacy.isEncrypted).toBe(true)
    expect(await ask(legacy)).toBe('laptop proved false: hello')
    await hosted.close()
    await using _plainly = await box.host('app', told)
    expect(await ask(await offering.dial('app'))).toBe('offering proved false: hello')
  })
})

describe('a side that takes no part', () => {
  const saying = (message: string) => ({ code: 'NOT_PROVED', message: expect.stringContaining(message) })

  it.each(['app', 'plain'])('is named where it is the dialer: %s', async (service) => {
    await using _hosted = await box.host(service, echo, { proved: true })
    await expect(laptop.dial(service)).rejects.toMatchObject(saying('the dialer takes no part'))
  })

  it.each(['app', 'plain'])('is named where it is the host: %s', async (service) => {
    await using _hosted = await box.host(service, echo)
    await expect(laptop.dial(service, { proved: true })).rejects.toMatchObject(saying('the host takes no part'))
  })

  it('is named where it is the controller', async () => {
    const other = await servedNetwork()
    try {
      const host = await other.identity('host', 'hosts')
      const client = await other.identity('client', 'clients', { directE2EE: 'offered' })
      await expect(host.host('app', echo, { proved: true })).rejects.toMatchObject(
        saying('the controller takes no part'),
      )
      const hostOffering = await other.identity('offering', 'hosts', { directE2EE: 'offered' })
      await using _hosted = await hostOffering.host('app', told)
      await expect(client.dial('app', { proved: true })).rejects.toMatchObject(saying('the controller takes no part'))
      expect(await ask(await client.dial('app'))).toBe('client proved false: hello')
    } finally {
      await other.close()
    }
  })

  it('is named where it is an identity without a certificate', async () => {
    const { router } = network.server
    await expect(router.as('laptop').dial('app', { proved: true })).rejects.toMatchObject(saying('has no certificate'))
  })
})

describe('a network that demands it', () => {
  let strict: ServedNetwork

  beforeAll(async () => {
    strict = await servedNetwork({ directE2EE: 'directOnly' })
  })

  afterAll(() => strict.close())

  it('refuses every other end of a service with encryption, and nothing else', async () => {
    const [host, client] = [await strict.identity('host', 'hosts'), await strict.identity('client', 'clients')]
    const demanded = { code: 'NOT_PROVED', message: expect.stringContaining('the network demands it, and the') }
    await expect(host.host('app', told)).rejects.toMatchObject(demanded)
    await using _plain = await host.host('plain', told)
    expect(await ask(await client.dial('plain'))).toBe('client proved false: hello')
    await using _hosted = await host.host('app', told, { proved: true })
    await expect(client.dial('app')).rejects.toMatchObject(demanded)
    expect(await ask(await client.dial('app', { proved: true }))).toBe('client proved true: hello')
  })

  it('lets logins by OpenID Connect in without a signing request, and no dial of them that is not proved', async () => {
    const [host, client] = [
      await strict.identity('signed host', 'hosts'),
      await strict.identity('bearer', 'clients', { sessions: 'bearer' }),
    ]
    await using _hosted = await host.host('app', told, { proved: true })
    await expect(client.dial('app')).rejects.toMatchObject({ code: 'NOT_PROVED' })
    expect(await ask(await client.dial('app', { proved: true }))).toBe('bearer proved true: hello')
  })

  it('says so in its version, and needs the keys of its OpenID provider', async () => {
    const { data } = await strict.net.admin.call('GET /version')
    expect(data.capabilities).toEqual(expect.arrayContaining(['E2EE_DIRECT', 'E2EE_DIRECT_REQUIRED']))
    await expect(servedNetwork({ directE2EE: 'permissive', oidc: false })).rejects.toThrow(
      'directE2EE needs the OpenID',
    )
  })
})
