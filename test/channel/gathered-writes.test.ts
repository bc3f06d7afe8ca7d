import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
// Internals: how often a socket is written to, and in which order, is seen at the socket alone.
import { EDGE_HEADER, EDGE_TYPE } from '../../adapters/network/channel/edge-messages.ts'
import { type Frame, FrameReader } from '../../adapters/network/channel/frame.ts'
import { uint32Header } from '../../adapters/network/channel/header-values.ts'
import { Outgoing } from '../../adapters/network/channel/outgoing.ts'

const FRAMES = 4

/** How often a socket is written to when frames are sent in one turn of the event loop, each by a piece of work of its own. */
async function writesOf(carriesCircuits: boolean): Promise<number> {
  let writes = 0
  const socket = new Duplex({
    read: () => undefined,
    write: (_bytes, _encoding, done) => {
      writes += 1
      done()
    },
    writev: (_chunks, done) => {
      writes += 1
      done()
    },
  })
  const listener = { onDrained: () => undefined, onStalled: () => undefined }
  const outgoing = new Outgoing(socket, { bytes: 1_000_000, stallMs: 10_000, carriesCircuits }, listener)
  for (let sequence = 0; sequence < FRAMES; sequence += 1) {
    outgoing.write({ contentType: 1, sequence, headers: new Map(), body: [new Uint8Array(100)] })
    // As between two records of TLS that a socket hands over in one turn.
    await new Promise<void>((resolve) => process.nextTick(resolve))
  }
  await nextTurn()
  await nextTurn()
  socket.destroy()
  return writes
}

it('what follows from all that a peer sent at once leaves in one write, where a channel carries traffic', async () => {
  expect(await writesOf(true)).toBe(1)
})

it('a channel of few messages writes each when the work that sent it is done', async () => {
  expect(await writesOf(false)).toBe(FRAMES)
})

const LIMITS = { bytes: 100_000_000, stallMs: 10_000, carriesCircuits: true }
const LISTENER = { onDrained: () => undefined, onStalled: () => undefined }
const COUNT = 300
const BODY_BYTES = 20_000

/** A frame whose bytes all say its number. */
const filled = (sequence: number): Frame => ({
  ...{ contentType: 1, sequence, headers: new Map() },
  body: [new Uint8Array(BODY_BYTES).fill(sequence % 251)],
})

const isIntact = ({ sequence, body }: Frame) => Buffer.concat(body).every((byte) => byte === sequence % 251)

it('bytes that wait for a slow reader are theirs until they are with the system, however many writes share their room', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const mine = connect(Object(server.address()).port, '127.0.0.1')
  const [theirs]: Socket[] = await accepted
  const outgoing = new Outgoing(mine, LIMITS, LISTENER)
  const reader = new FrameReader({ headers: 1000, body: 1_000_000 })
  const frames: Frame[] = []
  for (let sequence = 0; sequence < COUNT; sequence += 1) {
    outgoing.write(filled(sequence))
    if (sequence % 3 === 0) await nextTurn()
  }
  theirs?.on('data', (bytes: Buffer) => void frames.push(...reader.push(bytes)))
  await expect.poll(() => frames.length, { timeout: 20_000 }).toBe(COUNT)
  expect(frames.filter((frame) => !isIntact(frame))).toEqual([])
  mine.destroy()
  server.close()
})

it('bytes for a stream in this process, which may hand them on as they are, never change', async () => {
  const written: Uint8Array[] = []
  const socket = new Duplex({
    read: () => undefined,
    write: (bytes: Uint8Array, _encoding, done) => {
      written.push(bytes)
      done()
    },
  })
  const outgoing = new Outgoing(socket, LIMITS, LISTENER)
  for (let sequence = 0; sequence < 20; sequence += 1) {
    outgoing.write(filled(sequence))
    await nextTurn()
    await nextTurn()
  }
  const frames = new FrameReader({ headers: 1000, body: 1_000_000 }).push(Buffer.concat(written))
  expect(frames.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 20 }, (_, at) => at))
  expect(frames.every(isIntact)).toBe(true)
  socket.destroy()
})

