import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { duplexPair } from 'node:stream'
import { SignJWT } from 'jose'
import { type FromRouter, type ModelEvent, openControlListener, type ToRouter } from 'portcullis/fabric'
import { createTestController } from 'portcullis/testing'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { channelPair } from '../../adapters/network/channel/channel-pair.ts'
import { ChannelSocket } from '../../adapters/network/channel/channel-socket.ts'
import { textIn } from '../../adapters/network/channel/edge-messages.ts'
import { modelCodec } from '../../adapters/network/fabric/messages/model-codec.ts'
import { EdgeRouter } from '../../adapters/network/router/edge-router.ts'
import { FabricRouter } from '../../adapters/network/router/fabric-router.ts'
import { openOwnRouter } from '../../adapters/network/router/index.ts'
import { PlayedEndpoint } from '../support/edge-world.ts'
import { type Issued, issue } from '../support/https-certificates.ts'
import { withSharedPki } from '../support/shared-pki.ts'

const HOUR_SECONDS = 3600
const WIDE = {
  frame: { headers: 65_536, body: 65_536 },
  outgoing: { bytes: 1e6, stallMs: 10_000 },
  rate: { perSecond: 1e6, burst: 1e6 },
}

let signer: Issued
let stranger: Issued

beforeAll(async () => {
  signer = await issue('signer')
  stranger = await issue('stranger')
})
afterEach(() => vi.restoreAllMocks())

/** An edge router under a played controller whose key it knows, with the identities of `events`. */
function edgeRouter(events: readonly ModelEvent[] = []) {
  const edges: EdgeRouter[] = []
  const logged: unknown[] = []
  const clock = { now: Date.now() }
  const router = new FabricRouter({
    routerId: 'router',
    credentials: () => ({ key: '', clientCert: '', serverCert: '', ca: '' }),
    listeners: [],
    clock: { now: () => performance.now(), timer: () => () => undefined },
    random: Math.random,
    host: (host) => {
      const facts = { id: 'router', caPem: signer.cert, version: 'v', advertise: '', now: () => clock.now }
      const log = (...line: unknown[]) => void logged.push(line)
      const edge = new EdgeRouter({ ...facts, log }, host)
      edges.push(edge)
      return edge
    },
  })
  const controller = router.connected({ id: 'c', judgesPosture: true, ask: async () => undefined })
  const key = { type: 'public-key', kid: 'k', data: signer.der, usages: ['jwt'] } as const
  const state = { type: 'model-state', index: 1, timelineId: 't', subscriptionId: 's' } as const
  const take = (message: ToRouter): Promise<FromRouter | undefined> => controller.take(message)
  void take({ ...state, events: [modelCodec.state([{ action: 'create', entity: key }, ...events])] })
  return {
    take,
    logged,
    clock,
    /** An endpoint over a socket; answers it with the router's end of the socket. */
    async connect(token: string) {
      const [theirs, own] = duplexPair()
      edges[0]?.accept(own, { chain: [stranger.der], remoteAddress: '127.0.0.1' })
      const channel = new ChannelSocket(theirs, WIDE, WIDE.frame, {
        onMessage: () => undefined,
        onClose: () => undefined,
      })
      const endpoint = await PlayedEndpoint.open(channel, { id: 'laptop' } as PlayedEndpoint['device'], token, -1)
      expect(endpoint.isAdmitted).toBe(true)
      return { theirs, own }
    },
    async hello(token: string, chain: readonly Uint8Array[]) {
      const [channel, theirs] = channelPair()
      edges[0]?.greet(theirs, { chain, remoteAddress: '127.0.0.1' })
      return PlayedEndpoint.open(channel, { id: 'stranger' } as PlayedEndpoint['device'], token, -1)
    },
  }
}

