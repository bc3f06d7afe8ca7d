import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { duplexPair } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { circuitOf, writePayload } from '../../adapters/network/channel/circuit-frames.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
import { readBool, textBytes, uint32Header, uint64Header } from '../../adapters/network/channel/header-values.ts'
import type { Destination } from '../../adapters/network/router/forwarder.ts'
// Internals: values of the wire that routers send and no entry point exports.
import { DEAD_LATENCY_NS, duplicateOutcome } from '../../src/data-plane.ts'
import { PlayedPeer, routerUnderTest, until } from '../support/played-peer.ts'

function payload(circuitId: string, body = 'hi', flags = 0): Frame {
  const content = { items: new Map<number, Uint8Array>(), body: Buffer.from(body) }
  return { ...writePayload({ circuitId, sequence: 0, flags, sentAt: 1, ...content }), sequence: 1 }
}

/** An end of a circuit that keeps what it gets. */
function keeper() {
  const taken: string[] = []
  const end: Destination = {
    isFullFor: () => false,
    whenRoom: (work) => work(),
    take: (circuitId, { body }) => void taken.push(`${circuitId} ${Buffer.concat(body)}`),
  }
  return { taken, end }
}

const isAccepted = (answer: Frame | undefined) => answer !== undefined && readBool(answer.headers, 2) === true

