/** The bounds of an edge router that docs/routers.md states, each tried by somebody who goes beyond it. */
import { once } from 'node:events'
import { type Duplex, duplexPair } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import type { Channel } from '../../adapters/network/channel/channel.ts'
import { channelPair } from '../../adapters/network/channel/channel-pair.ts'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage, TRUE, textIn } from '../../adapters/network/channel/edge-messages.ts'
import { encodeFrame, type Frame, FrameReader } from '../../adapters/network/channel/frame.ts'
import { readBool, readUint32, textBytes, uint32Header } from '../../adapters/network/channel/header-values.ts'
import { type EdgeWorld, edgeWorld, type PlayedEndpoint, until } from '../support/edge-world.ts'

const KIB = 1024
const MIB = KIB * KIB

/** The bytes of a message whose header and body have some lengths. */
function bytesOf(contentType: number, headerBytes: number, bodyBytes: number, more: [number, Uint8Array][] = []) {
  const headers = new Map<number, Uint8Array>([...more, [EDGE_HEADER.probe, new Uint8Array(headerBytes)]])
  return Buffer.concat(encodeFrame({ contentType, sequence: 7, headers, body: [new Uint8Array(bodyBytes)] }))
}

/** A socket at the router, on which nothing was said yet. */
function socketAt(world: EdgeWorld, chain: readonly Uint8Array[] = []): { mine: Duplex; isClosed(): boolean } {
  const [mine, theirs] = duplexPair()
  mine.setMaxListeners(0)
  let isClosed = false
  theirs.once('close', () => {
    isClosed = true
    mine.destroy()
  })
  mine.on('error', () => undefined)
  world.router.accept(theirs, { chain, remoteAddress: '192.0.2.7' })
  return { mine, isClosed: () => isClosed }
}

/** A socket at the router whose endpoint is let in. */
async function admitted(world: EdgeWorld, { device }: PlayedEndpoint) {
  const { token } = (await device.call('GET /current-api-session')).data
  const socket = socketAt(world, device.connection.clientCertificates ?? [])
  const headers = new Map([[EDGE_HEADER.apiSessionToken, textBytes(token)]])
  socket.mine.write(Buffer.concat(encodeFrame({ contentType: EDGE_TYPE.hello, sequence: -1, headers, body: [] })))
  await once(socket.mine, 'data')
  return socket
}

/** Whether the router still answers probes on a socket. */
async function answers({ mine }: { mine: Duplex }): Promise<boolean> {
  const reader = new FrameReader({ headers: MIB, body: MIB })
  const heard: Frame[] = []
  mine.on('data', (bytes: Uint8Array) => heard.push(...reader.push(bytes)))
  mine.write(bytesOf(EDGE_TYPE.latency, 8, 0))
  await until(() => mine.destroyed || heard.some(({ contentType }) => contentType === EDGE_TYPE.result))
  return !mine.destroyed
}

describe('a socket that has not said who it is', () => {
  it('has five seconds', async () => {
    const world = await edgeWorld()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const socket = socketAt(world)
      await vi.advanceTimersByTimeAsync(4900)
      expect(socket.isClosed()).toBe(false)
      await vi.advanceTimersByTimeAsync(200)
      expect(socket.isClosed()).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })

  it.each([
    ['headers of 32 kB', 32 * KIB, 0],
    ['a body of 4 kB', 8, 4 * KIB + 1],
  ])('says no more than %s, whatever is to follow', async (_what, headerBytes, bodyBytes) => {
    const socket = socketAt(await edgeWorld())
    // The lengths are enough: nothing of it is kept.
    socket.mine.write(bytesOf(EDGE_TYPE.hello, headerBytes, bodyBytes).subarray(0, 20))
    await until(() => socket.isClosed())
  })

  it('is one of 512, of however many addresses', async () => {
    const world = await edgeWorld()
    const open = new Set<Channel>()
    for (let number = 0; number < 1200; number += 1) {
      const [mine, theirs] = channelPair()
      open.add(mine)
      mine.listen({ onMessage: () => undefined, onClose: () => open.delete(mine) })
      world.router.greet(theirs, { chain: [], remoteAddress: `192.0.${number % 100}.1` })
    }
    await until(() => open.size <= 512)
    expect(open.size).toBe(512)
  })
})

