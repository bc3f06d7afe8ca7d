import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { enroll, type Identity, type IdentityFile, type ServiceConnection } from 'portcullis/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { EDGE_HEADER, EDGE_TYPE } from '../../adapters/network/channel/edge-messages.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
import { textBytes } from '../../adapters/network/channel/header-values.ts'
// Internals: the numbers that a hostile router would change, which no entry point exports.
import { DIRECT_HEADER } from '../../src/proved-ends.ts'
import { type Hostility, identityVia } from '../support/hostile-way.ts'
import { type ServedNetwork, servedNetwork } from './served-network.ts'

let network: ServedNetwork
let laptopFile: IdentityFile
let boxFile: IdentityFile
const opened: Identity[] = []
const OFFERED = { directE2EE: 'offered' } as const

beforeAll(async () => {
  network = await servedNetwork({ directE2EE: 'permissive' })
  laptopFile = await enroll(await network.invite('laptop', 'clients'))
  boxFile = await enroll(await network.invite('box', 'hosts'))
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((identity) => identity.close()))
})

afterAll(() => network.close())

const via = async (file: IdentityFile, hostility: Hostility, options = {}) => {
  const identity = await identityVia(file, hostility, options)
  opened.push(identity)
  return identity
}
const laptopVia = (hostility: Hostility, options = {}) => via(laptopFile, hostility, options)
const boxVia = (hostility: Hostility, options = {}) => via(boxFile, hostility, options)

const told = async (connection: ServiceConnection) => {
  connection.end(`${connection.caller?.name} proved ${connection.caller?.isProved}: ${await text(connection)}`)
}

const without = (frame: Frame, keys: readonly number[]): Frame => {
  const headers = new Map([...frame.headers].filter(([key]) => !keys.includes(key)))
  return { ...frame, headers }
}
const withHeaders = (frame: Frame, headers: Iterable<readonly [number, Uint8Array]>): Frame => ({
  ...frame,
  headers: new Map([...frame.headers, ...headers]),
})
const at = (contentType: number, change: (frame: Frame) => Frame) => (frame: Frame) =>
  frame.contentType === contentType ? change(frame) : frame

const BOTH = [DIRECT_HEADER.mode, DIRECT_HEADER.token]
const notProved = (message: string) => ({ code: 'NOT_PROVED', message: expect.stringContaining(message) })

describe('a router that takes away what two ends say of proof', () => {
  it.each([
    [
      'the answer of the controller',
      { fromRouter: at(EDGE_TYPE.stateConnected, (frame) => without(frame, BOTH)) },
      {},
      'the router takes no part',
    ],
    [
      'the token for the dialer',
      { fromRouter: at(EDGE_TYPE.stateConnected, (frame) => without(frame, [DIRECT_HEADER.token])) },
      {},
      'the router takes no part',
    ],
    [
      'the offer of the dialer',
      { toRouter: at(EDGE_TYPE.connect, (frame) => without(frame, BOTH)) },
      {},
      'the dialer takes no part',
    ],
    [
      'the offer of the host',
      {},
      { toRouter: at(EDGE_TYPE.bind, (frame) => without(frame, BOTH)) },
      'the router takes no part',
    ],
    [
      'what the host gets',
      {},
      { fromRouter: at(EDGE_TYPE.dial, (frame) => without(frame, BOTH)) },
      'the router takes no part',
    ],
    [
      'the token for the host',
      {},
      { fromRouter: at(EDGE_TYPE.dial, (frame) => without(frame, [DIRECT_HEADER.token])) },
      'the router takes no part',
    ],
  ] as const)('gets no connection through: %s', async (_, atLaptop, atBox, why) => {
    const [laptop, box] = [await laptopVia(atLaptop), await boxVia(atBox)]
    const taken: number[] = []
    await using _hosted = await box.host('plain', (_connection: ServiceConnection) => void taken.push(1), {
      proved: true,
    })
    await expect(laptop.dial('plain', { proved: true })).rejects.toMatchObject(notProved(why))
    await sleep(50)
    expect(taken).toEqual([])
  })

  it('is named where it takes the offer of a dialer away that sends no key', async () => {
    const laptop = await laptopVia({ toRouter: at(EDGE_TYPE.connect, (frame) => without(frame, BOTH)) })
    const box = await boxVia({})
    await using _hosted = await box.host('app', told, { proved: true })
    await expect(laptop.dial('app', { proved: true })).rejects.toMatchObject(notProved('the router takes no part'))
  })

  it('brings only those together that asked for no proof, and they see that there is none', async () => {
    const strip = {
      fromRouter: (frame: Frame) => without(frame, BOTH),
      toRouter: (frame: Frame) => without(frame, BOTH),
    }
    const [laptop, box] = [await laptopVia(strip, OFFERED), await boxVia(strip, OFFERED)]
    await using _hosted = await box.host('app', told)
    const connection = await laptop.dial('app')
    expect(connection.provedPeer).toBeUndefined()
    connection.end('hello')
    expect(await text(connection)).toBe('laptop proved false: hello')
  })
})

