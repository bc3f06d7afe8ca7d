import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { channelPair } from '../../adapters/network/channel/channel-pair.ts'
import { processTimer } from '../../adapters/network/channel/conversation.ts'
import { EDGE_HEADER, EDGE_TYPE } from '../../adapters/network/channel/edge-messages.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
import { boolHeader, readUint32, textBytes, uint32Header } from '../../adapters/network/channel/header-values.ts'
import { RouterChannel } from '../../adapters/network/sdk/routers/router-channel.ts'
import type { RouterBind } from '../../adapters/network/sdk/routers/router-requests.ts'
import type { ServiceConnection } from '../../adapters/network/sdk/service-connection.ts'

/** A router that admits everybody and says then what a test wants. */
async function connected({ announces = false } = {}) {
  const [own, theirs] = channelPair()
  const heard: Frame[] = []
  let answer: (frame: Frame) => void = () => undefined
  theirs.listen({
    onMessage: (frame) => {
      heard.push(frame)
      if (frame.contentType === EDGE_TYPE.hello)
        reply(frame, EDGE_TYPE.result, [
          [EDGE_HEADER.isAccepted, boolHeader(true)],
          [EDGE_HEADER.supportsBindSuccess, boolHeader(announces)],
        ])
      else answer(frame)
    },
    onClose: () => undefined,
  })
  const send = (contentType: number, headers: Iterable<readonly [number, Uint8Array]>, body?: Uint8Array) =>
    theirs.send({ contentType, sequence: 1, headers: new Map(headers), body: body === undefined ? [] : [body] })
  const reply = (
    { sequence }: Frame,
    contentType: number,
    headers: readonly (readonly [number, Uint8Array])[] = [],
    body?: Uint8Array,
  ) => send(contentType, [[EDGE_HEADER.replyFor, uint32Header(sequence)], ...headers], body)
  const hello = { apiSessionToken: 'token', identityId: 'me' }
  const channel = await RouterChannel.open(own, hello, {
    timer: processTimer,
    onClose: () => undefined,
    now: () => performance.now(),
  })
  const answerBy = (next: (frame: Frame) => void) => {
    answer = next
  }
  return { channel, heard, send, reply, answerBy, theirs }
}

const DIAL = {
  ...{ service: 'wiki', sessionToken: 'session', isEncrypted: false, callerName: 'me', timeoutMs: 2000 },
}

const BIND: RouterBind = {
  ...{ service: 'wiki', sessionToken: 'session', keys: undefined, listenerId: 'listener', timeoutMs: 2000 },
  judge: () => undefined,
  hasRoom: () => true,
  accept: () => undefined,
  onEnd: () => undefined,
}

const header = fc.tuple(
  fc.constantFrom(...Object.values(EDGE_HEADER)),
  fc.oneof(fc.uint8Array({ maxLength: 12 }), fc.nat(5).map(uint32Header)),
)
const message = fc.record({
  contentType: fc.constantFrom(...Object.values(EDGE_TYPE)),
  headers: fc.array(header, { maxLength: 6 }),
  body: fc.uint8Array({ maxLength: 60 }),
})

