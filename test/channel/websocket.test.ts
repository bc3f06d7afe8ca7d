import { duplexPair } from 'node:stream'
import { expect, it, vi } from 'vitest'
import { ChannelSocket } from '../../adapters/network/channel/channel-socket.ts'
import { encodeFrame, type Frame } from '../../adapters/network/channel/frame.ts'
import { WebSocketStream } from '../../adapters/network/channel/websocket-stream.ts'
import { message } from '../support/operator-client.ts'

const FRAME_LIMITS = { headers: 1024, body: 2 ** 24 }
const frameOf = (bytes: number): Frame => ({
  contentType: 1,
  sequence: 1,
  headers: new Map(),
  body: [new Uint8Array(bytes)],
})

/** A channel in a websocket, and the raw bytes of its client. */
function connected(outgoing = { bytes: 2 ** 24, stallMs: 10_000 }) {
  const [client, server] = duplexPair()
  const [received, troubles]: [Frame[], string[]] = [[], []]
  const onClose = vi.fn()
  const limits = { frame: FRAME_LIMITS, rate: { perSecond: 1e6, burst: 1e6 }, outgoing }
  const channel = new ChannelSocket(new WebSocketStream(server, new Uint8Array()), limits, FRAME_LIMITS, {
    onMessage: (frame) => void received.push(frame),
    onTrouble: (what) => void troubles.push(what),
    onClose,
  })
  return { client, channel, received, troubles, onClose }
}

it.each([0, 105, 106, 65_515, 65_516, 1_000_000])('a frame of %i bytes goes out as one message', async (bytes) => {
  const { client, channel } = connected()
  const arrived: Buffer[] = []
  client.on('data', (chunk: Buffer) => arrived.push(chunk))
  channel.send(frameOf(bytes))
  const size = bytes + 20
  const header = size < 126 ? 2 : size < 65_536 ? 4 : 10
  await vi.waitFor(() => expect(Buffer.concat(arrived).length).toBe(header + size))
  const all = Buffer.concat(arrived)
  expect(all[0]).toBe(0x82)
  const length = header === 2 ? (all[1] ?? 0) : header === 4 ? all.readUInt16BE(2) : Number(all.readBigUInt64BE(2))
  expect(length).toBe(size)
})

it('frames arrive however a client cuts its messages, byte by byte too', async () => {
  const { client, received } = connected()
  const frame = Buffer.from('0306090c40270000050000000000000002000000abcd', 'hex')
  const bytes = Buffer.concat([message(frame.subarray(0, 3), 0x02), message(frame.subarray(3), 0x80), message(frame)])
  for (const byte of bytes) client.write(Buffer.from([byte]))
  await vi.waitFor(() => expect(received.map(({ contentType }) => contentType)).toEqual([10_048, 10_048]))
})

it('a client that reads nothing is given up, by time and by what waits for it', async () => {
  const slow = connected({ bytes: 2 ** 24, stallMs: 20 })
  slow.channel.send(frameOf(2 ** 20))
  await vi.waitFor(() => expect(slow.troubles).toEqual(['slow-reader']))
  expect(slow.onClose).toHaveBeenCalledOnce()
  const flooded = connected({ bytes: 1000, stallMs: 60_000 })
  for (let sent = 0; sent < 200; sent += 1) flooded.channel.send(frameOf(2000))
  await vi.waitFor(() => expect(flooded.troubles).toEqual(['slow-reader']))
})

it('a client that closes is answered, and the channel is over', async () => {
  const { client, onClose } = connected()
  client.resume()
  client.write(message(Buffer.from([3, 0xe8]), 0x88))
  await vi.waitFor(() => expect(onClose).toHaveBeenCalledOnce())
})

it('a client that is not read for minutes is no silent client', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  try {
    const { client, channel, received, onClose } = connected()
    channel.pause()
    client.resume()
    const frame = Buffer.concat(encodeFrame(frameOf(100_000)))
    for (let sent = 0; sent < 4; sent += 1) client.write(message(frame))
    // As much as waits at each of the streams is on the way, and the rest waits at the client.
    await vi.waitFor(() => expect(client.writableLength).toBeGreaterThan(100_000))
    await vi.advanceTimersByTimeAsync(300_000)
    expect(onClose).not.toHaveBeenCalled()
    channel.resume()
    await vi.waitFor(() => expect(received.length).toBe(4))
    await vi.advanceTimersByTimeAsync(90_000)
    expect(onClose).toHaveBeenCalledOnce()
  } finally {
    vi.useRealTimers()
  }
})
