import { once } from 'node:events'
import type { PostureCheck } from 'portcullis/policy'
import { describe, expect, it, vi } from 'vitest'
import { processTimer } from '../../adapters/network/channel/conversation.ts'
import { bodyOf, EDGE_HEADER, EDGE_TYPE } from '../../adapters/network/channel/edge-messages.ts'
import { readBool, readUint32 } from '../../adapters/network/channel/header-values.ts'
import { postureCheckOf, unknownCheck } from '../../adapters/network/fabric/messages/model-codec.ts'
import { RouterChannel } from '../../adapters/network/sdk/routers/router-channel.ts'
import type { ModelEvent } from '../../src/control-channel.ts'
// Internals: values of the wire that routers send and no entry point exports.
import { EDGE_ERROR } from '../../src/data-plane.ts'
import { type Report, report } from '../support/bearer-endpoints.ts'
import type { PlayedEndpoint } from '../support/edge-world.ts'
import { policy, withHost } from '../support/left-to-router.ts'

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

const domain = (name: string) => ({ domain: { name } })

const CONNECTED = EDGE_TYPE.stateConnected
const closedAt = (endpoint: PlayedEndpoint) =>
  endpoint.heard
    .filter(({ contentType }) => contentType === EDGE_TYPE.stateClosed)
    .map((message) => [readUint32(message.headers, EDGE_HEADER.connection), Buffer.from(bodyOf(message)).toString()])

describe('a router of ours whose controller leaves the posture of bearer sessions to it', () => {
  it('asks for the model again before its subscription ends: deployed controllers then send no more changes', async () => {
    const { world } = await withHost([])
    const askedAt: number[] = []
    let known = 0
    for (let passedMs = 0; passedMs <= 900_000; passedMs += 5000) {
      const asked = world.asked.filter(({ type }) => type === 'subscribe').length
      if (asked > known) askedAt.push(passedMs)
      known = asked
      world.elapse(5000)
    }
    const pauses = askedAt.slice(1).map((at, index) => at - (askedAt[index] ?? 0))
    expect(pauses.length).toBeGreaterThan(3)
    expect(Math.max(...pauses)).toBeLessThan(300_000)
  })

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

  it('keeps what runs under a check of a system without versions, whatever version is reported', async () => {
    const check: PostureCheck = { ...LINUX, operatingSystems: [{ type: 'Linux', versions: [] }] }
    const { world, client, host, dial } = await withHost([check])
    const system = (type: string, version: string) => ({ os: { type, version, build: '' } })
    report(client, system('linux', 'unknown'))
    expect((await dial()).contentType).toBe(CONNECTED)
    for (const version of ['6.1.0', '6.1', '']) report(client, system('linux', version))
    client.data(1, Buffer.from('one'))
    await vi.waitFor(() => expect(client.heard.some(({ contentType }) => contentType === EDGE_TYPE.data)).toBe(true))
    expect([closedAt(client), closedAt(host)]).toEqual([[], []])
    report(client, system('windows', '6.1.0'))
    await vi.waitFor(() => expect(closedAt(client)).toHaveLength(1))
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

  it.each<[string, PostureCheck, Partial<Report>, Partial<Report>]>([
    [
      'processes by their paths',
      AGENT,
      { processList: { processes: [running('/usr/bin/agent', 'bb')] } },
      { processList: { processes: [running('/usr/bin/other', 'aa'), running('/usr/bin/agent', 'aa')] } },
    ],
    [
      'operating systems',
      LINUX,
      { os: { type: 'linux', version: '5.15.0', build: '' } },
      { os: { type: 'linux', version: '6.1.0', build: '' } },
    ],
    [
      'addresses',
      { id: 'mac', name: 'mac', typeId: 'MAC', macAddresses: ['14:b2:2c:00:00:01'] },
      { macs: { addresses: ['14b22c000002'] } },
      { macs: { addresses: ['14-B2-2C-00-00-01'] } },
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
      report(client, { totpToken: { token: await world.token(claims, 'laptop') } })
      await new Promise((resolve) => setImmediate(resolve))
    }
    await factor({ z_t: 't', z_asid: 'another session' })
    await factor({ z_t: 'a', z_asid: 'session of laptop' })
    report(client, { totpToken: { token: 'a.b.c' } })
    expect((await dial()).contentType).toBe(EDGE_TYPE.stateClosed)
    await factor({ z_t: 't', z_asid: 'session of laptop' })
    await vi.waitFor(async () => expect((await dial()).contentType).toBe(CONNECTED))
    world.now += 700_000
    expect((await dial()).contentType).toBe(EDGE_TYPE.stateClosed)
    world.close()
  })

  it.each<[string, Partial<PostureCheck>, Partial<Report>, number]>([
    ['the second factor runs out', {}, {}, 540],
    ['nobody answers that it woke', { promptOnWake: true, timeoutSeconds: -1 }, { woken: { time: undefined } }, 300],
    ['nobody answers that it was unlocked', { promptOnUnlock: true }, { unlocked: { time: undefined } }, 300],
  ])('cuts the circuit of a client that is silent when %s', async (_what, asked, event, seconds) => {
    const check = { ...SECOND_FACTOR, ...asked } as PostureCheck
    const { world, client, host, dial } = await withHost([check], {
      amr: ['cert', 'totp'],
      auth_time: Math.floor(Date.now() / 1000) - 60,
    })
    if (Object.keys(event).length > 0) report(client, event)
    expect((await dial()).contentType).toBe(CONNECTED)
    world.elapse((seconds - 5) * 1000)
    await new Promise((resolve) => setImmediate(resolve))
    expect(closedAt(client)).toEqual([])
    world.elapse(10_000)
    await vi.waitFor(() => expect(closedAt(client)).toEqual([[1, 'posture checks fail: second factor']]))
    await vi.waitFor(() => expect(closedAt(host).length).toBe(1))
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

  it('hears what our SDK knows of its machine, behind its greeting and later', async () => {
    const { world } = await withHost([AT_WORK])
    const apiSessionToken = await world.token({ z_t: 'a', z_asid: 'session of an SDK' }, 'laptop')
    const greeting = { apiSessionToken, identityId: 'laptop' }
    const clock = { timer: processTimer, now: () => performance.now(), onClose: () => undefined }
    const router = await RouterChannel.open(world.way(), greeting, clock)
    router.report({ domain: 'corp.example', processes: [] })
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
