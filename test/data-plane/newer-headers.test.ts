import { describe, expect, it } from 'vitest'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage, TRUE, textIn } from '../../adapters/network/channel/edge-messages.ts'
import { readUint32, textBytes, uint32Header } from '../../adapters/network/channel/header-values.ts'
import { readMessage, writeFromRouter } from '../../adapters/network/fabric/messages/rows-from-router.ts'
import { readToRouter, writeMessage } from '../../adapters/network/fabric/messages/rows-to-router.ts'
import { edgeWorld, type PlayedEndpoint, until } from '../support/edge-world.ts'

/** Numbers that this version gives to nothing. */
const [OF_DIALER, OF_HOST, OF_ANSWER] = [1090, 1091, 1092] as const
const MOST_BYTES = 16_384

/** A host that binds with one value that is not known here, and answers dials with another. */
async function newerHost(bound: readonly [number, Uint8Array][] = [[OF_HOST, textBytes('bound')]]) {
  const world = await edgeWorld()
  const host = await world.connect(await world.device('host', ['hosts']))
  const dialed: Map<number, Uint8Array>[] = []
  host.onMessage((message) => {
    if (message.contentType !== EDGE_TYPE.dial) return
    dialed.push(new Map(message.headers))
    const connection = readUint32(message.headers, EDGE_HEADER.connection) ?? 0
    const headers = [[OF_ANSWER, textBytes('answered')] as const]
    host.reply(message, edgeMessage(EDGE_TYPE.dialSuccess, connection, headers, uint32Header(76 + dialed.length)))
  })
  await host.host(1, { headers: [...bound], assigns: false })
  const client = await world.connect(await world.device('client', ['clients']))
  return { world, host, client, dialed }
}

const textOf = (headers: ReadonlyMap<number, Uint8Array> | undefined, key: number) =>
  Buffer.from(headers?.get(key) ?? []).toString()
const closed = ({ heard }: PlayedEndpoint) => heard.filter(({ contentType }) => contentType === EDGE_TYPE.stateClosed)

describe('named values of a later version of the edge', () => {
  it('pass from the dialer to the host, and from the host to the dialer, as they are', async () => {
    const { client, dialed } = await newerHost()
    const answer = await client.dial(1, [[OF_DIALER, textBytes('dialed')]])
    expect(answer.contentType).toBe(EDGE_TYPE.stateConnected)
    expect(textOf(dialed[0], OF_DIALER)).toBe('dialed')
    expect([textOf(answer.headers, OF_HOST), textOf(answer.headers, OF_ANSWER)]).toEqual(['bound', 'answered'])
  })

  it('leave out those that are known, and stay with the router', async () => {
    const { client, dialed } = await newerHost()
    const secret = [EDGE_HEADER.instanceSecret, textBytes('secret')] as [number, Uint8Array]
    await client.dial(1, [secret, [EDGE_HEADER.cryptoMethod, TRUE], [EDGE_HEADER.dialerName, textBytes('admin')]])
    expect(dialed[0]?.has(EDGE_HEADER.instanceSecret)).toBe(false)
    expect(dialed[0]?.has(EDGE_HEADER.cryptoMethod)).toBe(false)
    expect(textOf(dialed[0], EDGE_HEADER.dialerName)).toBe('client')
  })

  it('are left out together beyond 16 KiB, and the circuit stands', async () => {
    const { client, dialed } = await newerHost()
    const most = await client.dial(1, [[OF_DIALER, new Uint8Array(MOST_BYTES)]])
    const more = await client.dial(2, [
      [OF_DIALER, new Uint8Array(MOST_BYTES)],
      [OF_HOST, TRUE],
    ])
    expect([most, more].map(({ contentType }) => contentType)).toEqual(Array(2).fill(EDGE_TYPE.stateConnected))
    expect(dialed.map((headers) => headers.get(OF_DIALER)?.length)).toEqual([MOST_BYTES, undefined])
  })

  it('are refused by the controller when a host leaves more for its dialers', async () => {
    const { host } = await newerHost([])
    await host.bind(2, {
      headers: [
        [OF_HOST, new Uint8Array(MOST_BYTES)],
        [EDGE_HEADER.publicKey, new Uint8Array(32)],
        [EDGE_HEADER.listener, textBytes('another')],
      ],
    })
    await until(() => closed(host).length > 0)
    expect(closed(host).map(textIn)).toEqual([expect.stringContaining('at most 16384 bytes of peer data')])
  })

  it('pass the control channel between router and controller at their full size, both ways', () => {
    const peerData = new Map([[OF_DIALER, new Uint8Array(MOST_BYTES)]])
    const names = { apiSessionToken: 'token', identityId: 'identity', serviceId: 'service', instanceId: '' }
    const ofCircuit = { sessionToken: undefined, circuitId: undefined, peerData }
    const asked = writeFromRouter({ type: 'create-circuit', ...names, ...ofCircuit })
    expect(asked && readMessage({ ...asked, sequence: 1 })).toMatchObject({ peerData })
    const address = { circuitId: 'circuit', address: 'end', tags: new Map() }
    const created = writeMessage({ type: 'circuit-created', ...address, peerData }, asked?.contentType)
    expect(readToRouter({ ...created, sequence: 2 })).toMatchObject({ peerData })
  })
})
