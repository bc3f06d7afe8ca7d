/** A peer that sends more than fits a turn of the event loop has others wait for some of it at a time. */
import { duplexPair } from 'node:stream'
import { expect, it } from 'vitest'
import { ChannelSocket, type SocketLimits } from '../../../adapters/network/channel/channel-socket.ts'
import { encodeFrame, type Frame } from '../../../adapters/network/channel/frame.ts'

const FRAME = { headers: 4096, body: 4096 }
const LIMITS: SocketLimits = {
  frame: FRAME,
  outgoing: { bytes: 1e6, stallMs: 60_000 },
  rate: { perSecond: 1e6, burst: 1e6 },
}
const COUNT = 2000
const MOST_IN_TURN = 128

/** Bytes of frames that are numbered from 0. */
const numbered = () =>
  Buffer.concat(
    Array.from({ length: COUNT }, (_, sequence) =>
      Buffer.concat(encodeFrame({ contentType: 1, sequence, headers: new Map(), body: [] })),
    ),
  )

/** A socket, the order in which its frames came, and how many of them each turn of the event loop had. */
function busySocket() {
  const [mine, theirs] = duplexPair()
  const taken: number[] = []
  /** Frames that were given out between two turns of the event loop. */
  const perTurn: number[] = []
  let [inTurn, isClosed] = [0, false]
  const socket = new ChannelSocket(theirs, LIMITS, FRAME, {
    onMessage: ({ sequence }: Frame) => {
      taken.push(sequence)
      inTurn += 1
    },
    onClose: () => {
      isClosed = true
    },
  })
  const count = () => {
    perTurn.push(inTurn)
    inTurn = 0
    if (!isClosed) setImmediate(count)
  }
  setImmediate(count)
  return { mine, theirs, socket, taken, perTurn, isClosed: () => isClosed }
}

const inOrder = Array.from({ length: COUNT }, (_, sequence) => sequence)

it('frames that arrive at once are given out in order, and others have their turn between them', async () => {
  const { mine, theirs, taken, perTurn } = busySocket()
  mine.write(numbered())
  await expect.poll(() => taken.length, { timeout: 20_000 }).toBe(COUNT)
  expect(taken).toEqual(inOrder)
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(MOST_IN_TURN)
  theirs.destroy()
})

it('a socket that closes meanwhile gives out what it brought before it says so', async () => {
  const { mine, theirs, taken, isClosed } = busySocket()
  mine.write(numbered())
  while (taken.length === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(taken.length).toBeLessThan(COUNT)
  theirs.destroy()
  await expect.poll(isClosed, { timeout: 20_000 }).toBe(true)
  expect(taken).toEqual(inOrder.slice(0, taken.length))
  expect(taken.length).toBe(COUNT)
})

it('one that is paused meanwhile gives out nothing until it is resumed', async () => {
  const { mine, theirs, socket, taken } = busySocket()
  mine.write(numbered())
  while (taken.length === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(taken.length).toBeLessThan(COUNT)
  socket.pause()
  const before = taken.length
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(taken.length).toBe(before)
  socket.resume()
  await expect.poll(() => taken.length, { timeout: 20_000 }).toBe(COUNT)
  expect(taken).toEqual(inOrder)
  theirs.destroy()
})
