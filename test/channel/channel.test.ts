import { createConnection, createServer, type Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { Channel } from '../../adapters/network/channel/channel.ts'
import { channelPair } from '../../adapters/network/channel/channel-pair.ts'
import { ChannelSocket } from '../../adapters/network/channel/channel-socket.ts'
import { Conversation, NoAnswer } from '../../adapters/network/channel/conversation.ts'
import { encodeFrame, type Frame } from '../../adapters/network/channel/frame.ts'

const FRAME = { headers: 65_536, body: 1024 * 1024 }
const LIMITS = {
  frame: FRAME,
  outgoing: { bytes: 16 * 1024 * 1024, stallMs: 5000 },
  rate: { perSecond: 1e6, burst: 1e6 },
}
const NOBODY = { onMessage: () => undefined, onClose: () => undefined }

async function socketPair(): Promise<readonly [Channel, Channel]> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const dialed = createConnection(port, '127.0.0.1')
  const sockets = [dialed, await accepted] as const
  server.close()
  const [left, right] = sockets.map((socket) => new ChannelSocket(socket, LIMITS, FRAME, NOBODY))
  if (left === undefined || right === undefined) throw new Error('no sockets')
  return [left, right]
}

const message = (sequence: number, body: Uint8Array): Frame => ({
  contentType: 60_786,
  sequence,
  headers: new Map([[1000, Uint8Array.of(1, 0, 0, 0)]]),
  body: body.length === 0 ? [] : [body],
})

const bytesOf = ({ body }: Frame) => Buffer.concat(body).toString('hex')

describe.each([
  ['two ends in one process', async () => channelPair()],
  ['sockets', socketPair],
] as const)('a channel over %s', (_name, open) => {
  it('brings messages in order, whenever the other end pauses', async () => {
    const bodies = fc.array(fc.uint8Array({ maxLength: 100_000 }), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(bodies, fc.nat(10), async (sent, pauseAt) => {
        const [left, right] = await open()
        const arrived: Frame[] = []
        const done = new Promise<void>((resolve) => {
          right.listen({
            onMessage: (frame) => {
              arrived.push(frame)
              if (arrived.length - 1 !== pauseAt) return
              right.pause()
              setTimeout(() => right.resume(), 5)
            },
            onClose: resolve,
          })
        })
        left.listen(NOBODY)
        for (const [index, body] of sent.entries()) left.send(message(index, body))
        left.close()
        await done
        expect(arrived.map(({ sequence }) => sequence)).toEqual(sent.map((_, index) => index))
        expect(arrived.map(bytesOf)).toEqual(sent.map((body) => Buffer.from(body).toString('hex')))
      }),
      { numRuns: 15 },
    )
  })

  it('says what waits for a peer that does not read, and when it has gone out', async () => {
    const [left, right] = await open()
    right.listen(NOBODY)
    right.pause()
    const drained = new Promise<void>((resolve) => left.listen({ ...NOBODY, onDrain: resolve }))
    for (let index = 0; index < 12; index += 1) left.send(message(index, new Uint8Array(1024 * 1024)))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(left.queuedBytes).toBeGreaterThan(1024 * 1024)
    right.resume()
    await drained
    expect(left.queuedBytes).toBe(0)
    left.destroy()
  })

  it('gives an answer to who asked, and everything else to the listener', async () => {
    const [left, right] = await open()
    const heard: number[] = []
    const asking = new Conversation(left, { ...NOBODY, onMessage: ({ contentType }) => heard.push(contentType) })
    const answering: Conversation = new Conversation(right, {
      ...NOBODY,
      onMessage: (frame) => {
        answering.send({ contentType: 7, headers: new Map(), body: [] })
        answering.reply(frame, { contentType: 2, headers: new Map(), body: frame.body })
      },
    })
    const ask = (text: string) =>
      asking.ask({ contentType: 60_783, headers: new Map(), body: [Buffer.from(text)] }, 5000)
    const answers = await Promise.all([ask('one'), ask('two')])
    expect(answers.map((frame) => Buffer.concat(frame.body).toString())).toEqual(['one', 'two'])
    expect(heard).toEqual([7, 7])
    left.destroy()
  })

  it('tells who waits for an answer that the time is over, or the channel', async () => {
    const [left, right] = await open()
    right.listen(NOBODY)
    const asking = new Conversation(left, NOBODY)
    const request = { contentType: 60_783, headers: new Map(), body: [] }
    await expect(asking.ask(request, 10)).rejects.toEqual(new NoAnswer('time-out'))
    const last = asking.ask(request, 5000)
    right.destroy()
    await expect(last).rejects.toEqual(new NoAnswer('closed'))
    await expect(asking.ask(request, 5000)).rejects.toThrow('the channel is closed')
  })

  it('tells a listener that comes behind its end', async () => {
    const [left, right] = await open()
    const over = new Promise<void>((resolve) => right.listen({ ...NOBODY, onClose: resolve }))
    left.destroy()
    await over
    await new Promise<void>((resolve) => right.listen({ ...NOBODY, onClose: resolve }))
  })

  it('brings nothing more once its listener has destroyed it', async () => {
    const [left, right] = await open()
    const heard: number[] = []
    const over = new Promise<void>((resolve) => {
      right.listen({
        onMessage: ({ sequence }) => {
          heard.push(sequence)
          right.destroy()
        },
        onClose: resolve,
      })
    })
    for (const sequence of [1, 2, 3]) left.send(message(sequence, Uint8Array.of(sequence)))
    await over
    expect(heard).toEqual([1])
  })
})