describe('a router that swaps and replays', () => {
  it('circuits: a dialer of one service reaches no other service of the same host', async () => {
    const kept: Frame[] = []
    const swap = at(EDGE_TYPE.dial, (frame) => {
      kept.push(frame)
      const first = kept[0]
      if (kept.length < 2 || first === undefined) return frame
      const stolen = [EDGE_HEADER.circuit, ...BOTH].map(
        (key) => [key, first.headers.get(key) ?? new Uint8Array()] as const,
      )
      return withHeaders(frame, stolen)
    })
    const [laptop, box] = [await laptopVia({}), await boxVia({ fromRouter: swap })]
    await using _app = await box.host('app', told, { proved: true })
    await using _plain = await box.host('plain', told, { proved: true })
    const first = await laptop.dial('app', { proved: true })
    await expect(laptop.dial('plain', { proved: true })).rejects.toMatchObject(notProved('for another service'))
    first.destroy()
  })

  it.each([
    ['with the circuit that it belongs to', true, 'did not prove itself'],
    ['with another circuit', false, 'for another circuit'],
  ])('the token of an earlier circuit: %s', async (_, withCircuit, why) => {
    const kept: Frame[] = []
    const replay = at(EDGE_TYPE.dial, (frame) => {
      kept.push(frame)
      const first = kept[0]
      if (kept.length < 2 || first === undefined) return frame
      const keys = withCircuit ? [EDGE_HEADER.circuit, ...BOTH] : BOTH
      return withHeaders(
        frame,
        keys.map((key) => [key, first.headers.get(key) ?? new Uint8Array()] as const),
      )
    })
    // The router keeps the windows, so that the host goes on in the circuit that it is told.
    const toRouter = at(EDGE_TYPE.bind, (frame) => without(frame, [EDGE_HEADER.usesXgress]))
    const [laptop, box] = [await laptopVia({}), await boxVia({ fromRouter: replay, toRouter })]
    await using _hosted = await box.host('plain', told, { proved: true })
    const first = await laptop.dial('plain', { proved: true })
    await expect(laptop.dial('plain', { proved: true, timeoutMs: 4000 })).rejects.toMatchObject(notProved(why))
    first.destroy()
  })

  it('names: a caller has those that the controller signed', async () => {
    const rename = at(EDGE_TYPE.dial, (frame) =>
      withHeaders(frame, [
        [EDGE_HEADER.dialerName, textBytes('administrator')],
        [EDGE_HEADER.dialerId, textBytes('administrator')],
      ]),
    )
    const [laptop, box] = [await laptopVia({}), await boxVia({ fromRouter: rename })]
    await using _hosted = await box.host('plain', told, { proved: true })
    const connection = await laptop.dial('plain', { proved: true })
    connection.end('hello')
    expect(await text(connection)).toBe('laptop proved true: hello')
  })

  it('tokens: one that it keeps lets it into no API, and to no router', async () => {
    let token = ''
    const keep = at(EDGE_TYPE.dial, (frame) => {
      token = Buffer.from(frame.headers.get(DIRECT_HEADER.token) ?? []).toString()
      return frame
    })
    const [laptop, box] = [await laptopVia({}), await boxVia({ fromRouter: keep })]
    await using _hosted = await box.host('plain', told, { proved: true })
    const connection = await laptop.dial('plain', { proved: true })
    connection.destroy()
    expect(token.split('.')).toHaveLength(3)
    for (const headers of [{ authorization: `Bearer ${token}` }, { 'zt-session': token }]) {
      for (const path of [
        '/edge/client/v1/current-identity',
        '/edge/management/v1/services',
        '/portcullis/v1/findings',
      ]) {
        const request = new Request(`https://controller.test:1280${path}`, { headers })
        expect((await network.net.fetch(request)).status, path).toBe(401)
      }
    }
  })

  it('tokens: one that it wrote itself, or changed, counts for nothing', async () => {
    const forge = (text: string) => {
      const [head = '', body = '', signature = ''] = text.split('.')
      const claims = { ...JSON.parse(Buffer.from(body, 'base64url').toString()), z_in: 'administrator' }
      return `${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`
    }
    const none = (text: string) => {
      const [, body = ''] = text.split('.')
      return `${Buffer.from('{"alg":"none"}').toString('base64url')}.${body}.`
    }
    const elsewhere = (text: string) => {
      const [head = '', body = '', signature = ''] = text.split('.')
      const claims = { ...JSON.parse(Buffer.from(body, 'base64url').toString()), iss: 'https://127.0.0.1:1/oidc' }
      return `${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`
    }
    for (const change of [forge, none, elsewhere, () => 'x', () => '']) {
      const hostility = at(EDGE_TYPE.dial, (frame) => {
        const token = Buffer.from(frame.headers.get(DIRECT_HEADER.token) ?? []).toString()
        return withHeaders(frame, [[DIRECT_HEADER.token, textBytes(change(token))]])
      })
      const [laptop, box] = [await laptopVia({}), await boxVia({ fromRouter: hostility })]
      await using _hosted = await box.host('plain', told, { proved: true })
      await expect(laptop.dial('plain', { proved: true })).rejects.toMatchObject({ code: 'NOT_PROVED' })
      await Promise.all(opened.splice(0).map((identity) => identity.close()))
    }
  })
})

