import { once } from 'node:events'
import { SignJWT } from 'jose'
import type { PostureCheck } from 'portcullis/policy'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Channel } from '../../adapters/network/channel/channel.ts'
import { channelPair } from '../../adapters/network/channel/channel-pair.ts'
import { processTimer } from '../../adapters/network/channel/conversation.ts'
import { bodyOf, EDGE_HEADER, EDGE_TYPE, edgeMessage, TRUE } from '../../adapters/network/channel/edge-messages.ts'
import { readBool, readUint32, textHeader } from '../../adapters/network/channel/header-values.ts'
import { PostureReports } from '../../adapters/network/channel/posture-messages.ts'
import type { MessageOf } from '../../adapters/network/channel/protobuf/index.ts'
import { modelCodec, postureCheckOf, unknownCheck } from '../../adapters/network/fabric/messages/model-codec.ts'
import { EdgeRouter } from '../../adapters/network/router/edge-router.ts'
import { FabricRouter } from '../../adapters/network/router/fabric-router.ts'
import { RouterChannel } from '../../adapters/network/sdk/routers/router-channel.ts'
import { EDGE_ERROR } from '../../src/facts/data-plane/edge/edge-refusal.ts'
import type { FromRouter, ModelEvent, ToRouter } from '../../src/facts/fabric/messages/index.ts'
import { PlayedEndpoint } from '../support/edge-world.ts'
import { type Issued, issue } from '../support/https-certificates.ts'

const HOUR_MS = 3_600_000
const AT_WORK = { id: 'at-work', name: 'at work', typeId: 'DOMAIN', domains: ['corp.example'] } as const
const SECOND_FACTOR: PostureCheck = {
  id: 'factor',
  name: 'second factor',
  typeId: 'MFA',
  timeoutSeconds: 600,
  promptOnWake: false,
  promptOnUnlock: false,
  ignoreLegacyEndpoints: false,
}
const AGENT: PostureCheck = {
  id: 'agent',
  name: 'agent runs',
  typeId: 'PROCESS',
  process: { osType: 'Linux', path: '/usr/bin/agent', hashes: ['aa'], signerFingerprint: undefined },
}
const LINUX: PostureCheck = {
  id: 'linux',
  name: 'linux',
  typeId: 'OS',
  operatingSystems: [{ type: 'Linux', versions: ['>=6.0.0'] }],
}

type Report = NonNullable<MessageOf<typeof PostureReports>['responses'][number]>
const NOTHING: Report = {
  ...{ macs: undefined, os: undefined, processList: undefined, domain: undefined },
  ...{ woken: undefined, unlocked: undefined, totpToken: undefined },
}
const domain = (name: string): Report => ({ ...NOTHING, domain: { name } })

let signer: Issued

beforeAll(async () => {
  signer = await issue('signer')
})

/** A router of ours under a controller that leaves posture to it: whatever the router asks for it gets. */
class LeftToRouter {
  now = Date.now()
  readonly asked: FromRouter[] = []
  readonly #edge: EdgeRouter
  readonly #controller: { take(message: ToRouter): Promise<FromRouter | undefined> }
  #index = 1
  #circuits = 0
  #terminator = ''

  constructor(events: readonly ModelEvent[]) {
    let edge: EdgeRouter | undefined
    const router = new FabricRouter({
      routerId: 'router',
      credentials: () => ({ key: '', clientCert: '', serverCert: '', ca: '' }),
      listeners: [],
      clock: { now: () => performance.now(), timer: () => () => undefined },
      random: Math.random,
      host: (host) => {
        edge = new EdgeRouter({ id: 'router', caPem: '', version: 'v', advertise: '', now: () => this.now }, host)
        return edge
      },
    })
    this.#controller = router.connected({ id: 'c', judgesPosture: false, ask: (message) => this.#ask(message) })
    if (edge === undefined) throw new Error('a router without edge')
    this.#edge = edge
    const publicKey = { type: 'public-key', kid: 'k', data: signer.der, usages: ['jwt'] } as const
    const all = [{ action: 'create', entity: publicKey } as const, ...identities(), ...events]
    const state = { type: 'model-state', index: 1, timelineId: 't', subscriptionId: 's' } as const
    void this.#controller.take({ ...state, events: [modelCodec.state(all)] })
  }

