import { decodeJwt } from 'jose'
import { routerSide } from 'portcullis/fabric'
import { bodyOf, FakeRouter } from 'portcullis/testing'
import { describe, expect, it, vi } from 'vitest'
import { fabricWorld, host, tunnelNetwork } from './fabric-world.ts'

const { CONTENT_TYPE, HEADER } = routerSide

describe('a router that connects', () => {
  it('is let in with its own certificate, learns the controller and is shown online', async () => {
    const world = await fabricWorld()
    const router = new FakeRouter(await world.enroll('r1'), world.listener, { linkListeners: ['tls:r1:10080'] })
    expect(await router.connect()).toMatchObject({ accepted: true, reason: '' })
    await router.next(({ contentType }) => contentType === CONTENT_TYPE.updateControllerAddresses)
    const hello = await router.next(({ contentType }) => contentType === CONTENT_TYPE.serverHello)
    expect(hello).toBeDefined()
    const body = routerSide.ClientHello.encode({ hostname: 'r1.test', protocols: ['tls'], protocolPorts: ['3022'] })
    router.send(CONTENT_TYPE.clientHello, body)
    await vi.waitFor(async () => {
      expect(await world.call('GET', `/edge-routers/${router.id}`)).toMatchObject({
        isOnline: true,
        syncStatus: 'SYNC_DONE',
        hostname: 'r1.test',
        supportedProtocols: { tls: 'tls://r1.test:3022' },
        versionInfo: { version: 'v2.0.0', os: 'linux', arch: 'amd64' },
      })
    })
    expect(await world.call('GET', `/fabric/v1/routers/${router.id}`)).toMatchObject({
      connected: true,
      listenerAddresses: [{ address: 'tls:r1:10080', protocol: 'tls' }],
    })
    router.close()
    await vi.waitFor(async () => {
      expect(await world.call('GET', `/edge-routers/${router.id}`)).toMatchObject({ isOnline: false })
    })
    expect(world.told('router.connection').map(({ isOnline }) => isOnline)).toEqual([true, false])
  })

  it('learns of the other processes over the same store when it enrolls and when it connects', async () => {
    const world = await fabricWorld({ others: ['tls:second.test:6263', 'tls:third.test:6264'] })
    const id = await world.create('/edge-routers', { name: 'r1' })
    const { enrollmentJwt } = await world.call('GET', `/edge-routers/${id}`)
    const all = ['tls:controller.test:6262', 'tls:second.test:6263', 'tls:third.test:6264']
    expect(decodeJwt(String(enrollmentJwt)).ctrls).toEqual(all)

    const router = await world.router('r2')
    const told = await router.next(({ contentType }) => contentType === CONTENT_TYPE.updateControllerAddresses)
    const { addresses, isLeader, controllers } = routerSide.UpdateControllerAddresses.decode(bodyOf(told))
    expect(addresses).toEqual(all)
    expect(isLeader).toBe(false)
    expect(controllers.map(({ endpoints }) => endpoints.map(({ address }) => address))).toEqual(all.map((one) => [one]))
    expect(new Set(controllers.map((controller) => controller.id)).size).toBe(3)
    // Each process names itself as the others name it.
    const second = await fabricWorld({ addresses: ['tls:second.test:6263'] })
    const other = await second.router('r1')
    const own = await other.next(({ contentType }) => contentType === CONTENT_TYPE.updateControllerAddresses)
    expect(routerSide.UpdateControllerAddresses.decode(bodyOf(own)).controllers[0]?.id).toBe(controllers[1]?.id)
  })

  it('brings further sockets into its group by the secret of the group alone', async () => {
    const world = await fabricWorld()
    const router = new FakeRouter(await world.enroll('r1'), world.listener)
    const stranger = new FakeRouter(await world.enroll('r2'), world.listener)
    const { connectionId, secret } = await router.connect()
    // Routers of one line say of every socket that it is the first.
    for (const isFirst of [true, false]) {
      expect(await router.connect({ connectionId, secret, isFirst, type: 'ctrl.high' })).toMatchObject({
        accepted: true,
      })
    }
    expect(await router.connect({ connectionId, secret: new Uint8Array(16) })).toMatchObject({
      accepted: false,
      reason: 'incorrect group secret',
    })
    expect(await stranger.connect({ connectionId, secret })).toMatchObject({ accepted: false })
    expect(router.isClosed).toBe(false)
    expect(await router.connect({ connectionId: 'gone', secret, isFirst: false })).toMatchObject({ accepted: false })
  })

  it('founds its group again under its old secret', async () => {
    const world = await fabricWorld()
    const router = new FakeRouter(await world.enroll('r1'), world.listener)
    const { secret } = await router.connect()
    router.close()
    await vi.waitFor(() => expect(world.told('router.connection')).toHaveLength(2))
    const again = await router.connect({ connectionId: 'former-1', secret })
    expect(again).toMatchObject({ accepted: true, connectionId: 'former-1' })
    expect(Buffer.from(again.secret).equals(secret)).toBe(true)
  })

  it('is refused for a reason that is told', async () => {
    const world = await fabricWorld()
    const enrolled = await world.enroll('r1')
    const other = await world.enroll('r2')
    const attempts = [
      [{ ...enrolled, chain: [] }, 'no-certificate'],
      [{ ...enrolled, chain: [Uint8Array.of(1, 2, 3)] }, 'untrusted-certificate'],
      [{ ...enrolled, chain: other.chain }, 'wrong-fingerprint'],
      // The right certificate behind another one proves nothing.
      [{ ...enrolled, chain: [...other.chain, ...enrolled.chain] }, 'wrong-fingerprint'],
      [{ ...enrolled, id: 'nobody' }, 'unknown'],
    ] as const
    for (const [router, reason] of attempts) {
      expect(await new FakeRouter(router, world.listener).connect()).toMatchObject({ accepted: false, reason })
    }
    await world.call('PATCH', `/edge-routers/${enrolled.id}`, { disabled: true })
    expect(await new FakeRouter(enrolled, world.listener).connect()).toMatchObject({
      accepted: false,
      reason: 'disabled',
    })
    // Who shows no certificate is not asked who it is.
    expect(world.told('router.refused').map(({ reason }) => reason)).toEqual([
      ...attempts.slice(1).map(([, reason]) => reason),
      'disabled',
    ])
    expect(world.told('router.connection')).toEqual([])
  })

  it('keeps its place for a minute against another one with its certificate', async () => {
    const world = await fabricWorld()
    const enrolled = await world.enroll('r1')
    const [first, second] = [new FakeRouter(enrolled, world.listener), new FakeRouter(enrolled, world.listener)]
    await first.connect()
    expect(await second.connect()).toMatchObject({ accepted: false, reason: 'already-connected' })
    expect(first.isClosed).toBe(false)
    await world.controller.elapse(60_000)
    expect(await second.connect()).toMatchObject({ accepted: true })
    await vi.waitFor(() => expect(first.isClosed).toBe(true))
  })

  it.each([
    ['deleted', 'DELETE', '', undefined],
    ['disabled', 'PATCH', '', { disabled: true }],
    ['re-enrolled', 'POST', '/re-enroll', {}],
  ])('is let go of at once when it is %s', async (_name, method, path, body) => {
    const world = await fabricWorld()
    const router = await world.router('r1')
    const bystander = await world.router('r2')
    await world.call(method, `/edge-routers/${router.id}${path}`, body)
    await vi.waitFor(() => expect(router.isClosed).toBe(true))
    expect(bystander.isClosed).toBe(false)
  })
})

