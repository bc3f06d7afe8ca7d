import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { channelPair } from '../../adapters/network/channel/channel-pair.ts'
import {
  CIRCUIT_HEADER,
  EDGE_HEADER,
  EDGE_TYPE,
  edgeMessage,
  textIn,
} from '../../adapters/network/channel/edge-messages.ts'
import { encodeFrame } from '../../adapters/network/channel/frame.ts'
import { readText, textBytes, uint32Header } from '../../adapters/network/channel/header-values.ts'
import { type EdgeWorld, edgeWorld, type PlayedEndpoint, until } from '../support/edge-world.ts'
import { usedBytes } from '../support/used-bytes.ts'

const MIB = 1024 * 1024
const ROUNDS = Number(process.env.PORTCULLIS_FUZZ_FRAMES ?? 20_000)
/** Fewer, because every tenth ends its connection. */
const CHANGED = Number(process.env.PORTCULLIS_FUZZ_FRAMES ?? 4000)

async function hostAndClient(world: EdgeWorld) {
  const host = await world.connect(await world.device('host', ['hosts']))
  const client = await world.connect(await world.device('client', ['clients']))
  host.serve((connection, body, flags) => host.data(connection, body, flags))
  await host.host(1)
  return { host, client }
}

const dataTo = (endpoint: PlayedEndpoint) =>
  endpoint.heard.filter(({ contentType }) => contentType === EDGE_TYPE.data || contentType === EDGE_TYPE.payload)

/** Others are served as before. */
async function expectServed(client: PlayedEndpoint, connection: number): Promise<void> {
  const before = dataTo(client).length
  expect((await client.dial(connection)).contentType).toBe(EDGE_TYPE.stateConnected)
  client.data(connection, Buffer.from('still here'))
  await until(() => dataTo(client).length > before)
}

