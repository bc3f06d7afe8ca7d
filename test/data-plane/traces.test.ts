import { describe, expect, it } from 'vitest'
import { bodyOf, EDGE_HEADER, EDGE_TYPE, edgeMessage, TRUE } from '../../adapters/network/channel/edge-messages.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
import {
  readText,
  readUint32,
  textBytes,
  uint32Header,
  uint64Header,
} from '../../adapters/network/channel/header-values.ts'
import { answerOfEnd, type TraceRoute, writeControl } from '../../adapters/network/channel/trace-routes.ts'
// Internals: values of the wire that routers send and no entry point exports.
import type { ChannelTrace, TraceChannels } from '../../src/control-channel.ts'
import { type EdgeWorld, edgeWorld, type PlayedEndpoint, until } from '../support/edge-world.ts'
import { PlayedPeer, routerUnderTest } from '../support/played-peer.ts'

const WINDOWS: [number, Uint8Array][] = [[EDGE_HEADER.usesXgress, TRUE]]

/** Asks who is some steps away, in the form of connections. */
async function asked(client: PlayedEndpoint, connection: number, hops: number) {
  const headers = [
    [EDGE_HEADER.traceHops, uint32Header(hops)],
    [EDGE_HEADER.traceTimestamp, uint64Header(77n)],
  ] as const
  const answer = await client.ask(edgeMessage(EDGE_TYPE.traceRoute, connection, headers))
  expect(answer.contentType).toBe(EDGE_TYPE.traceRouteAnswer)
  expect(answer.headers.get(EDGE_HEADER.traceTimestamp)?.[0]).toBe(77)
  return told(answer, EDGE_HEADER.traceHops, EDGE_HEADER.traceHopType, EDGE_HEADER.traceHopId)
}

/** The same in the form of circuits, which endpoints use that keep windows. */
async function askedByControl(client: PlayedEndpoint, connection: number, circuitId: string, hops: number) {
  const trace: TraceRoute = { isAnswer: false, circuitId, hops, askedAt: uint64Header(77n), question: undefined }
  const { contentType, headers, body } = writeControl(trace)
  const addressed = new Map(headers).set(EDGE_HEADER.connection, uint32Header(connection))
  const answer = await client.ask({ contentType, headers: addressed, body })
  expect(answer.contentType).toBe(EDGE_TYPE.circuitControl)
  expect(bodyOf(answer)[0]).toBe(2)
  return told(answer, 20, 21, 22)
}

function told({ headers }: Frame, hops: number, type: number, id: number) {
  return [readUint32(headers, hops), readText(headers, type), readText(headers, id)]
}

async function connected(world: EdgeWorld, windowsOf: { readonly client: boolean; readonly host: boolean }) {
  const host = await world.connect(await world.device('host', ['hosts']))
  const client = await world.connect(await world.device('client', ['clients']))
  host.onMessage((message) => {
    const connection = readUint32(message.headers, EDGE_HEADER.connection) ?? 0
    if (message.contentType === EDGE_TYPE.dial) {
      const assigned = message.headers.get(EDGE_HEADER.assignedConnection)
      host.reply(message, edgeMessage(EDGE_TYPE.dialSuccess, connection, [], assigned))
    }
    const answer = answerOfEnd(message, connection, 'the host')
    if (answer !== undefined) host.send(answer)
  })
  await host.host(1, { headers: windowsOf.host ? WINDOWS : [] })
  const answer = await client.dial(5, windowsOf.client ? WINDOWS : [])
  return { client, circuitId: readText(answer.headers, EDGE_HEADER.circuit) ?? '' }
}

describe('who asks for the way of a circuit', () => {
  it.each([
    ['neither end keeps windows', { client: false, host: false }],
    ['the host keeps windows', { client: false, host: true }],
    ['the client keeps windows', { client: true, host: false }],
    ['both keep windows', { client: true, host: true }],
  ] as const)('hears of the router and of the host, where %s', async (_what, windowsOf) => {
    const world = await edgeWorld()
    const { client, circuitId } = await connected(world, windowsOf)
    const router = [0, 'forwarder', world.router.id]
    expect(await asked(client, 5, 1)).toEqual([0, 'xgress/edge', ''])
    expect(await asked(client, 5, 2)).toEqual(router)
    // A router that keeps the windows of its host is a step of its own.
    if (!windowsOf.host) expect(await asked(client, 5, 3)).toEqual([0, 'xgress/edge', ''])
    expect((await asked(client, 5, 1000))[1]).toBe('the host')
    if (!windowsOf.client) return
    expect(await askedByControl(client, 5, circuitId, 1)).toEqual(router)
    expect((await askedByControl(client, 5, circuitId, 1000))[1]).toBe('the host')
  })

  it('hears that nobody is there, and reaches no circuit of others', async () => {
    const { links, forwarder, told } = routerUnderTest()
    const peer = new PlayedPeer(links, 'peer')
    await peer.hello({ linkId: 'link' })
    const trace = { isAnswer: false, circuitId: 'c', hops: 9, askedAt: undefined, question: 3 }
    peer.send({ ...writeControl(trace), sequence: 1 })
    await until(() => peer.received.some(({ contentType }) => contentType === EDGE_TYPE.circuitControl))
    const answer = peer.received.find(({ contentType }) => contentType === EDGE_TYPE.circuitControl)
    expect(
      answer && [...[21, 22, 25].map((key) => readText(answer.headers, key)), readUint32(answer.headers, 24)],
    ).toEqual(['forwarder', 'played', 'the circuit ends here', 3])
    expect(forwarder.circuits).toBe(0)
    expect(told.filter(({ type }) => type === 'fault')).toEqual([])
  })
})