  change(...events: readonly ModelEvent[]): void {
    this.#index += 1
    const facts = { type: 'model-changes', index: this.#index, previousIndex: this.#index - 1 } as const
    void this.#controller.take({ ...facts, events: modelCodec.changes(events) } as ToRouter)
  }

  way(): Channel {
    const [channel, theirs] = channelPair()
    this.#edge.greet(theirs, { chain: [], remoteAddress: '127.0.0.1', isOfProcess: true })
    return channel
  }

  async connect(identityId: string, claims: Readonly<Record<string, unknown>> = {}): Promise<PlayedEndpoint> {
    const channel = this.way()
    const token = await this.token({ z_t: 'a', z_asid: `session of ${identityId}`, ...claims }, identityId)
    return PlayedEndpoint.open(channel, { id: identityId } as PlayedEndpoint['device'], token, -1)
  }

  token(claims: Readonly<Record<string, unknown>>, sub: string): Promise<string> {
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setSubject(sub)
      .setAudience('openziti')
      .setIssuedAt(Math.floor(this.now / 1000))
      .setExpirationTime(Math.floor((this.now + HOUR_MS) / 1000))
      .sign(signer.keys.privateKey)
  }

  close(): void {
    this.#edge.close()
  }

  async #ask(message: FromRouter): Promise<ToRouter | undefined> {
    this.asked.push(message)
    if (message.type === 'create-terminator') {
      this.#terminator = message.address
      return { type: 'terminator-created', terminatorId: message.address, startTime: 0n }
    }
    if (message.type !== 'create-circuit') return undefined
    this.#circuits += 1
    const circuitId = `circuit-${this.#circuits}`
    const [address, egress] = [`${circuitId} in`, `${circuitId} out`]
    const common = { circuitId, peerData: new Map<number, Uint8Array>(), tags: new Map<string, string>() }
    await this.#controller.take({
      ...{ ...common, type: 'route', attempt: 1, timeoutMs: 5000 },
      forwards: [
        { srcAddress: address, dstAddress: egress, dstType: 'end' },
        { srcAddress: egress, dstAddress: address, dstType: 'start' },
      ],
      egress: { binding: 'edge', address: egress, destination: this.#terminator, peerData: new Map() },
    })
    return { ...common, type: 'circuit-created', address }
  }
}

function identities(): readonly ModelEvent[] {
  return ['laptop', 'box'].map((id) => ({
    action: 'create',
    entity: {
      ...{ type: 'identity', id, name: id, disabled: false, appDataJson: '' },
      ...{ defaultHostingPrecedence: 'default', defaultHostingCost: 0 },
      ...{ serviceHostingPrecedences: new Map(), serviceHostingCosts: new Map(), serviceConfigs: new Map() },
    },
  }))
}

/** A policy by which an identity may use the service `wiki`. */
function policy(id: string, policyType: 'Dial' | 'Bind', identity: string, checks: readonly PostureCheck[] = []) {
  const sides = { identities: [identity], services: ['wiki'], 'posture-checks': checks.map((check) => check.id) }
  const relations = (['identities', 'services', 'posture-checks'] as const).flatMap((side): ModelEvent[] =>
    sides[side].length === 0 ? [] : [{ action: 'relate', policyId: id, side, entityIds: sides[side] }],
  )
  const entities = checks.map((check): ModelEvent => ({ action: 'create', entity: { type: 'posture-check', check } }))
  const own: ModelEvent = { action: 'create', entity: { type: 'service-policy', id, name: id, policyType } }
  return [...entities, own, ...relations]
}

const report = (endpoint: PlayedEndpoint, ...responses: readonly Report[]) => {
  endpoint.send({ contentType: EDGE_TYPE.posture, headers: new Map(), body: [PostureReports.encode({ responses })] })
}

async function withHost(checks: readonly PostureCheck[], claims = {}) {
  const world = new LeftToRouter([...policy('hosts', 'Bind', 'box'), ...policy('clients', 'Dial', 'laptop', checks)])
  const host = await world.connect('box')
  host.serve((connection, body, flags) => host.data(connection, body, flags))
  const service = await world.token({ jti: 'bind' }, 'wiki')
  const bound = edgeMessage(EDGE_TYPE.bind, 1, [[EDGE_HEADER.assignedConnection, TRUE]], textHeader(service))
  expect((await host.ask(bound)).contentType).toBe(EDGE_TYPE.stateConnected)
  const client = await world.connect('laptop', claims)
  let last = 0
  const dial = async () => {
    last += 1
    return client.ask(edgeMessage(EDGE_TYPE.connect, last, [], textHeader(await world.token({}, 'wiki'))))
  }
  return { world, host, client, dial }
}