describe('a link that another router dials', () => {
  it('takes the place of the one before, whose router was killed, when that one is over: no further link is dialed', async () => {
    const openStream = vi.fn(async () => Promise.reject(new Error('nobody is there')))
    const { links, clock } = routerUnderTest({ openStream })
    const before = new PlayedPeer(links, 'peer')
    await before.hello({ linkId: 'b' })
    const again = new PlayedPeer(links, 'peer')
    await again.hello({ linkId: 'a', connectionId: 'another' })
    const listeners = [{ address: 'tls:peer.test:1', protocol: 'tls', groups: ['default'], localBinding: '' }]
    links.peersChanged([{ id: 'peer', version: 'v2.0.0', state: 'healthy', listeners }])
    before.close()
    await until(() => links.all.length === 1)
    clock.turn(1)
    expect(openStream).not.toHaveBeenCalled()
    again.close()
    await until(() => links.all.length === 0)
    clock.turn(1)
    expect(openStream).toHaveBeenCalledOnce()
  })

  it('is taken by the certificate that the controller knows, and carries circuits laid over it, without heartbeats', async () => {
    const { links, forwarder } = routerUnderTest()
    const { taken, end } = keeper()
    forwarder.attach('egress', end)
    const peer = new PlayedPeer(links, 'peer')
    expect(isAccepted(await peer.hello({ linkId: 'link' }))).toBe(true)
    const forwards = [
      { srcAddress: 'link', dstAddress: 'egress', dstType: 'end' as const },
      { srcAddress: 'egress', dstAddress: 'link', dstType: 'link' as const },
    ]
    expect(forwarder.route('controller', { circuitId: 'c', forwards })).toBeUndefined()
    const sent = payload('c')
    peer.send({ ...sent, headers: new Map([...sent.headers, [5, uint64Header(7n)], [1000, uint32Header(1)]]) })
    await until(() => taken.length === 1)
    expect(taken).toEqual(['c hi'])
    const back = payload('c', 'answer', 2)
    forwarder.forward('egress', {
      ...back,
      headers: new Map([...back.headers, [5, uint64Header(9n)], [1000, uint32Header(4)]]),
    })
    await until(() => peer.received.some(({ contentType }) => contentType === 1100))
    const arrived = peer.received.find(({ contentType }) => contentType === 1100)
    expect([...(arrived?.headers.keys() ?? [])]).not.toContain(5)
    expect([...(arrived?.headers.keys() ?? [])]).not.toContain(1000)
    // Its heartbeat was answered with its own time.
    expect(peer.received.some(({ headers }) => headers.get(6)?.[0] === 7)).toBe(true)
  })

  it.each([
    ['shows the certificate of another router', 'other', {}],
    ['means another router', 'peer', { meantRouterId: 'somebody' }],
    ['claims to be this router', 'own', { routerId: 'own' }],
    ['joins a group that is not there', 'peer', { isGrouped: true, isFirst: false, secret: randomBytes(16) }],
    ['names no link', 'peer', { linkId: '' }],
    ['names a link of 10 kB', 'peer', { linkId: 'x'.repeat(4000) }],
  ] as const)('is refused where its router %s', async (_what, certificate, hello) => {
    const { links } = routerUnderTest()
    const peer = new PlayedPeer(links, certificate)
    expect(isAccepted(await peer.hello(hello))).toBe(false)
    await until(() => peer.isClosed)
    expect(links.all).toEqual([])
  })

  it('grows by sockets that know its secret, and lasts until the last one for payloads is gone', async () => {
    const { links } = routerUnderTest()
    const first = new PlayedPeer(links, 'peer')
    const group = { isGrouped: true, socketType: 'link.default' }
    const answer = await first.hello(group)
    const secret = answer?.headers.get(10)
    const thief = new PlayedPeer(links, 'peer')
    expect(isAccepted(await thief.hello({ ...group, isFirst: false, secret: randomBytes(16) }))).toBe(false)
    const stranger = new PlayedPeer(links, 'other')
    expect(isAccepted(await stranger.hello({ ...group, routerId: 'other', isFirst: false, secret }))).toBe(false)
    const second = new PlayedPeer(links, 'peer')
    const joining = { ...group, isFirst: false, secret, socketType: 'link.ack' }
    expect(isAccepted(await second.hello(joining))).toBe(true)
    expect(links.all[0]?.sockets.map(({ type }) => type)).toEqual(['link.default', 'link.ack'])
    // Routers of the line 1.6 say of each socket that it is the first.
    const third = new PlayedPeer(links, 'peer')
    expect(isAccepted(await third.hello({ ...joining, isFirst: true }))).toBe(true)
    expect(links.all[0]?.sockets.length).toBe(3)
    first.close()
    await until(() => links.all.length === 0)
    await until(() => second.isClosed)
  })

  it('is avoided when it answers no heartbeat for half a minute, and over after a whole one', async () => {
    const { links, clock, told } = routerUnderTest()
    const peer = new PlayedPeer(links, 'peer')
    await peer.hello({})
    clock.turn(2000)
    await until(() => peer.received.some(({ headers }) => headers.has(5)))
    const beat = peer.received.find(({ headers }) => headers.has(5))?.headers.get(5)
    peer.send({ contentType: 5, sequence: 2, headers: new Map([[6, beat ?? new Uint8Array(8)]]), body: [] })
    await until(() => told.some(({ type }) => type === 'metrics'))
    clock.turn(40_000)
    const latencies = told.flatMap((message) => (message.type === 'metrics' ? [...message.nanoseconds.values()] : []))
    expect(latencies.at(-1)).toBe(DEAD_LATENCY_NS)
    clock.turn(40_000)
    expect(links.all).toEqual([])
  })

  it('is one of its kind only where both ends think so: the one that dialed closes it, and until then it carries circuits', async () => {
    const { links, told } = routerUnderTest()
    const peers = ['bbb', 'ccc', 'aaa'].map((linkId) => ({ linkId, peer: new PlayedPeer(links, 'peer') }))
    for (const { linkId, peer } of peers)
      expect(isAccepted(await peer.hello({ linkId, connectionId: linkId }))).toBe(true)
    await until(() => links.all.length === 3)
    expect(told.filter(({ type }) => type === 'fault')).toEqual([])
    const held = { id: 'b', isDialed: true }
    expect(duplicateOutcome(held, { id: 'c', isDialed: true }, 0)).toBe('new-goes')
    expect(duplicateOutcome(held, { id: 'c', isDialed: true }, 5)).toBe('both-stay')
    expect(duplicateOutcome(held, { id: 'c', isDialed: false }, 0)).toBe('both-stay')
    expect(duplicateOutcome(held, { id: 'a', isDialed: false }, 0)).toBe('held-goes')
    expect(duplicateOutcome({ ...held, isDialed: false }, { id: 'a', isDialed: true }, 0)).toBe('both-stay')
  })

  it('comes anew with a higher attempt in place of the one before, and is closed when a controller wants that', async () => {
    const { links } = routerUnderTest()
    const before = new PlayedPeer(links, 'peer')
    await before.hello({ connectionId: '1', iteration: 1 })
    const after = new PlayedPeer(links, 'peer')
    await after.hello({ connectionId: '2', iteration: 2 })
    await until(() => before.isClosed)
    links.faulted('link', 1)
    expect(after.isClosed).toBe(false)
    links.faulted('link', 2)
    await until(() => after.isClosed)
    expect(links.all).toEqual([])
  })
})