describe('channels that an operator wants to see', () => {
  const request: TraceChannels = {
    ...{ type: 'trace-channels', id: 'q', isOn: true, named: 'all' },
    ...{ routerPattern: '^own$', channelPattern: '^l/link' },
  }

  it('tell each message with its meaning, until they are switched off', async () => {
    const { links, traces, told } = routerUnderTest()
    const peer = new PlayedPeer(links, 'peer')
    await peer.hello({ linkId: 'link-1' })
    const seen = () => told.filter((message): message is ChannelTrace => message.type === 'channel-trace')
    const probe = { contentType: EDGE_TYPE.latency, headers: new Map([[128, textBytes('12345678')]]), body: [] }
    expect(await traces.set('controller', request)).toMatchObject({
      success: true,
      message: 'link-1 l/link-1: traced\n',
    })
    peer.send({ ...probe, sequence: 41 })
    await until(() => seen().length === 2)
    expect(
      seen().map(({ owner, isReceived, contentType, meaning }) => [
        owner,
        isReceived,
        contentType,
        JSON.parse(meaning),
      ]),
    ).toEqual([
      ['link-1', true, EDGE_TYPE.latency, { __decoder__: 'channel', __message__: 'Latency' }],
      ['link-1', false, EDGE_TYPE.result, { __decoder__: 'channel', __message__: 'Result', success: true }],
    ])
    expect(seen().map(({ sequence, replyFor }) => [sequence, replyFor])).toEqual([
      [41, -1],
      [expect.any(Number), 41],
    ])
    expect(await traces.set('controller', { ...request, isOn: false })).toMatchObject({
      message: 'link-1 l/link-1: not traced\n',
    })
    peer.send({ ...probe, sequence: 42 })
    await until(() => peer.received.filter(({ contentType }) => contentType === EDGE_TYPE.result).length >= 2)
    expect(seen().length).toBe(2)
  })

  it('are named as they fit; a pattern that is none, or a long one, is refused', async () => {
    const { links, traces } = routerUnderTest()
    const peer = new PlayedPeer(links, 'peer')
    await peer.hello({ linkId: 'other' })
    expect(await traces.set('c', { ...request, named: 'matching' })).toMatchObject({ success: true, message: '' })
    expect(await traces.set('c', { ...request, named: 'other' })).toMatchObject({
      message: 'other l/other: not traced\n',
    })
    expect(await traces.set('c', { ...request, routerPattern: 'x' })).toMatchObject({
      message: 'other l/other: not traced\n',
    })
    expect(await traces.set('c', { ...request, channelPattern: '(' })).toMatchObject({ success: false })
    expect(await traces.set('c', { ...request, channelPattern: 'x'.repeat(1001) })).toMatchObject({ success: false })
  })

  it('tell no more than an operator reads, however much passes', async () => {
    const { links, traces, told } = routerUnderTest()
    const peer = new PlayedPeer(links, 'peer')
    await peer.hello({ linkId: 'link' })
    await traces.set('controller', request)
    const startedAt = performance.now()
    for (let sent = 0; sent < 20_000; sent += 1) {
      peer.send({ contentType: EDGE_TYPE.acknowledgement, sequence: sent, headers: new Map(), body: [] })
    }
    peer.send({ contentType: EDGE_TYPE.latency, sequence: 20_000, headers: new Map(), body: [] })
    await until(() => peer.received.some(({ headers }) => readUint32(headers, 1) === 20_000))
    const seconds = (performance.now() - startedAt) / 1000
    expect(told.filter(({ type }) => type === 'channel-trace').length).toBeLessThanOrEqual(2000 + 1000 * seconds + 1)
  })
})