describe('an edge router under attack', () => {
  it('keeps 256 sockets of one address that say nothing, and lets an endpoint in beside them', async () => {
    const world = await edgeWorld()
    let closed = 0
    for (let count = 0; count < 600; count += 1) {
      const [mine, theirs] = channelPair()
      mine.listen({ onMessage: () => undefined, onClose: () => (closed += 1) })
      world.router.greet(theirs, { chain: [], remoteAddress: '192.0.2.1' })
    }
    await until(() => closed === 600 - 256)
    const client = await world.connect(await world.device('client', []))
    expect([client.isAdmitted, textIn(client.greeting)]).toEqual([true, ''])
  })

  it('refuses more than a thousand dials at a time, whose host never answers, and serves others meanwhile', async () => {
    const world = await edgeWorld()
    const { host, client } = await hostAndClient(world)
    const silent = await world.connect(host.device)
    const flood = await world.connect(client.device)
    const { token } = await client.device.dial('wiki')
    host.onMessage(() => undefined)
    const refused: string[] = []
    for (let id = 1; id <= 1100; id += 1) {
      void flood.ask(edgeMessage(EDGE_TYPE.connect, id, [], Buffer.from(token))).then(
        (answer) => void refused.push(textIn(answer)),
        () => undefined,
      )
    }
    await until(() => refused.filter((text) => text === 'too many connections').length === 100)
    host.serve((connection, body) => host.data(connection, body))
    await expectServed(client, 1)
    expect(silent.isClosed).toBe(false)
  }, 30_000)

  it('gives nobody the data of others: ids of connections and circuits mean those of the channel alone', async () => {
    const world = await edgeWorld()
    const { host, client } = await hostAndClient(world)
    const dialed = await client.dial(5)
    const circuit = readText(dialed.headers, EDGE_HEADER.circuit) ?? ''
    const stranger = await world.connect(await world.device('stranger', []))
    stranger.data(5, Buffer.from('not yours'))
    for (const type of [EDGE_TYPE.payload, EDGE_TYPE.acknowledgement, EDGE_TYPE.circuitControl]) {
      const headers: [number, Uint8Array][] = [
        [CIRCUIT_HEADER.circuit, textBytes(circuit)],
        [CIRCUIT_HEADER.sequence, new Uint8Array(8)],
      ]
      stranger.send(edgeMessage(type, 5, headers, Buffer.from('not yours')))
    }
    stranger.send(edgeMessage(EDGE_TYPE.circuitClose, 5, [], Buffer.from(circuit)))
    stranger.send(edgeMessage(EDGE_TYPE.stateClosed, 5))
    client.data(5, Buffer.from('mine'))
    await until(() => dataTo(client).length === 1)
    expect(dataTo(host).map((message) => textIn(message))).toEqual(['mine'])
  })

  it('takes no token again whose session is over, none of another kind, and none of another client', async () => {
    const world = await edgeWorld()
    const { client } = await hostAndClient(world)
    const [thief, { token }] = [
      await world.connect(await world.device('thief', ['clients'])),
      await client.device.dial('wiki'),
    ]
    const stolen = await thief.ask(edgeMessage(EDGE_TYPE.connect, 1, [], Buffer.from(token)))
    const bound = await client.ask(edgeMessage(EDGE_TYPE.bind, 1, [], Buffer.from(token)))
    expect([stolen, bound].map(({ contentType }) => contentType)).toEqual([
      EDGE_TYPE.stateClosed,
      EDGE_TYPE.stateClosed,
    ])
    const { token: apiToken } = (await client.device.call('GET /current-api-session')).data
    const updated = await thief.ask({
      contentType: EDGE_TYPE.updateToken,
      headers: new Map(),
      body: [Buffer.from(apiToken)],
    })
    expect(updated.contentType).toBe(EDGE_TYPE.tokenNotUpdated)
    await until(() => thief.isClosed)
    await client.device.call('DELETE /current-api-session')
    await until(() => client.isClosed)
    const again = world.connect(client.device, { token: apiToken })
    await world.controller.elapse(6000)
    expect(textIn((await again).greeting)).toBe('the api session is not known')
  })

  it('keeps memory flat for who does not read: who sends is slowed down, and others are served', async () => {
    const world = await edgeWorld()
    const { host, client } = await hostAndClient(world)
    await client.dial(5)
    const connection = 0x80_00_00_00
    client.channel.pause()
    const piece = new Uint8Array(MIB)
    for (let sent = 0; sent < 64; sent += 1) host.data(connection, piece)
    await new Promise((resolve) => setTimeout(resolve, 100))
    // Everything beyond a few MiB waits at the host, which TCP slows down.
    expect(host.channel.queuedBytes).toBeGreaterThan(58 * MIB)
    const other = await world.connect(client.device)
    expect(other.isAdmitted).toBe(true)
    client.channel.resume()
    await until(() => dataTo(client).length === 64)
  })

  it('takes a message of 16 MiB whole, as programs send that write it at once, and closes the socket of a longer one', async () => {
    const world = await edgeWorld()
    const { host } = await hostAndClient(world)
    const writer = await world.device('writer', ['clients'])
    const arrived: number[] = []
    host.serve((_connection, body) => arrived.push(body.length))
    const { token: apiToken } = (await writer.call('GET /current-api-session')).data
    const [mine] = await admittedBytes(world, { device: writer }, apiToken)
    const send = (sequence: number, message: ReturnType<typeof edgeMessage>) =>
      mine.write(Buffer.concat(encodeFrame({ ...message, sequence })))
    const { token } = await writer.dial('wiki')
    send(1, edgeMessage(EDGE_TYPE.connect, 1, [], Buffer.from(token)))
    await once(mine, 'data')
    send(2, edgeMessage(EDGE_TYPE.data, 1, [], new Uint8Array(16 * MIB)))
    await until(() => arrived.length > 0)
    expect(arrived).toEqual([16 * MIB])
    const gone = once(mine, 'close')
    send(3, edgeMessage(EDGE_TYPE.data, 1, [], new Uint8Array(16 * MIB + 1)))
    await gone
    expect(arrived.length).toBe(1)
  })

  it('closes a socket with frames that are none, or that say to be longer than they may', async () => {
    const world = await edgeWorld()
    const tooLong = Buffer.alloc(20)
    tooLong.set([3, 6, 9, 12])
    tooLong.writeUInt32LE(0xff_ff_ff_ff, 16)
    for (const bytes of [Buffer.from('GET / HTTP/1.1\r\n\r\nand more'), tooLong]) {
      const [mine, theirs] = streamPair()
      world.router.accept(theirs, { chain: [], remoteAddress: undefined })
      const gone = new Promise((resolve) => mine.once('close', resolve))
      mine.resume().write(bytes)
      await gone
    }
  })

  it('goes on after any frames that an endpoint may make up', async () => {
    const world = await edgeWorld()
    const { client } = await hostAndClient(world)
    const types = Object.values(EDGE_TYPE).filter((type) => type !== EDGE_TYPE.updateToken)
    const keys = [...Object.values(EDGE_HEADER), ...Object.values(CIRCUIT_HEADER)]
    const random = generator(7)
    let attacker = await world.connect(client.device)
    for (let round = 0; round < ROUNDS; round += 1) {
      const headers = new Map<number, Uint8Array>()
      for (let count = random(6); count > 0; count -= 1) {
        const key = keys[random(keys.length)] ?? 0
        headers.set(key, random(2) === 0 ? uint32Header(random(4)) : new Uint8Array(random(40)).fill(random(256)))
      }
      const contentType = random(20) === 0 ? random(70_000) : (types[random(types.length)] ?? 0)
      attacker.channel.send({ contentType, sequence: random(100), headers, body: [new Uint8Array(random(60))] })
      if (round % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 0))
      if (attacker.isClosed) attacker = await world.connect(client.device)
    }
    await expectServed(client, 1)
  }, 120_000)

  it('goes on after frames whose bytes were changed, in memory that stays flat', async () => {
    const world = await edgeWorld()
    const { client } = await hostAndClient(world)
    // A token that is none ends the channel, and nothing more is read from it.
    const types = Object.values(EDGE_TYPE).filter((type) => type !== EDGE_TYPE.updateToken)
    const keys = [...Object.values(EDGE_HEADER), ...Object.values(CIRCUIT_HEADER)]
    const random = generator(11)
    let opened = 1
    const { token } = (await client.device.call('GET /current-api-session')).data
    let [attacker, taken] = await admittedBytes(world, client, token)
    let before = 0
    for (let round = 0; round < CHANGED; round += 1) {
      const headers = new Map([[keys[random(keys.length)] ?? 0, new Uint8Array(random(20)).fill(random(256))]])
      const contentType = types[random(types.length)] ?? 0
      const frame = { contentType, sequence: random(100), headers, body: [new Uint8Array(random(60))] }
      const bytes = Buffer.concat(encodeFrame(frame))
      // Anywhere in the body, the headers and their lengths, and now and then in the prefix, of which nothing can be read any more.
      const first = random(200) === 0 ? 0 : 20
      bytes[first + random(bytes.length - first)] = random(256)
      attacker.write(bytes)
      // The router reads all of it, however long it makes who floods it wait.
      if (round % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
      await until(() => taken.destroyed || taken.readableLength === 0)
      if (taken.destroyed) {
        ;[attacker, taken] = await admittedBytes(world, client, token)
        opened += 1
      }
      // Memory that is loaded and compiled at first stays.
      if (round === Math.floor(CHANGED / 4)) before = usedBytes()
    }
    const grownKb = (usedBytes() - before) / 1024
    console.log(`${CHANGED} malformed frames over ${opened} connections; ${grownKb.toFixed(0)} kB more memory`)
    expect(grownKb).toBeLessThan(16 * 1024)
    await expectServed(client, 1)
  }, 600_000)
})

