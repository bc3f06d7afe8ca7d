import { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
// Internals: how often a socket is written to is seen at the socket alone.
import { Outgoing } from '../../adapters/network/channel/outgoing.ts'

const FRAMES = 4

/** How often a socket is written to when frames are sent in one turn of the event loop, each by a piece of work of its own. */
async function writesOf(gathersTurn: boolean): Promise<number> {
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
  const outgoing = new Outgoing(socket, { bytes: 1_000_000, stallMs: 10_000, gathersTurn }, listener)
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