describe('an endpoint that is let in', () => {
  const open = async () => {
    const world = await edgeWorld()
    const host = await world.connect(await world.device('host', ['hosts']))
    const client = await world.connect(await world.device('client', ['clients']))
    return { world, host, client }
  }

  it('sends messages of 16 MiB, and none beyond', async () => {
    const { world, client } = await open()
    const socket = await admitted(world, client)
    const connection: [number, Uint8Array][] = [[EDGE_HEADER.connection, uint32Header(1)]]
    socket.mine.write(bytesOf(EDGE_TYPE.data, 8, 16 * MIB, connection))
    expect(await answers(socket)).toBe(true)
    socket.mine.write(bytesOf(EDGE_TYPE.data, 8, 16 * MIB + 1, connection).subarray(0, 20))
    await until(() => socket.isClosed())
  })

  it('sends headers of 128 KiB, and none beyond', async () => {
    const { world, client } = await open()
    const socket = await admitted(world, client)
    socket.mine.write(bytesOf(EDGE_TYPE.data, 128 * KIB - 8, 0))
    expect(await answers(socket)).toBe(true)
    socket.mine.write(bytesOf(EDGE_TYPE.data, 128 * KIB, 0).subarray(0, 20))
    await until(() => socket.isClosed())
  })

  it('hosts under a thousand ids, and is told so at the next', async () => {
    const { host } = await open()
    const { token } = await host.device.bind('wiki')
    const refused: string[] = []
    let answered = 0
    for (let id = 1; id <= 1010; id += 1) {
      const listener = [EDGE_HEADER.listener, textBytes(`listener ${id}`)] as const
      void host.ask(edgeMessage(EDGE_TYPE.bind, id, [listener], Buffer.from(token))).then(
        (answer) => {
          answered += 1
          refused.push(textIn(answer))
        },
        () => undefined,
      )
    }
    await until(() => refused.filter((text) => text === 'too many binds').length === 10)
    expect(host.isClosed).toBe(false)
    expect(answered).toBeGreaterThanOrEqual(10)
  }, 60_000)

  it('has sixteen sockets of one channel', async () => {
    const { world, client } = await open()
    const { token } = (await client.device.call('GET /current-api-session')).data
    const join = (isFirst: boolean, secret?: Uint8Array) =>
      new Promise<Frame | undefined>((resolve) => {
        const [mine, theirs] = channelPair()
        mine.listen({ onMessage: resolve, onClose: () => resolve(undefined) })
        world.router.greet(theirs, {
          chain: client.device.connection.clientCertificates ?? [],
          remoteAddress: '127.0.0.1',
        })
        const headers = new Map<number, Uint8Array>([
          [EDGE_HEADER.apiSessionToken, textBytes(token)],
          [EDGE_HEADER.connectionId, textBytes('group')],
          [EDGE_HEADER.isGrouped, TRUE],
          [EDGE_HEADER.socketType, textBytes('edge.default')],
          ...(isFirst ? [[EDGE_HEADER.isFirstOfGroup, TRUE] as const] : []),
          ...(secret === undefined ? [] : [[EDGE_HEADER.groupSecret, secret] as const]),
        ])
        mine.send({ contentType: EDGE_TYPE.hello, sequence: -1, headers, body: [] })
      })
    const founder = await join(true)
    const joined: boolean[] = [founder !== undefined]
    for (let number = 1; number < 30; number += 1) {
      const answer = await join(false, founder?.headers.get(EDGE_HEADER.groupSecret))
      joined.push(answer !== undefined && readBool(answer.headers, EDGE_HEADER.isAccepted) === true)
    }
    expect(joined.slice(0, 16).every(Boolean)).toBe(true)
    expect(joined.slice(16).some(Boolean)).toBe(false)
  })

  it('is given up when 16 MiB wait for it, and costs no more than that', async () => {
    const { world, client } = await open()
    const socket = await admitted(world, client)
    socket.mine.pause()
    const probe = bytesOf(EDGE_TYPE.latency, 32 * KIB, 0)
    for (let sent = 0; sent < 4096 && !socket.isClosed(); sent += 1) {
      if (!socket.mine.write(probe))
        await new Promise((resolve) => socket.mine.once('drain', resolve).once('close', resolve))
    }
    await until(() => socket.isClosed())
    expect((await client.ask(edgeMessage(EDGE_TYPE.latency, 0, []))).contentType).toBe(EDGE_TYPE.result)
  }, 60_000)

  it('that hosts sends 1 MiB before its client is there, and then loses that connection alone', async () => {
    const { host, client } = await open()
    await host.host(1)
    host.onMessage((message) => {
      if (message.contentType !== EDGE_TYPE.dial) return
      const assigned = readUint32(message.headers, EDGE_HEADER.assignedConnection) ?? 0
      for (let sent = 0; sent < 5; sent += 1) host.data(assigned, new Uint8Array(MIB / 4 + 1))
      host.reply(message, edgeMessage(EDGE_TYPE.dialSuccess, 1, [], uint32Header(assigned)))
    })
    expect((await client.dial(1)).contentType).toBe(EDGE_TYPE.stateClosed)
    expect(host.isClosed).toBe(false)
    host.serve()
    expect((await client.dial(2)).contentType).toBe(EDGE_TYPE.stateConnected)
  })
})