/** An endpoint that is let in, as the bytes of its socket. */
async function admittedBytes(
  world: EdgeWorld,
  { device }: Pick<PlayedEndpoint, 'device'>,
  token: string,
): Promise<readonly [Duplex, Duplex]> {
  const [mine, theirs] = streamPair()
  world.router.accept(theirs, { chain: device.connection.clientCertificates ?? [], remoteAddress: '192.0.2.9' })
  const headers = new Map([[EDGE_HEADER.apiSessionToken, textBytes(token)]])
  mine.write(Buffer.concat(encodeFrame({ contentType: EDGE_TYPE.hello, sequence: -1, headers, body: [] })))
  await once(mine, 'data')
  return [mine.resume(), theirs]
}

/** Numbers below a bound, the same in every run. */
function generator(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 0x1_00_00_00_00) * below)
  }
}

/** Two ends of a stream of bytes. */
function streamPair(): readonly [Duplex, Duplex] {
  const make = (other: () => Duplex): Duplex =>
    new Duplex({
      read: () => undefined,
      write: (chunk, _encoding, done) => {
        other().push(chunk)
        done()
      },
      destroy: (error, done) => {
        if (!other().destroyed) setImmediate(() => other().destroy())
        done(error)
      },
    })
  const left: Duplex = make(() => right)
  const right: Duplex = make(() => left)
  return [left, right]
}
