import { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
// Internals: when a group reports that its peer has read is seen at the group alone.
import { ChannelGroup } from '../../adapters/network/channel/channel-group.ts'
import { ChannelSocket } from '../../adapters/network/channel/channel-socket.ts'
import { EDGE_TYPE, edgeMessage } from '../../adapters/network/channel/edge-messages.ts'

const FRAME = { headers: 65_536, body: 4 * 1024 * 1024 }
const LIMITS = {
  frame: FRAME,
  outgoing: { bytes: 16 * 1024 * 1024, stallMs: 60_000, carriesCircuits: true },
  rate: { perSecond: 1e6, burst: 1e6 },
}
const NOBODY = { onMessage: () => undefined, onClose: () => undefined }
const PIECE = 100_000

/** A socket that takes a write over in a later turn, as TLS does, and none before `read` is called. */
function slowSocket() {
  let isRead = false
  let next: (() => void) | undefined
  const write = (done: () => void) => {
    if (isRead) setImmediate(done)
    else next = done
  }
  const socket = new Duplex({
    writableHighWaterMark: 65_536,
    read: () => undefined,
    write: (_bytes, _encoding, done) => write(done),
    writev: (_chunks, done) => write(done),
  })
  const read = () => {
    isRead = true
    next?.()
  }
  return { socket, read }
}

/** A group of two sockets, for the first of which 3 MB wait. */
function groupWithFullSocket() {
  const [first, second] = [slowSocket(), slowSocket()]
  const group = new ChannelGroup(2)
  for (const { socket } of [first, second]) group.add(new ChannelSocket(socket, LIMITS, FRAME, NOBODY), 'data')
  const reports = { drains: 0 }
  const onDrain = () => {
    reports.drains += 1
  }
  group.listen({ ...NOBODY, onDrain })
  const send = (connection: number, bytes: number) =>
    group.send({ ...edgeMessage(EDGE_TYPE.data, connection, [], new Uint8Array(bytes)), sequence: 1 }, 'data')
  for (let count = 0; count < 30; count += 1) send(0, PIECE)
  return { group, first, second, reports, send }
}

it('a group reports that its peer has read, whatever size the last piece had', async () => {
  const { group, first, reports } = groupWithFullSocket()
  await sleep(20)
  expect(reports.drains).toBe(0)
  first.read()
  await expect.poll(() => group.queuedBytes).toBe(0)
  expect(reports.drains).toBe(1)
})

it('a group reports that its peer has read while a little is sent over another socket', async () => {
  const { first, reports, send } = groupWithFullSocket()
  send(1, 100)
  await sleep(20)
  first.read()
  await expect.poll(() => reports.drains).toBe(1)
})

it('a group reports that nothing waits once the socket is closed for which it waited', async () => {
  const { first, reports } = groupWithFullSocket()
  await sleep(20)
  first.socket.destroy()
  await expect.poll(() => reports.drains).toBe(1)
})