it('a peer that reads slowly is kept for longer than a stall may take, and given up once it stops', async () => {
  const [stallMs, readMs, most] = [400, 25, 30]
  let writes = 0
  const take = (done: () => void) => {
    writes += 1
    if (writes < most) setTimeout(done, readMs)
  }
  const socket = new Duplex({
    read: () => undefined,
    write: (_bytes, _encoding, done) => take(done),
    writev: (_chunks, done) => take(done),
  })
  let writesBefore: number | undefined
  const onStalled = () => {
    writesBefore ??= writes
  }
  const outgoing = new Outgoing(socket, { ...LIMITS, stallMs }, { ...LISTENER, onStalled })
  for (let sequence = 0; sequence < COUNT; sequence += 1) outgoing.write(filled(sequence))
  await expect.poll(() => writesBefore, { timeout: 20_000 }).toBe(most)
  socket.destroy()
})

/** A socket that takes nothing until it is let, and then everything. */
function lockedSocket() {
  const written: Buffer[] = []
  let goOn: (() => void) | undefined
  let isLocked = true
  const socket = new Duplex({
    highWaterMark: 1,
    read: () => undefined,
    write: (bytes: Uint8Array, _encoding, done) => {
      written.push(Buffer.from(bytes))
      if (isLocked) goOn = done
      else setImmediate(done)
    },
  })
  const unlock = () => {
    isLocked = false
    goOn?.()
  }
  const frames = () => new FrameReader({ headers: 1000, body: 1_000_000 }).push(Buffer.concat(written))
  return { socket, unlock, frames }
}

const ofConnection = (connection: number, sequence: number, bytes: number): Frame => ({
  ...{ contentType: EDGE_TYPE.data, sequence, body: [new Uint8Array(bytes)] },
  headers: new Map([[EDGE_HEADER.connection, uint32Header(connection)]]),
})
const connectionOf = ({ headers }: Frame) => headers.get(EDGE_HEADER.connection)?.[0] ?? 0

/** Sends frames to a peer that reads only when all are sent; answers them as they arrive. */
async function arrivedOf(sent: readonly Frame[]): Promise<readonly Frame[]> {
  const { socket, unlock, frames } = lockedSocket()
  let isDrained = false
  const onDrained = () => {
    isDrained = true
  }
  const outgoing = new Outgoing(socket, LIMITS, { ...LISTENER, onDrained })
  for (const frame of sent) outgoing.write(frame)
  await nextTurn()
  unlock()
  for (let turns = 0; !isDrained && turns < 100_000; turns += 1) await nextTurn()
  socket.destroy()
  return frames()
}

it('messages of a connection keep their order, and all arrive, however many connections there are', async () => {
  const messages = fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 90_000 })), {
    minLength: 20,
    maxLength: 80,
  })
  await fc.assert(
    fc.asyncProperty(messages, async (all) => {
      const sent = all.map(([connection, bytes], sequence) => ofConnection(connection, sequence, bytes))
      const arrived = await arrivedOf(sent)
      for (const connection of [1, 2, 3, 4, 5]) {
        const numbers = (frames: readonly Frame[]) =>
          frames.filter((frame) => connectionOf(frame) === connection).map(({ sequence }) => sequence)
        expect(numbers(arrived)).toEqual(numbers(sent))
      }
    }),
    { numRuns: 40 },
  )
})

it('a message of a quiet connection does not wait behind all of a busy one, nor does an answer', async () => {
  const busy = Array.from({ length: COUNT }, (_, sequence) => ofConnection(1, sequence, BODY_BYTES))
  const answer: Frame = { contentType: EDGE_TYPE.result, sequence: COUNT + 1, headers: new Map(), body: [] }
  const arrived = await arrivedOf([...busy, ofConnection(2, COUNT, 1000), answer])
  const places = [COUNT, COUNT + 1].map((number) => arrived.findIndex(({ sequence }) => sequence === number))
  // 131,072 bytes are next for the socket, and as many with it already.
  expect(Math.max(...places)).toBeLessThan(20)
  expect(arrived).toHaveLength(COUNT + 2)
})

it('connections that send without end get alike', async () => {
  const sent = Array.from({ length: COUNT }, (_, sequence) =>
    ofConnection(sequence < COUNT / 3 ? 1 : 2 + (sequence % 3), sequence, BODY_BYTES),
  )
  const arrived = await arrivedOf(sent)
  const counts = [1, 2, 3, 4].map(
    (connection) => arrived.slice(20, 140).filter((frame) => connectionOf(frame) === connection).length,
  )
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThan(10)
})