describe('routers learn of each other', () => {
  it('when they connect, when they leave and when they are gone for good', async () => {
    const world = await fabricWorld()
    const first = await world.router('r1', { linkListeners: ['tls:r1:1'] })
    const second = await world.router('r2', { linkListeners: ['tls:r2:1'] })
    const states = (router: FakeRouter) =>
      router
        .all(CONTENT_TYPE.peerStateChange)
        .flatMap((frame) => routerSide.PeerStateChanges.decode(bodyOf(frame)).changes)
        .map(({ id, state, listeners }) => [id, state, listeners.map(({ address }) => address)])
    await vi.waitFor(() => {
      expect(states(first)).toEqual([[second.id, 'healthy', ['tls:r2:1']]])
      expect(states(second)).toEqual([[first.id, 'healthy', ['tls:r1:1']]])
    })
    second.close()
    await vi.waitFor(() => expect(states(first).at(-1)).toEqual([second.id, 'unhealthy', []]))
    await second.connect()
    await world.call('DELETE', `/edge-routers/${second.id}`)
    await vi.waitFor(() => expect(states(first).some(([, state]) => state === 'removed')).toBe(true))
  })

  it('and are told whether a router that dials them is the one that it says', async () => {
    const world = await fabricWorld()
    const router = await world.router('r1')
    const dialing = await world.enroll('r2')
    const { fingerprint } = await world.call('GET', `/edge-routers/${dialing.id}`)
    const ask = async (fingerprints: readonly string[]) => {
      const body = routerSide.VerifyRouter.encode({ routerId: dialing.id, fingerprints })
      const answer = await router.request(CONTENT_TYPE.verifyRouter, body)
      return routerSide.readBool(answer.headers, routerSide.HEADER.success)
    }
    expect(await ask([String(fingerprint)])).toBe(true)
    expect(await ask(['00'.repeat(20)])).toBe(false)
    await world.call('PATCH', `/edge-routers/${dialing.id}`, { disabled: true })
    expect(await ask([String(fingerprint)])).toBe(false)
  })
})