describe('a router that says what it likes', () => {
  it('ends no program, and reaches no other connection than the one that it names', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { maxLength: 30, size: 'max' }),
        fc.boolean(),
        async (messages, isEncrypted) => {
          const { channel, send, reply, answerBy } = await connected()
          answerBy((frame) => {
            if (frame.contentType !== EDGE_TYPE.connect && frame.contentType !== EDGE_TYPE.bind) return
            const id = readUint32(frame.headers, EDGE_HEADER.connection) ?? 0
            const key = new Uint8Array(32).fill(9)
            reply(frame, EDGE_TYPE.stateConnected, [
              [EDGE_HEADER.connection, uint32Header(id)],
              [EDGE_HEADER.publicKey, key],
            ])
          })
          const accepted: ServiceConnection[] = []
          await channel.bind({
            ...{ service: 'wiki', sessionToken: 'session', keys: undefined, listenerId: 'x', timeoutMs: 2000 },
            judge: () => undefined,
            hasRoom: () => true,
            accept: (connection) => accepted.push(connection),
            onEnd: () => undefined,
          })
          const connection = await channel.dial({ ...DIAL, isEncrypted })
          connection.on('error', () => undefined)
          connection.resume()
          for (const { contentType, headers, body } of messages) send(contentType, headers, body)
          await new Promise((resolve) => setTimeout(resolve, 1))
          for (const one of accepted) expect(one.caller).toBeDefined()
          channel.close()
        },
      ),
      { numRuns: 150 },
    )
  }, 60_000)

  it.each([
    ['nothing', undefined, 'TIMED_OUT'],
    ['a number that is no session any more', [[EDGE_HEADER.errorCode, uint32Header(3)]], 'ACCESS_DENIED'],
    ['that posture fails', [[EDGE_HEADER.errorCode, uint32Header(15)]], 'POSTURE_FAILED'],
    ['an error that is no JSON', [[EDGE_HEADER.error, textBytes('{')]], 'ACCESS_DENIED'],
    ['an error with other members', [[EDGE_HEADER.error, textBytes('{"code":"x","message":3}')]], 'ACCESS_DENIED'],
  ] as const)('is understood when it answers a dial by %s', async (_, headers, code) => {
    const { channel, reply, answerBy } = await connected()
    answerBy((frame) => {
      if (headers !== undefined) reply(frame, EDGE_TYPE.stateClosed, headers)
    })
    await expect(channel.dial({ ...DIAL, timeoutMs: 100 })).rejects.toMatchObject({ code })
    channel.close()
  })

  it.each([
    ['refuses it', 'ACCESS_DENIED'],
    ['closes the channel', 'CONNECTION_LOST'],
  ] as const)('is no host’s router when it answers a bind and then %s', async (what, code) => {
    const { channel, theirs, reply, send, answerBy } = await connected({ announces: true })
    answerBy((frame) => {
      const id = [EDGE_HEADER.connection, uint32Header(readUint32(frame.headers, EDGE_HEADER.connection) ?? 0)] as const
      reply(frame, EDGE_TYPE.stateConnected, [id])
      if (what === 'refuses it') send(EDGE_TYPE.stateClosed, [id, [EDGE_HEADER.errorCode, uint32Header(3)]])
      else theirs.close()
    })
    const ends: unknown[] = []
    const bound = channel.bind({
      ...{ service: 'wiki', sessionToken: 'session', keys: undefined, listenerId: 'x', timeoutMs: 2000 },
      judge: () => undefined,
      hasRoom: () => true,
      accept: () => undefined,
      onEnd: (failure) => ends.push(failure),
    })
    await expect(bound).rejects.toMatchObject({ code })
    expect(ends).toEqual([])
    channel.close()
  })

  it('gives a dialer what comes right behind its answer, and the end behind that', async () => {
    const { channel, reply, send, answerBy } = await connected()
    answerBy((frame) => {
      const id = [EDGE_HEADER.connection, uint32Header(readUint32(frame.headers, EDGE_HEADER.connection) ?? 0)] as const
      reply(frame, EDGE_TYPE.stateConnected, [id])
      send(EDGE_TYPE.data, [id], Buffer.from('hello'))
      send(EDGE_TYPE.stateClosed, [id])
    })
    expect(await text(await channel.dial(DIAL))).toBe('hello')
    channel.close()
  })

  it('does not get a connection that is to be encrypted without a key of the other end', async () => {
    const { channel, reply, answerBy } = await connected()
    answerBy((frame) => reply(frame, EDGE_TYPE.stateConnected))
    await expect(channel.dial({ ...DIAL, isEncrypted: true })).rejects.toMatchObject({ code: 'NO_PEER_KEY' })
    channel.close()
  })

  it('is not read from while a program does not read', async () => {
    const { channel, reply, answerBy, send, theirs } = await connected()
    answerBy((frame) => {
      if (frame.contentType === EDGE_TYPE.connect) reply(frame, EDGE_TYPE.stateConnected)
    })
    const connection = await channel.dial(DIAL)
    for (let sent = 0; sent < 200; sent += 1) {
      send(EDGE_TYPE.data, [[EDGE_HEADER.connection, uint32Header(1)]], new Uint8Array(65_536))
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
    // A megabyte and one message at this end; the rest waits at the router.
    expect(connection.readableLength).toBeLessThan(1_200_000)
    expect(theirs.queuedBytes).toBeGreaterThan(11_000_000)
    expect(channel.isHeld).toBe(true)
    let read = 0
    for await (const chunk of connection) {
      read += chunk.length
      if (read === 200 * 65_536) break
    }
    expect(theirs.queuedBytes).toBe(0)
    channel.close()
  })

  it('hosts nothing where it answers a bind too late', async () => {
    const { channel, heard } = await connected()
    await expect(channel.bind({ ...BIND, timeoutMs: 20 })).rejects.toMatchObject({ code: 'TIMED_OUT' })
    await expect.poll(() => heard.map(({ contentType }) => contentType)).toContain(EDGE_TYPE.unbind)
    expect(channel.isIdle).toBe(true)
  })

  it('brings no caller to a host that was still judging when it gave the dial up', async () => {
    const { channel, heard, send, reply, answerBy } = await connected()
    answerBy((frame) => {
      if (frame.contentType === EDGE_TYPE.bind) reply(frame, EDGE_TYPE.stateConnected)
    })
    let decide: () => void = () => undefined
    const judged: string[] = []
    const accepted: ServiceConnection[] = []
    await channel.bind({
      ...BIND,
      judge: ({ claimedName }) => {
        judged.push(claimedName)
        return claimedName === 'slow'
          ? new Promise<undefined>((resolve) => (decide = () => resolve(undefined)))
          : undefined
      },
      accept: (connection) => void accepted.push(connection),
    })
    const bindId = readUint32(
      heard.find(({ contentType }) => contentType === EDGE_TYPE.bind)?.headers ?? new Map(),
      1000,
    )
    const dial = (id: number, name: string) =>
      send(EDGE_TYPE.dial, [
        [EDGE_HEADER.connection, uint32Header(bindId ?? 0)],
        [EDGE_HEADER.assignedConnection, uint32Header(id)],
        [EDGE_HEADER.callerName, textBytes(name)],
      ])
    dial(0x80_00_00_01, 'slow')
    await expect.poll(() => judged).toEqual(['slow'])
    send(EDGE_TYPE.stateClosed, [[EDGE_HEADER.connection, uint32Header(0x80_00_00_01)]])
    dial(0x80_00_00_02, 'quick')
    await expect.poll(() => accepted.length).toBe(1)
    decide()
    // A further dial is decided behind it.
    dial(0x80_00_00_03, 'last')
    await expect.poll(() => accepted.map(({ caller }) => caller?.claimedName)).toEqual(['quick', 'last'])
  })
})