/** An access token, by the key of the network or by another one under its name. */
function accessToken(key: Issued, expiresIn = HOUR_SECONDS) {
  const now = Math.floor(Date.now() / 1000)
  const fingerprint = createHash('sha1').update(stranger.der).digest('hex')
  return new SignJWT({ z_t: 'a', z_asid: 'session', z_cfs: [fingerprint] })
    .setProtectedHeader({ alg: 'ES256', kid: 'k' })
    .setSubject('laptop')
    .setAudience('openziti')
    .setIssuedAt(now)
    .setExpirationTime(now + expiresIn)
    .sign(key.keys.privateKey)
}

const laptop: ModelEvent = {
  action: 'create',
  entity: {
    ...{ type: 'identity', id: 'laptop', name: 'laptop', disabled: false, appDataJson: '' },
    ...{ defaultHostingPrecedence: 'default', defaultHostingCost: 0 },
    ...{ serviceHostingPrecedences: new Map(), serviceHostingCosts: new Map(), serviceConfigs: new Map() },
  },
}

describe('the hello of a stranger', () => {
  it('costs one verification of a signature, and is refused at once', async () => {
    const router = edgeRouter()
    const forged = await accessToken(stranger)
    const verify = vi.spyOn(crypto.subtle, 'verify')
    const from = performance.now()
    const refused = await router.hello(forged, [stranger.der])
    expect([refused.isAdmitted, textIn(refused.greeting)]).toEqual([false, 'the access token is invalid'])
    expect(verify).toHaveBeenCalledTimes(1)
    expect(performance.now() - from).toBeLessThan(2500)
  })

  it('costs none without a certificate', async () => {
    const router = edgeRouter()
    const forged = await accessToken(stranger)
    const verify = vi.spyOn(crypto.subtle, 'verify')
    const refused = await router.hello(forged, [])
    expect(textIn(refused.greeting)).toBe('no client certificate was shown')
    expect(verify).not.toHaveBeenCalled()
  })

  it('is told that its token has expired', async () => {
    const refused = await edgeRouter().hello(await accessToken(signer, -60), [stranger.der])
    expect(textIn(refused.greeting)).toBe('the access token has expired')
  })

  it('waits for its identity to be announced, and its token is verified once meanwhile', async () => {
    const router = edgeRouter()
    const token = await accessToken(signer)
    const verify = vi.spyOn(crypto.subtle, 'verify')
    const opening = router.hello(token, [stranger.der])
    await new Promise((resolve) => setTimeout(resolve, 400))
    const changes = { type: 'model-changes', index: 2, previousIndex: 1 } as const
    await router.take({ ...changes, events: modelCodec.changes([laptop]) } as ToRouter)
    expect((await opening).isAdmitted).toBe(true)
    expect(verify).toHaveBeenCalledTimes(1)
  })
})

describe('an endpoint that sends what is no frame', () => {
  it('is told to the log of its router once a minute, however often it comes back', async () => {
    const router = edgeRouter([laptop])
    const token = await accessToken(signer)
    const breakProtocol = async () => {
      const { theirs, own } = await router.connect(token)
      const cut = once(own, 'close')
      theirs.write(Buffer.alloc(64, 0xff))
      await cut
    }
    await breakProtocol()
    await breakProtocol()
    const line = ['endpoint.misbehaved', { identityId: 'laptop', what: 'malformed' }]
    expect(router.logged).toEqual([line])
    router.clock.now += 60_000
    await breakProtocol()
    expect(router.logged).toEqual([line, line])
  })
})

describe('the address of an edge router', () => {
  it.each([
    ['[2001:db8::7]:1280', '2001:db8::7'],
    ['router.test:1280', 'router.test'],
  ])('names the host of %s as %s', async (advertise, hostname) => {
    const controller = await createTestController(await withSharedPki())
    const { plane } = await openControlListener(controller, { addresses: ['tls:controller.test:1280'] })
    const router = await openOwnRouter({}, { plane, advertise })
    const { data } = await controller.admin.call('GET /edge-routers')
    expect(data.map((shown) => shown.hostname)).toEqual([hostname])
    router.close()
  })
})