describe('a router that cuts, or alters bytes', () => {
  it('is told from an end that has ended', async () => {
    let isCut = false
    // In place of further bytes the router says that the other end closed the connection.
    const cut = at(EDGE_TYPE.payload, (frame) => {
      const id = frame.headers.get(EDGE_HEADER.connection) ?? new Uint8Array()
      if (!isCut) return frame
      return {
        ...frame,
        contentType: EDGE_TYPE.stateClosed,
        headers: new Map([[EDGE_HEADER.connection, id]]),
        body: [],
      }
    })
    const [laptop, box] = [await laptopVia({ fromRouter: cut }), await boxVia({})]
    let host: ServiceConnection | undefined
    const take = (connection: ServiceConnection) => {
      host = connection
      connection.write('half of it')
    }
    await using _hosted = await box.host('plain', take, { proved: true })
    const connection = await laptop.dial('plain', { proved: true })
    expect(String((await connection.iterator({ destroyOnReturn: false }).next()).value)).toBe('half of it')
    isCut = true
    const failure = new Promise((resolve) => connection.once('error', resolve))
    const ended = text(connection).catch((error: unknown) => error)
    host?.write('the other half')
    expect(await failure).toMatchObject({ code: 'CONNECTION_LOST' })
    expect(await ended).toMatchObject({ code: 'CONNECTION_LOST' })
  })

  it('reaches no app with a changed byte', async () => {
    let isHostile = false
    const alter = (frame: Frame) => {
      const body = Buffer.concat(frame.body)
      if (!isHostile || frame.contentType !== EDGE_TYPE.payload || body.length < 30) return frame
      body[25] = (body[25] ?? 0) ^ 1
      return { ...frame, body: [body] }
    }
    const [laptop, box] = [await laptopVia({ toRouter: alter }), await boxVia({})]
    const heard: string[] = []
    await using _hosted = await box.host(
      'plain',
      (connection: ServiceConnection) => void connection.on('data', (chunk) => heard.push(String(chunk))),
      { proved: true },
    )
    const connection = await laptop.dial('plain', { proved: true })
    const failure = new Promise((resolve) => connection.once('error', resolve))
    connection.write('first')
    for (let waited = 0; heard.length === 0 && waited < 100; waited += 1) await sleep(10)
    isHostile = true
    connection.write('a second line that is longer')
    expect(await failure).toMatchObject({ code: 'CONNECTION_LOST' })
    expect(heard).toEqual(['first'])
  })
})

describe('a token', () => {
  it('counts no longer than three minutes', async () => {
    const late = await servedNetwork({ directE2EE: 'permissive', now: Date.now() - 200_000 })
    try {
      const [host, client] = [await late.identity('host', 'hosts'), await late.identity('client', 'clients')]
      await using _hosted = await host.host('plain', told, { proved: true })
      await expect(client.dial('plain', { proved: true })).rejects.toMatchObject(notProved('has expired'))
    } finally {
      await late.close()
    }
  })

  it('is given to no identity that is disabled, whose connections end', async () => {
    const [laptop, box] = [await network.identity('leaving', 'clients'), await boxVia({})]
    await box.host('app', (connection: ServiceConnection) => void connection.resume(), { proved: true })
    const connection = await laptop.dial('app', { proved: true })
    const failure = new Promise((resolve) => connection.once('error', resolve))
    const { data } = await network.net.admin.call('GET /identities', { query: { filter: 'name = "leaving"' } })
    await network.net.admin.call('POST /identities/{id}/disable', {
      params: { id: data[0]?.id ?? '' },
      body: { durationMinutes: 5 },
    })
    expect(await failure).toMatchObject({ code: expect.stringMatching(/CONNECTION_LOST|ACCESS_DENIED/) })
    await expect(laptop.dial('app', { proved: true })).rejects.toMatchObject({ code: 'NOT_AUTHENTICATED' })
  })
})