it('a socket that its listener paused stays paused when a flood is over, and one that is resumed waits for that', async () => {
  // Before the socket is made: it reads the clock then.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const [left, own] = duplexPair()
  const right = new ChannelSocket(own, { ...LIMITS, rate: { perSecond: 10, burst: 0 } }, FRAME, NOBODY)
  const [heard, troubles]: [number[], string[]] = [[], []]
  const first = new Promise<void>((resolve) => {
    right.listen({
      ...NOBODY,
      onMessage: ({ sequence }) => {
        heard.push(sequence)
        right.pause()
        resolve()
      },
      onTrouble: (what) => void troubles.push(what),
    })
  })
  try {
    left.write(Buffer.concat([1, 2, 3].flatMap((sequence) => encodeFrame(message(sequence, Uint8Array.of(sequence))))))
    await first
    await vi.advanceTimersByTimeAsync(1000)
    expect([heard, troubles]).toEqual([[1], ['flood']])
    right.resume()
    await vi.waitFor(() => expect(heard).toEqual([1, 2]))
    right.resume()
    await vi.advanceTimersByTimeAsync(1)
    expect(heard).toEqual([1, 2])
  } finally {
    vi.useRealTimers()
  }
  right.destroy()
})

it('a socket gives out nothing while it is paused, also of what came in one piece, and then to who listens by then', async () => {
  const [left, right] = await socketPair()
  const heard: string[] = []
  const first = new Promise<void>((resolve) => {
    right.listen({
      onMessage: ({ sequence }) => {
        heard.push(`first ${sequence}`)
        right.pause()
        resolve()
      },
      onClose: () => undefined,
    })
  })
  // Sent in one go, they arrive in one piece.
  for (const sequence of [1, 2, 3]) left.send(message(sequence, Uint8Array.of(sequence)))
  await first
  const rest = new Promise<void>((resolve) => {
    right.listen({
      onMessage: ({ sequence }) => {
        heard.push(`then ${sequence}`)
        if (sequence === 3) resolve()
      },
      onClose: () => undefined,
    })
  })
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(heard).toEqual(['first 1'])
  right.resume()
  await rest
  expect(heard).toEqual(['first 1', 'then 2', 'then 3'])
  left.destroy()
})