describe('a router that behaves badly', () => {
  it('is closed for what is no frame, and nobody else is', async () => {
    const world = await fabricWorld()
    const router = await world.router('r1')
    const bystander = await world.router('r2')
    router.sendRaw(new TextEncoder().encode('GET / HTTP/1.1\r\nhost: r1\r\n\r\n'))
    await vi.waitFor(() => expect(router.isClosed).toBe(true))
    expect(world.told('router.misbehaved')).toMatchObject([{ routerId: router.id, what: 'malformed' }])
    expect(bystander.isClosed).toBe(false)
  })

  it('stays with what is no message, which is told once a minute', async () => {
    const world = await fabricWorld()
    const router = await world.router('r1')
    for (let count = 0; count < 5; count += 1) router.send(CONTENT_TYPE.routerLinks, Uint8Array.of(0x0a, 0xff))
    await vi.waitFor(() => expect(world.told('router.misbehaved')).toHaveLength(1))
    expect(router.isClosed).toBe(false)
  })

  it('is given up when it reads nothing, while others are served', async () => {
    const world = await fabricWorld({ stallMs: 50, maxQueuedBytes: 100_000 })
    const router = await world.router('r1')
    const bystander = await world.router('r2')
    router.pause()
    // The answers fill what a connection holds and then what the controller holds for it.
    for (let count = 0; count < 5000; count += 1) router.send(CONTENT_TYPE.ping)
    const hello = await bystander.request(CONTENT_TYPE.ping)
    expect(hello.contentType).toBe(CONTENT_TYPE.result)
    await vi.waitFor(() => expect(world.told('router.misbehaved').map(({ what }) => what)).toContain('slow-reader'))
    expect(bystander.isClosed).toBe(false)
  })

  it('is slowed down when it floods', async () => {
    const world = await fabricWorld()
    const router = await world.router('r1')
    for (let count = 0; count < 11_000; count += 1) router.send(CONTENT_TYPE.heartbeat)
    await vi.waitFor(() => expect(world.told('router.misbehaved').map(({ what }) => what)).toContain('flood'))
    expect((await router.request(CONTENT_TYPE.ping)).contentType).toBe(CONTENT_TYPE.result)
  })
})

describe('what a router says that is not taken', () => {
  const text = (frame: routerSide.Frame) => new TextDecoder().decode(bodyOf(frame))
  const isRefused = (frame: routerSide.Frame) =>
    frame.contentType === CONTENT_TYPE.error || routerSide.readBool(frame.headers, HEADER.success) === false

  it('is answered in words, and answers to messages of ours by nothing', async () => {
    const world = await fabricWorld()
    const router = await world.router('r1')
    const reason = 'this controller does not take messages of this kind'
    for (const contentType of [1009, 20_299]) {
      const answer = await router.request(contentType)
      expect([isRefused(answer), text(answer)]).toEqual([true, reason])
    }
    const malformed = await router.request(CONTENT_TYPE.removeTerminators, Uint8Array.of(255, 255))
    expect([isRefused(malformed), text(malformed)]).toEqual([true, 'malformed message'])
    router.forget()
    router.send(CONTENT_TYPE.result, undefined, new Map([[HEADER.replyFor, routerSide.uint32Header(7)]]))
    router.send(1009, undefined, new Map([[HEADER.replyFor, routerSide.uint32Header(8)]]))
    const pong = await router.request(CONTENT_TYPE.ping)
    expect(router.received.filter(({ contentType }) => contentType === CONTENT_TYPE.result)).toEqual([pong])
  })

  it('is refused where it concerns the terminators of another router, in each form in which it may be said', async () => {
    const world = await fabricWorld()
    const { serviceId } = await tunnelNetwork(world)
    const owner = await world.router('owner', { fields: { isTunnelerEnabled: true } })
    await host(owner, serviceId)
    const other = await world.router('other')
    const terminatorId = 'terminator-1'
    const change = { terminatorId, cost: 9, updateCost: true }
    const said = [
      [CONTENT_TYPE.removeTerminators, routerSide.TerminatorIds.encode({ terminatorIds: [terminatorId] })],
      [CONTENT_TYPE.removeTerminator, routerSide.TerminatorId.encode({ terminatorId })],
      [CONTENT_TYPE.updateTerminator, routerSide.UpdateTerminator.encode(change)],
      [CONTENT_TYPE.updateTunnelTerminator, routerSide.UpdateTunnelTerminator.encode(change)],
    ] as const
    for (const [contentType, body] of said) {
      const answer = await other.request(contentType, body)
      expect([isRefused(answer), text(answer)]).toEqual([true, 'terminator of another router'])
    }
    expect(await world.call('GET', '/terminators/terminator-1')).toMatchObject({ cost: 0 })
    const updated = await owner.request(CONTENT_TYPE.updateTerminator, routerSide.UpdateTerminator.encode(change))
    expect(isRefused(updated)).toBe(false)
    expect(await world.call('GET', '/terminators/terminator-1')).toMatchObject({ cost: 9 })
    const removed = await owner.request(CONTENT_TYPE.removeTerminator, routerSide.TerminatorId.encode({ terminatorId }))
    expect(isRefused(removed)).toBe(false)
  })

  it('is answered before it is turned away: a hello that does not say its version', async () => {
    const world = await fabricWorld()
    const enrolled = await world.enroll('r1')
    const router = new FakeRouter(enrolled, world.listener, { saysVersion: false })
    expect(await router.connect()).toMatchObject({ accepted: false, reason: 'no version header provided' })
    await vi.waitFor(() => expect(router.isClosed).toBe(true))
  })
})
