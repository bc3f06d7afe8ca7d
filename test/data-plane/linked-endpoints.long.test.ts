import { createHash, randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { enroll, type Identity, openIdentity } from 'portcullis/sdk'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LinkedNetwork, type OwnRouter, until } from '../support/linked-network.ts'

const MEGABYTE = 1024 * 1024
const MINUTE = 60_000

const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Two routers of ours with an endpoint each: one dials what the other one hosts, over links. */
async function linkedEndpoints(handle: (connection: Duplex) => void) {
  const network = await LinkedNetwork.open('')
  onTestFinished(() => network.close())
  const west = await network.own('west', { listen: '127.0.0.1:0' })
  const east = await network.own('east', { listen: '127.0.0.1:0', linkGroups: ['nobody'], dialGroups: ['default'] })
  await network.service('app', 1, { client: east.id, host: west.id })
  const identity = async (role: 'client' | 'host'): Promise<Identity> => {
    const opened = await openIdentity(await enroll(await network.invite(`app-${role}`)))
    onTestFinished(() => opened.close())
    return opened
  }
  const host = await identity('host')
  await host.host('app', handle)
  const client = await identity('client')
  await until(() => network.links(), ['east->west'])
  return { network, east, west, client }
}

/** Nothing of a circuit is left at these routers. */
async function untilNothingIsLeft(network: LinkedNetwork, ...routers: readonly OwnRouter[]): Promise<void> {
  await until(() => network.ways(), [], 20_000)
  await until(
    async () => routers.map(({ router }) => router.forwarder.circuits),
    routers.map(() => 0),
    20_000,
  )
}

describe('endpoints at two routers of ours', () => {
  it('reach each other over a link: every byte both ways, half closed one way before the other', {
    timeout: MINUTE,
  }, async () => {
    const data = randomBytes(4 * MEGABYTE)
    // The host answers once the client has sent everything, and sends after it.
    const { network, east, west, client } = await linkedEndpoints(async (connection) => {
      const received = await buffer(connection)
      connection.end(Buffer.concat([Buffer.from(digestOf(received)), data]))
    })
    const connection = await client.dial('app')
    expect(await network.ways()).toEqual(['east-west'])
    connection.end(data)
    const answer = await buffer(connection)
    expect(answer.subarray(0, 64).toString()).toBe(digestOf(data))
    expect(digestOf(answer.subarray(64))).toBe(digestOf(data))
    await untilNothingIsLeft(network, east, west)
  })

  it.each([
    ['ends', (connection: Duplex): void => void connection.end('hello')],
    ['is destroyed', (connection: Duplex): void => void connection.write('hello', () => connection.destroy())],
  ] as const)(
    'bring a dialer what is written to a connection that %s as soon as it is there',
    {
      timeout: MINUTE,
    },
    async (_, take) => {
      const { network, east, west, client } = await linkedEndpoints(take)
      for (let round = 0; round < 5; round += 1) {
        const connection = await client.dial('app')
        expect((await buffer(connection)).toString()).toBe('hello')
        // A host that ended has closed its direction alone.
        connection.end()
      }
      await untilNothingIsLeft(network, east, west)
    },
  )

  it('carry many connections at once, none of which gets what another one was sent', { timeout: MINUTE }, async () => {
    const { client } = await linkedEndpoints((connection) => connection.pipe(connection))
    const echoed = await Promise.all(
      Array.from({ length: 30 }, async (_, number) => {
        const data = randomBytes(20_000 + 1000 * number)
        const connection = await client.dial('app')
        connection.end(data)
        return digestOf(await buffer(connection)) === digestOf(data)
      }),
    )
    expect(echoed).toEqual(echoed.map(() => true))
  })

  it('goes on over another router when the link is lost in the middle', { timeout: MINUTE }, async () => {
    const data = randomBytes(8 * MEGABYTE)
    const { network, east, west, client } = await linkedEndpoints((connection) => connection.pipe(connection))
    const middle = await network.own('middle', { listen: '127.0.0.1:0', linkGroups: ['nobody', 'default'] })
    await until(async () => (await network.links()).filter((link) => link.includes('middle')).length, 2)
    await network.costOf('middle', 200_000)
    const connection = await client.dial('app')
    const received = buffer(connection)
    // The way is looked at before all is sent: a circuit that is done has none.
    connection.write(data.subarray(0, MEGABYTE))
    await until(() => network.ways(), ['east-west'])
    connection.end(data.subarray(MEGABYTE))
    // The link is lost, and again each time that it is dialed anew.
    const cut = setInterval(() => {
      for (const link of west.router.links.all) if (link.facts.peerId === east.id) link.close()
    }, 50)
    onTestFinished(() => clearInterval(cut))
    expect(digestOf(await received)).toBe(digestOf(data))
    clearInterval(cut)
    await until(async () => middle.router.links.all.length, 2)
  })

  it('slow readers are slowed by windows: what waits at routers stays within bounds', { timeout: MINUTE }, async () => {
    let hosted: Duplex | undefined
    const { east, west, client } = await linkedEndpoints((connection) => {
      hosted = connection
      connection.pause()
    })
    const connection = await client.dial('app')
    const before = process.memoryUsage()
    let written = 0
    const piece = randomBytes(MEGABYTE)
    const isFull = () =>
      new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(true), 1500)
        connection.write(piece, () => {
          clearTimeout(timer)
          resolve(false)
        })
      })
    while (written < 100 && !(await isFull())) written += 1
    // Windows, queues and sockets of four parties: nowhere near what was to be sent.
    expect(written).toBeLessThan(60)
    const { arrayBuffers, external } = process.memoryUsage()
    expect(arrayBuffers + external - before.arrayBuffers - before.external).toBeLessThan(150 * MEGABYTE)
    hosted?.resume()
    await until(async () => connection.writableLength, 0, 20_000)
    connection.destroy()
    await until(async () => east.router.forwarder.circuits + west.router.forwarder.circuits, 0, 20_000)
  })

  it('may end what they have begun when a router is asked to stop, and begin nothing over it', {
    timeout: MINUTE,
  }, async () => {
    const { west, client } = await linkedEndpoints((connection) => connection.pipe(connection))
    const connection = await client.dial('app')
    const first = new Promise((resolve) => connection.once('data', resolve))
    connection.write('before')
    await first
    const closed = west.close({ graceMs: 20_000 })
    await expect(client.dial('app')).rejects.toThrow()
    const data = randomBytes(200_000)
    connection.end(data)
    expect(digestOf(await buffer(connection))).toBe(digestOf(data))
    await closed
  })

  it('hear of it when the router of the other one ends', { timeout: MINUTE }, async () => {
    const { west, client } = await linkedEndpoints((connection) => connection.pipe(connection))
    const connection = await client.dial('app')
    const ended = new Promise((resolve) => connection.once('close', resolve))
    connection.on('error', () => undefined)
    connection.write('hello')
    connection.resume()
    await west.close()
    await ended
  })
})