describe('a router that is linked and means harm', () => {
  async function linked() {
    const under = routerUnderTest()
    const { taken, end } = keeper()
    under.forwarder.attach('mine', end)
    const honest = new PlayedPeer(under.links, 'honest')
    await honest.hello({ routerId: 'honest', linkId: 'honest-link', connectionId: 'h' })
    const hostile = new PlayedPeer(under.links, 'peer')
    await hostile.hello({ linkId: 'hostile-link', connectionId: 'x' })
    const forwards = [
      { srcAddress: 'honest-link', dstAddress: 'mine', dstType: 'end' as const },
      { srcAddress: 'mine', dstAddress: 'honest-link', dstType: 'link' as const },
    ]
    under.forwarder.route('controller', { circuitId: 'victim', forwards })
    return { ...under, taken, honest, hostile }
  }

  it('reaches no circuit of others, whatever it says: nothing is delivered and nothing breaks', async () => {
    const { taken, honest, hostile, told, clock } = await linked()
    for (const circuitId of ['victim', 'mine', 'honest-link', '', 'x'.repeat(10_000)])
      hostile.send(payload(circuitId, 'evil'))
    hostile.send({
      contentType: 1101,
      sequence: 1,
      headers: new Map([[2256, textBytes('victim')]]),
      body: [Buffer.alloc(400)],
    })
    hostile.send({ contentType: 1102, sequence: 1, headers: new Map(), body: [Buffer.from('\u0001victim')] })
    hostile.send({ contentType: 1004, sequence: 1, headers: new Map(), body: [Buffer.from('route')] })
    for (let invented = 0; invented < 3000; invented += 1) hostile.send(payload(`invented-${invented}`))
    honest.send(payload('victim', 'good'))
    await until(() => taken.length > 0)
    expect(taken).toEqual(['victim good'])
    clock.turn(16_000)
    const faults = told.flatMap((message) => (message.type === 'fault' ? [message] : []))
    // Links that it invents are told once, and bounded.
    expect(faults.every(({ id }) => id.split(' ').length <= 1000)).toBe(true)
  })

  it('has what it sends before its circuit is laid kept for 10 s, 4 MiB for its link, 1 MiB for a circuit', async () => {
    const { taken, hostile, forwarder, clock } = await linked()
    const forwards = [{ srcAddress: 'hostile-link', dstAddress: 'mine', dstType: 'end' as const }]
    const lay = (circuitId: string) => forwarder.route('controller', { circuitId, forwards })
    /** A link is read in order: what is laid already arrives last. */
    const allArrived = async () => {
      const before = taken.length
      lay('marker')
      hostile.send(payload('marker'))
      await until(() => taken.length > before)
      taken.splice(before)
    }
    const kilobyte = 'x'.repeat(1024)
    for (let number = 0; number < 6000; number += 1) hostile.send(payload(`c-${number % 10}`, kilobyte))
    await allArrived()
    for (let number = 0; number < 10; number += 1) lay(`c-${number}`)
    const bytes = 1024 * taken.length
    expect(bytes).toBeGreaterThan(3_000_000)
    expect(bytes).toBeLessThan(4_194_304)
    hostile.send(payload('too-late'))
    await allArrived()
    clock.turn(11_000)
    lay('too-late')
    expect(taken.filter((text) => text.startsWith('too-late'))).toEqual([])
    for (let number = 0; number < 2000; number += 1) hostile.send(payload('large', kilobyte))
    await allArrived()
    lay('large')
    const large = taken.filter((text) => text.startsWith('large')).length
    expect([large > 700, large < 1024]).toEqual([true, true])
  })

  it('is told to the log where its first message is no hello', async () => {
    const told: unknown[] = []
    const { links } = routerUnderTest({ log: (event, fields) => void told.push([event, fields.reason]) })
    const peer = new PlayedPeer(links, 'peer')
    peer.send({ contentType: 1, sequence: 1, headers: new Map(), body: [] })
    await until(() => peer.isClosed)
    expect(told).toEqual([['link.refused', expect.stringContaining('the first frame is no hello')]])
  })

  it('takes no link of another router by its id', async () => {
    const { links, honest } = await linked()
    const thief = new PlayedPeer(links, 'peer')
    expect(isAccepted(await thief.hello({ linkId: 'honest-link', connectionId: 'y', iteration: 9 }))).toBe(false)
    expect(honest.isClosed).toBe(false)
  })

  it('opens no more links than bindings are likely, and no more sockets than a link needs', async () => {
    const { links } = await linked()
    const answers: boolean[] = []
    for (let number = 0; number < 50; number += 1) {
      const peer = new PlayedPeer(links, 'peer')
      answers.push(
        isAccepted(await peer.hello({ linkId: `l-${number}`, connectionId: `c-${number}`, binding: `b-${number}` })),
      )
    }
    expect(answers.filter(Boolean).length).toBeLessThanOrEqual(32)
    const first = new PlayedPeer(links, 'third')
    const group = {
      routerId: 'third',
      linkId: 'third-link',
      connectionId: 'g',
      isGrouped: true,
      socketType: 'link.default',
    }
    const secret = (await first.hello(group))?.headers.get(10)
    for (let number = 0; number < 20; number += 1) {
      await new PlayedPeer(links, 'third').hello({ ...group, isFirst: false, secret })
    }
    expect(links.all.find(({ facts }) => facts.peerId === 'third')?.sockets.length).toBe(8)
  })

  it('opens no more than 4,096 links, by however many routers', async () => {
    const { links } = routerUnderTest()
    const accepted: boolean[] = []
    for (let first = 0; first < 4120; first += 206) {
      const hellos = Array.from({ length: 206 }, (_, more) => {
        const [routerId, name] = [`router-${(first + more) >> 5}`, `${first + more}`]
        return new PlayedPeer(links, routerId).hello({ routerId, linkId: name, connectionId: name, binding: name })
      })
      for (const answer of await Promise.all(hellos)) accepted.push(isAccepted(answer))
    }
    expect([accepted.filter(Boolean).length, links.all.length]).toEqual([4096, 4096])
  }, 60_000)

  it('holds no more than 256 sockets of one address, and 512 of all, before it says who it is, and each for 5 s', async () => {
    const { links } = routerUnderTest()
    const waiting = (count: number, hostOf: (number: number) => string) => {
      const streams = Array.from({ length: count }, (_, number) => {
        const [own, stream] = duplexPair()
        const place = { localAddress: 'tcp:127.0.0.1:1', remoteAddress: `tcp:${hostOf(number)}:2` }
        void links.accept({ stream, chain: [], ...place, remoteHost: hostOf(number) })
        return { own, stream }
      })
      return () => streams.filter(({ stream }) => !stream.destroyed).length
    }
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const ofOne = waiting(400, () => '192.0.2.1')
      expect(ofOne()).toBe(256)
      const ofMany = waiting(600, (number) => `192.1.${number % 100}.1`)
      expect(ofOne() + ofMany()).toBe(512)
      await vi.advanceTimersByTimeAsync(4900)
      expect(ofOne() + ofMany()).toBe(512)
      await vi.advanceTimersByTimeAsync(200)
      expect(ofOne() + ofMany()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('finds no room for more than 100,000 circuits', () => {
    const { forwarder } = routerUnderTest()
    forwarder.attach('mine', keeper().end)
    const forwards = [{ srcAddress: 'there', dstAddress: 'mine', dstType: 'end' as const }]
    let refused = 0
    for (let number = 0; number < 100_000; number += 1) {
      if (forwarder.route('controller', { circuitId: `c${number}`, forwards }) !== undefined) refused += 1
    }
    expect(refused).toBe(0)
    expect(forwarder.route('controller', { circuitId: 'one more', forwards })).toEqual({ cause: 'no-room' })
    forwarder.unroute('c5', true)
    expect(forwarder.route('controller', { circuitId: 'one more', forwards })).toBeUndefined()
  })

  it.each([
    ['bytes that are no frames', () => randomBytes(64)],
    ['a frame that says it is 4 GB', () => Buffer.from('0306090c4c04000001000000ffffffffffffffff', 'hex')],
    [
      'headers that say they are longer than the frame',
      () => Buffer.from('0306090c4c0400000100000008000000000000000100000000ffffff', 'hex'),
    ],
  ])('loses its link, and no other one, for %s', async (_what, bytes) => {
    const { links, honest, hostile } = await linked()
    hostile.raw(bytes())
    await until(() => hostile.isClosed)
    expect(links.all.map(({ facts }) => facts.id)).toEqual(['honest-link'])
    expect(honest.isClosed).toBe(false)
  })

  it('survives 20,000 frames of random content types, keys and bodies', async () => {
    const { hostile, honest, taken } = await linked()
    for (let number = 0; number < 20_000; number += 1) {
      const random = randomBytes(16)
      const contentType =
        [0, 2, 3, 5, 1100, 1101, 1102, 1103, 60786, random.readInt32LE(0)][random.readUInt8(4) % 10] ?? 0
      const key = [0, 1, 5, 6, 128, 1000, 2256, 2257, 2258, 2260][random.readUInt8(5) % 10] ?? 0
      const headers = new Map([
        [2256, textBytes('victim')],
        [key, random.subarray(0, random.readUInt8(6) % 12)],
      ])
      hostile.send({
        contentType,
        sequence: random.readInt32LE(8),
        headers,
        body: [random.subarray(0, random.readUInt8(7) % 16)],
      })
    }
    honest.send(payload('victim', 'good'))
    await until(() => taken.length > 0)
    expect(taken).toEqual(['victim good'])
  })

  it('that does not read makes nothing wait for ever: what is too much for it is dropped, and memory is bounded', async () => {
    const { forwarder, links, honest } = await linked()
    const link = links.all.find(({ facts }) => facts.id === 'honest-link')
    const body = 'x'.repeat(32_768)
    for (let number = 0; number < 4000; number += 1) forwarder.forward('mine', payload('victim', body, 2))
    expect(link?.droppedPayloads).toBeGreaterThan(0)
    const waiting = link?.sockets[0]?.channel.queuedBytes ?? 0
    expect(waiting).toBeLessThan(20_000_000)
    honest.close()
  })

  it('gets what circuits with little have to say, and soon, however much another circuit sends', async () => {
    const { forwarder, links, honest } = await linked()
    const link = links.all.find(({ facts }) => facts.id === 'honest-link')
    const forwards = [{ srcAddress: 'mine', dstAddress: 'honest-link', dstType: 'link' as const }]
    forwarder.route('controller', { circuitId: 'quiet', forwards })
    const body = 'x'.repeat(32_768)
    for (let number = 0; number < 1000; number += 1) forwarder.forward('mine', payload('victim', body, 2))
    const dropped = link?.droppedPayloads ?? 0
    expect(dropped).toBeGreaterThan(0)
    forwarder.forward('mine', payload('quiet', 'a word', 2))
    expect(link?.droppedPayloads).toBe(dropped)
    const isQuiet = (frame: Frame) => circuitOf(frame) === 'quiet'
    await until(() => honest.received.filter(({ contentType }) => contentType === 1100).length > 400)
    const place = honest.received.filter(({ contentType }) => contentType === 1100).findIndex(isQuiet)
    expect(place).toBeGreaterThanOrEqual(0)
    expect(place).toBeLessThan(20)
    honest.close()
  })
})

describe('two routers that may dial each other', () => {
  it.each([
    ['at once by the one of the lower id', 'a-router', 0],
    ['after a second by the other one, as the peer may have dialed by then', 'z-router', 1000],
  ])('are linked once: dialed %s', async (_what, routerId, afterMs) => {
    let dialed = 0
    const server = createServer((socket) => {
      dialed += 1
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const own = { address: 'tls:own.test:1', protocol: 'tls', groups: ['default'], localBinding: '' }
    const { links, clock } = routerUnderTest({ routerId, listeners: [own] })
    const listeners = [{ ...own, address: `tls:127.0.0.1:${port}` }]
    links.peersChanged([{ id: 'peer', version: 'v2.0.0', state: 'healthy', listeners }])
    clock.turn(afterMs === 0 ? 0 : afterMs - 1)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(dialed).toBe(afterMs === 0 ? 1 : 0)
    clock.turn(1)
    await until(() => dialed === 1)
    links.close()
    server.close()
  })

  it('are linked by the dial of the peer where it has another version: such routers dial at once, whatever their ids', async () => {
    const own = { address: 'tls:own.test:1', protocol: 'tls', groups: ['default'], localBinding: '' }
    const failures: unknown[] = []
    const log = (event: string, fields: object) => {
      if (event === 'link.dial-failed') failures.push(fields)
    }
    const { links, clock } = routerUnderTest({ routerId: 'a-router', listeners: [own], log })
    const listeners = [{ ...own, address: 'tls:127.0.0.1:1' }]
    links.peersChanged([{ id: 'peer', version: 'v2.1.0', state: 'healthy', listeners }])
    const peer = new PlayedPeer(links, 'peer')
    expect(isAccepted(await peer.hello({ linkId: 'link', meantRouterId: 'a-router' }))).toBe(true)
    clock.turn(5000)
    // The link is lost: both hear of it at once, and the peer dials again.
    peer.close()
    await until(() => links.all.length === 0)
    clock.turn(999)
    const again = new PlayedPeer(links, 'peer')
    expect(isAccepted(await again.hello({ linkId: 'link', meantRouterId: 'a-router', iteration: 2 }))).toBe(true)
    clock.turn(5000)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect([links.all.length, failures]).toEqual([1, []])
    links.close()
  })

  it('have no second link where the peer dialed meanwhile', async () => {
    const own = { address: 'tls:own.test:1', protocol: 'tls', groups: ['default'], localBinding: '' }
    const failures: unknown[] = []
    const log = (event: string, fields: object) => {
      if (event === 'link.dial-failed') failures.push(fields)
    }
    const { links, clock } = routerUnderTest({ routerId: 'zzz', listeners: [own], log })
    const listeners = [{ ...own, address: 'tls:127.0.0.1:1' }]
    links.peersChanged([{ id: 'peer', version: 'v2.0.0', state: 'healthy', listeners }])
    const peer = new PlayedPeer(links, 'peer')
    expect(isAccepted(await peer.hello({ linkId: 'link', meantRouterId: 'zzz' }))).toBe(true)
    clock.turn(5000)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect([links.all.length, failures]).toEqual([1, []])
  })
})

describe('a peer that is started again', () => {
  const told = (port: number, groups: readonly string[]) => [
    {
      ...{ id: 'peer', version: 'v2.0.0', state: 'healthy' as const },
      listeners: [{ address: `tls:127.0.0.1:${port}`, protocol: 'tls', groups, localBinding: '' }],
    },
  ]

  it.each([
    ['in other groups, is dialed no more', ['elsewhere'], 0],
    ['in the same groups, is dialed again', ['default'], 1],
  ] as const)('%s, whatever timer is left', async (_what, groups, dials) => {
    let dialed = 0
    const server = createServer((socket) => {
      dialed += 1
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    let failed = 0
    const log = (event: string) => {
      if (event === 'link.dial-failed') failed += 1
    }
    const { links, clock } = routerUnderTest({ log })
    links.peersChanged(told(port, ['default']))
    clock.turn(0)
    await until(() => failed === 1)
    links.peersChanged(told(port, groups))
    const before = dialed
    clock.turn(3_600_000)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(dialed - before).toBe(dials)
    links.close()
    server.close()
  })
})