const CONNECTED = EDGE_TYPE.stateConnected
const closedAt = (endpoint: PlayedEndpoint) =>
  endpoint.heard
    .filter(({ contentType }) => contentType === EDGE_TYPE.stateClosed)
    .map((message) => [readUint32(message.headers, EDGE_HEADER.connection), Buffer.from(bodyOf(message)).toString()])

describe('a router of ours whose controller leaves the posture of bearer sessions to it', () => {
  it('says so, lets nobody through who reported nothing, and whoever passes', async () => {
    const { world, client, dial } = await withHost([AT_WORK])
    expect(readBool(client.greeting.headers, EDGE_HEADER.supportsPosture)).toBe(true)
    const refused = await dial()
    expect([refused.contentType, readUint32(refused.headers, EDGE_HEADER.errorCode)]).toEqual([
      EDGE_TYPE.stateClosed,
      EDGE_ERROR['posture-check-failed'],
    ])
    expect(Buffer.from(bodyOf(refused)).toString()).toBe('posture checks fail: at work')
    report(client, domain('elsewhere.example'))
    expect((await dial()).contentType).toBe(EDGE_TYPE.stateClosed)
    report(client, domain('CORP.example'))
    expect((await dial()).contentType).toBe(CONNECTED)
    expect(world.asked.filter(({ type }) => type === 'create-circuit').length).toBe(1)
    world.close()
  })

  it('cuts what runs when the posture fails, and tells the controller and the endpoint', async () => {
    const { world, client, host, dial } = await withHost([AT_WORK])
    report(client, domain('corp.example'))
    expect((await dial()).contentType).toBe(CONNECTED)
    client.data(1, Buffer.from('one'))
    const data = () => client.heard.filter(({ contentType }) => contentType === EDGE_TYPE.data).length
    await vi.waitFor(() => expect(data()).toBe(1))
    report(client, domain('elsewhere.example'))
    await vi.waitFor(() => expect(closedAt(client)).toEqual([[1, 'posture checks fail: at work']]))
    await vi.waitFor(() => expect(closedAt(host).length).toBe(1))
    client.data(1, Buffer.from('two'))
    expect(world.asked).toContainEqual(expect.objectContaining({ type: 'fault', id: 'circuit-1', subject: 'ingress' }))
    expect(data()).toBe(1)
    world.close()
  })

  it.each<[string, readonly ModelEvent[]]>([
    ['its policy ends', [{ action: 'delete', type: 'service-policy', id: 'clients' }]],
    ['its policy loses the identity', [separate('identities', 'laptop')]],
    ['its policy loses the service', [separate('services', 'wiki')]],
  ])('cuts what runs when %s', async (_, events) => {
    const { world, client, dial } = await withHost([])
    expect((await dial()).contentType).toBe(CONNECTED)
    world.change(...policy('others', 'Dial', 'box'))
    world.change(...events)
    await vi.waitFor(() => expect(closedAt(client)).toEqual([[1, 'no policy grants the service']]))
    expect((await dial()).contentType).toBe(EDGE_TYPE.stateClosed)
    world.close()
  })

  it('cuts what runs when a check is added that does not pass, and hosts that do not pass register no more', async () => {
    const { world, client, host, dial } = await withHost([])
    expect((await dial()).contentType).toBe(CONNECTED)
    const check = { action: 'create', entity: { type: 'posture-check', check: AT_WORK } } as const
    const asked = (policyId: string) =>
      ({ action: 'relate', policyId, side: 'posture-checks', entityIds: ['at-work'] }) as const
    world.change(check, asked('hosts'))
    const why = 'posture checks fail: at work'
    await vi.waitFor(() => expect(closedAt(host)).toContainEqual([1, why]))
    await vi.waitFor(() => expect(closedAt(client)).toEqual([[1, '']]))
    expect(world.asked).toContainEqual(expect.objectContaining({ type: 'remove-terminators' }))
    world.close()
  })

  it.each<[string, PostureCheck, Report, Report]>([
    [
      'processes by their paths',
      AGENT,
      { ...NOTHING, processList: { processes: [running('/usr/bin/agent', 'bb')] } },
      { ...NOTHING, processList: { processes: [running('/usr/bin/other', 'aa'), running('/usr/bin/agent', 'aa')] } },
    ],
    [
      'operating systems',
      LINUX,
      { ...NOTHING, os: { type: 'linux', version: '5.15.0', build: '' } },
      { ...NOTHING, os: { type: 'linux', version: '6.1.0', build: '' } },
    ],
    [
      'addresses',
      { id: 'mac', name: 'mac', typeId: 'MAC', macAddresses: ['14:b2:2c:00:00:01'] },
      { ...NOTHING, macs: { addresses: ['14b22c000002'] } },
      { ...NOTHING, macs: { addresses: ['14-B2-2C-00-00-01'] } },
    ],
  ])('judges %s as its controller would', async (_, check, failing, passing) => {
    const { world, client, dial } = await withHost([check])
    report(client, failing)
    expect((await dial()).contentType).toBe(EDGE_TYPE.stateClosed)
    report(client, passing)
    expect((await dial()).contentType).toBe(CONNECTED)
    world.close()
  })

  it('reads that no signer and no hash is asked for where a controller sends an empty one', () => {
    const process = { osType: 'Linux', path: '/usr/bin/agent', hashes: [''], fingerprints: [''] }
    const check = postureCheckOf({ ...unknownCheck('agent'), process })
    const asked = { path: '/usr/bin/agent', hashes: [], signerFingerprint: '', osType: 'Linux' }
    expect(check).toMatchObject({ typeId: 'PROCESS', process: asked })
  })

  it('counts a second factor that a controller confirmed for the session, until it runs out', async () => {
    const { world, client, dial } = await withHost([SECOND_FACTOR])
    const factor = async (claims: Readonly<Record<string, unknown>>) => {
      report(client, { ...NOTHING, totpToken: { token: await world.token(claims, 'laptop') } })
      await new Promise((resolve) => setImmediate(resolve))
    }
    await factor({ z_t: 't', z_asid: 'another session' })
    await factor({ z_t: 'a', z_asid: 'session of laptop' })
    report(client, { ...NOTHING, totpToken: { token: 'a.b.c' } })
    expect((await dial()).contentType).toBe(EDGE_TYPE.stateClosed)
    await factor({ z_t: 't', z_asid: 'session of laptop' })
    await vi.waitFor(async () => expect((await dial()).contentType).toBe(CONNECTED))
    world.now += 700_000
    expect((await dial()).contentType).toBe(EDGE_TYPE.stateClosed)
    world.close()
  })

  it('counts the second factor of the log-in', async () => {
    const { world, dial } = await withHost([SECOND_FACTOR], {
      amr: ['cert', 'totp'],
      auth_time: Math.floor(Date.now() / 1000) - 60,
    })
    expect((await dial()).contentType).toBe(CONNECTED)
    world.now += 700_000
    expect((await dial()).contentType).toBe(EDGE_TYPE.stateClosed)
    world.close()
  })

  it('hears what our SDK knows of its machine, at its greeting and later', async () => {
    const { world } = await withHost([AT_WORK])
    const apiSessionToken = await world.token({ z_t: 'a', z_asid: 'session of an SDK' }, 'laptop')
    const greeting = { apiSessionToken, identityId: 'laptop', posture: { domain: 'corp.example', processes: [] } }
    const clock = { timer: processTimer, now: () => performance.now(), onClose: () => undefined }
    const router = await RouterChannel.open(world.way(), greeting, clock)
    const sessionToken = await world.token({}, 'wiki')
    const asked = { service: 'wiki', isEncrypted: false, callerName: 'laptop', timeoutMs: 5000 }
    const dial = () => router.dial({ ...asked, sessionToken })
    const connection = await dial()
    const ended = once(connection, 'close')
    router.report({ domain: 'elsewhere.example' })
    connection.resume()
    await ended
    await expect(dial()).rejects.toMatchObject({ code: 'POSTURE_FAILED' })
    router.close()
    world.close()
  })

  it('passes over reports that are no messages', async () => {
    const { world, client, dial } = await withHost([AT_WORK])
    client.send({ contentType: EDGE_TYPE.posture, headers: new Map(), body: [Buffer.from('ffffff', 'hex')] })
    report(client, domain('corp.example'))
    expect((await dial()).contentType).toBe(CONNECTED)
    world.close()
  })
})

function separate(side: 'identities' | 'services', id: string): ModelEvent {
  return { action: 'separate', policyId: 'clients', side, entityIds: [id] }
}

function running(path: string, hash: string) {
  return { path, hash, isRunning: true, signerFingerprints: [] }
}
