import type { Duplex } from 'node:stream'
import { queryObjects } from 'node:v8'
import type { PolicySide } from 'portcullis/fabric'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it, vi } from 'vitest'
import { writePayload } from '../../adapters/network/channel/circuit-frames.ts'
import { processTimer } from '../../adapters/network/channel/conversation.ts'
import {
  bodyOf,
  EDGE_HEADER,
  EDGE_TYPE,
  edgeMessage,
  TRUE,
  textIn,
} from '../../adapters/network/channel/edge-messages.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
import { readText, readUint32, textBytes, uint32Header } from '../../adapters/network/channel/header-values.ts'
import { modelCodec } from '../../adapters/network/fabric/messages/model-codec.ts'
import { claimIn } from '../../adapters/network/router/edge/edge-admission.ts'
import { EdgeConnection } from '../../adapters/network/router/edge/edge-connection.ts'
import { RouterModel } from '../../adapters/network/router/state/router-model.ts'
import { createLoopTurns } from '../../src/data-plane.ts'
import { adminToken } from '../support/delegate.ts'
import { type EdgeWorld, edgeWorld, type PlayedEndpoint, until } from '../support/edge-world.ts'

const END = 1
/** Changes of access, each of which must show. */
const ROUNDS = 20

async function hostAndClient(world: EdgeWorld, assigns = true): Promise<readonly [PlayedEndpoint, PlayedEndpoint]> {
  const host = await world.connect(await world.device('host', ['hosts']))
  const client = await world.connect(await world.device('client', ['clients']))
  host.serve((connection, body, flags) => host.data(connection, body, flags))
  await host.host(1, { assigns })
  return [host, client]
}

const received = (endpoint: PlayedEndpoint) =>
  endpoint.heard
    .filter(({ contentType }) => contentType === EDGE_TYPE.data)
    .map((message) => [Buffer.from(bodyOf(message)).toString(), readUint32(message.headers, EDGE_HEADER.flags)])

const closed = (endpoint: PlayedEndpoint) =>
  endpoint.heard.filter(({ contentType }) => contentType === EDGE_TYPE.stateClosed)

describe('an edge router in the process of its controller', () => {
  it('is an edge router like any other, and is there again after it was closed', async () => {
    const { controller, router } = await edgeWorld()
    const { data } = await controller.admin.call('GET /edge-routers')
    expect(data.map(({ id, name, isOnline, isVerified }) => ({ id, name, isOnline, isVerified }))).toEqual([
      { id: router.id, name: 'portcullis', isOnline: true, isVerified: true },
    ])
    expect(data[0]?.supportedProtocols).toEqual({ tls: 'tls://controller.test:1280' })
    router.close()
    const { data: after } = await controller.admin.call('GET /edge-routers')
    expect(after[0]?.isOnline).toBe(false)
  })

  it('answers a hello by its number, and lets nobody in without a session, with another certificate, or disabled', async () => {
    const world = await edgeWorld()
    const [laptop, phone] = [await world.device('laptop', []), await world.device('phone', [])]
    const admitted = await world.connect(laptop, { sequence: 7 })
    expect(admitted.isAdmitted).toBe(true)
    expect(readUint32(admitted.greeting.headers, EDGE_HEADER.replyFor)).toBe(7)
    expect(readText(admitted.greeting.headers, EDGE_HEADER.routerName)).toBe(world.router.id)
    const withoutCertificate = await world.connect(laptop, { chain: [] })
    expect(textIn(withoutCertificate.greeting)).toBe('no client certificate was shown')
    const ofAnother = await world.connect(laptop, { chain: phone.connection.clientCertificates ?? [] })
    expect(textIn(ofAnother.greeting)).toBe('the client certificate does not belong to the api session')
    expect([withoutCertificate.isAdmitted, ofAnother.isAdmitted]).toEqual([false, false])
    await world.controller.admin.call('POST /identities/{id}/disable', {
      params: { id: laptop.id },
      body: { durationMinutes: 0 },
    })
    await until(() => admitted.isClosed)
  })

  it.each([
    ['ids of the router', true],
    ['ids of the host', false],
  ] as const)(
    'carries what is dialed to the host and back, in order, with half close, under %s',
    async (_, assigns) => {
      const world = await edgeWorld()
      const [host, client] = await hostAndClient(world, assigns)
      const answer = await client.dial(5)
      expect(answer.contentType).toBe(EDGE_TYPE.stateConnected)
      expect(readText(answer.headers, EDGE_HEADER.circuit)).toBeDefined()
      for (const text of ['one', 'two', '', 'three']) client.data(5, Buffer.from(text))
      client.data(5, new Uint8Array(0), END)
      await until(() => received(client).length === 5)
      expect(received(client)).toEqual(
        [
          ['one', undefined],
          ['two', undefined],
          ['', undefined],
          ['three', undefined],
          ['', END],
        ].map(([text, flags]) => [text, flags === undefined ? 0 : flags]),
      )
      const dial = host.heard.find(({ contentType }) => contentType === EDGE_TYPE.dial)
      expect(dial && readText(dial.headers, EDGE_HEADER.dialerName)).toBe('client')
      client.send(edgeMessage(EDGE_TYPE.stateClosed, 5))
      await until(() => closed(host).length === 1)
      await until(async () => (await circuitsOf(world)).length === 0)
    },
  )

  it('tells operators its circuits, what it hosts and who is connected, as the controller knows it', async () => {
    const world = await edgeWorld()
    const [host, client] = await hostAndClient(world)
    await client.dial(5)
    const names = ['router-circuits', 'sdk-terminators', 'identity-connection-statuses', 'links', 'no-such-value']
    const asked = { appRegex: world.router.id, requestedValues: names }
    const { values, errors } = await askFabric<Inspection>(world, 'POST', '/inspections', asked)
    expect(errors ?? []).toEqual([])
    expect(values.map(({ name }) => name).sort()).toEqual(names.slice(0, 4).sort())
    const inspected = (name: string) => values.find((one) => one.name === name)?.value
    const [circuit] = await circuitsOf(world)
    const { circuits } = Object(inspected('router-circuits'))
    expect(Object.keys(circuits)).toEqual([circuit?.id])
    expect(Object.values(circuits[circuit?.id ?? ''].destinations)).toEqual(['edge', 'edge'])
    const { data: stored } = await world.controller.admin.call('GET /terminators')
    expect(inspected('sdk-terminators')).toMatchObject({ entries: [{ id: stored[0]?.id, state: 'established' }] })
    const connected = Object(inspected('identity-connection-statuses')).identity_connections
    expect(Object.keys(connected).sort()).toEqual([client.device.id, host.device.id].sort())
    expect(inspected('links')).toMatchObject({ links: [] })
  })

  it('refuses a dial with the cause, and takes the same id afterwards', async () => {
    const world = await edgeWorld()
    const client = await world.connect(await world.device('client', ['clients']))
    const refused = await client.dial(5)
    expect([refused.contentType, textIn(refused)]).toEqual([EDGE_TYPE.stateClosed, 'service wiki has no terminators'])
    const invalid = await client.ask(edgeMessage(EDGE_TYPE.connect, 5, [], Buffer.from('no session')))
    // These words make some SDKs get a new session, and no others do.
    expect([textIn(invalid), readUint32(invalid.headers, EDGE_HEADER.errorCode)]).toEqual(['Invalid Session', 3])
  })

  it('tells the client why the host refused, and the host gets no data', async () => {
    const world = await edgeWorld()
    const [host, client] = await hostAndClient(world)
    host.onMessage((message) => {
      if (message.contentType !== EDGE_TYPE.dial) return
      host.reply(message, edgeMessage(EDGE_TYPE.dialFailed, 1, [], Buffer.from('rejected by application: not today')))
    })
    expect(textIn(await client.dial(5))).toContain('rejected by application: not today')
    expect(received(host)).toEqual([])
  })

  it('ends what runs at once when access is gone, lets in at once who has it again, and ends the channel with the session', async () => {
    // No timer of the router runs: whatever follows a change follows it at once.
    const world = await edgeWorld(() => () => undefined)
    const [, client] = await hostAndClient(world)
    const { admin } = world.controller
    const params = { id: client.device.id }
    for (let round = 1; round <= ROUNDS; round += 1) {
      await client.dial(round)
      await admin.call('PATCH /identities/{id}', { params, body: { roleAttributes: [] } })
      await until(() => closed(client).length === round)
      expect(await circuitsOf(world)).toEqual([])
      await admin.call('PATCH /identities/{id}', { params, body: { roleAttributes: ['clients'] } })
      expect((await client.dial(ROUNDS + round)).contentType).toBe(EDGE_TYPE.stateConnected)
      client.send(edgeMessage(EDGE_TYPE.stateClosed, ROUNDS + round))
      await until(async () => (await circuitsOf(world)).length === 0)
    }
    await client.device.call('DELETE /current-api-session')
    await until(() => client.isClosed)
  })

  it('hosts under a listener id again without a gap: the terminator stays, and the bind before is told', async () => {
    const world = await edgeWorld()
    const device = await world.device('host', ['hosts'])
    const listener: [number, Uint8Array][] = [[EDGE_HEADER.listener, Buffer.from('the same')]]
    const [before, after] = [await world.connect(device), await world.connect(device)]
    await before.host(1, { headers: listener })
    const terminators = async () => (await world.controller.admin.call('GET /terminators')).data.map(({ id }) => id)
    const first = await terminators()
    await after.host(3, { headers: [...listener, [EDGE_HEADER.supportsBindSuccess, TRUE]] })
    expect(await terminators()).toEqual(first)
    await until(() => closed(before).length === 1)
    expect(after.heard.map(({ contentType }) => contentType)).toEqual([EDGE_TYPE.bindSuccess])
    after.channel.destroy()
    await expect.poll(terminators).toEqual([])
  })

  it('keeps cost and precedence of a bind, and changes them', async () => {
    const world = await edgeWorld()
    const host = await world.connect(await world.device('host', ['hosts']))
    await host.host(1, {
      headers: [
        [EDGE_HEADER.cost, Uint8Array.of(9, 0)],
        [EDGE_HEADER.precedence, Uint8Array.of(1)],
        [EDGE_HEADER.instance, textBytes('one')],
      ],
    })
    const shown = async () => {
      const { data } = await world.controller.admin.call('GET /terminators')
      return data.map(({ cost, precedence, identity }) => ({ cost, precedence, identity }))
    }
    expect(await shown()).toEqual([{ cost: 9, precedence: 'required', identity: 'one' }])
    host.send(edgeMessage(EDGE_TYPE.updateBind, 1, [[EDGE_HEADER.cost, uint32Header(300)]]))
    await expect.poll(shown).toEqual([{ cost: 300, precedence: 'required', identity: 'one' }])
    const client = await world.connect(await world.device('client', ['clients']))
    host.serve()
    expect(textIn(await client.dial(5))).toBe('service wiki has no terminators')
    const named = await client.dial(6, [[EDGE_HEADER.instance, textBytes('one')]])
    expect(named.contentType).toBe(EDGE_TYPE.stateConnected)
    const unbound = await host.ask(edgeMessage(EDGE_TYPE.unbind, 1))
    expect(unbound.contentType).toBe(EDGE_TYPE.stateClosed)
    await expect.poll(shown).toEqual([])
  })

  it('keeps nobody waiting behind messages for somebody who does not read', async () => {
    const waits: number[] = []
    const world = await edgeWorld((ms, work) => {
      waits.push(ms)
      // Whatever is spared stays spared.
      return ms === 50 ? processTimer(ms, work) : () => undefined
    })
    const [slow, quick, client] = await Promise.all([
      world.connect(await world.device('slow', ['hosts'])),
      world.connect(await world.device('quick', ['hosts'])),
      world.connect(await world.device('client', ['clients'])),
    ])
    const windows: [number, Uint8Array][] = [[EDGE_HEADER.usesXgress, TRUE]]
    const circuits: string[] = []
    for (const [at, host] of [slow, quick].entries()) {
      host.serve()
      await host.host(1, { headers: [...windows, [EDGE_HEADER.instance, textBytes(`host ${at}`)]] })
      const answer = await client.dial(5 + at, [...windows, [EDGE_HEADER.instance, textBytes(`host ${at}`)]])
      circuits.push(readText(answer.headers, EDGE_HEADER.circuit) ?? '')
    }
    const send = (at: number, sequence: number, bytes: number) => {
      const facts = { circuitId: circuits[at] ?? '', sequence, flags: 0, sentAt: 1, items: new Map() }
      const payload = writePayload({ ...facts, body: new Uint8Array(bytes) })
      client.send({ ...payload, headers: new Map(payload.headers).set(EDGE_HEADER.connection, uint32Header(5 + at)) })
    }
    slow.channel.pause()
    for (let sequence = 0; sequence < 20; sequence += 1) send(0, sequence, 1_000_000)
    send(1, 0, 10)
    await until(() => quick.heard.some(({ contentType }) => contentType === EDGE_TYPE.payload))
    // Once 50 ms, and not again for every message.
    expect(waits.filter((ms) => ms === 50)).toHaveLength(1)
  })

  it('answers probes of liveness with what they carry', async () => {
    const world = await edgeWorld()
    const client = await world.connect(await world.device('client', []))
    const probe = new Map([[EDGE_HEADER.probe, Buffer.from('12345678')]])
    const answer: Frame = await client.ask({ contentType: EDGE_TYPE.latency, headers: probe, body: [] })
    expect([answer.contentType, answer.headers.get(EDGE_HEADER.probe)]).toEqual([
      EDGE_TYPE.result,
      Buffer.from('12345678'),
    ])
  })

  it('comes back after it was disabled, and serves again', async () => {
    const world = await edgeWorld()
    const [host] = await hostAndClient(world)
    const { admin } = world.controller
    const change = (disabled: boolean) =>
      admin.call('PATCH /edge-routers/{id}', { params: { id: world.router.id }, body: { disabled } })
    await change(true)
    const online = async () => (await admin.call('GET /edge-routers')).data[0]?.isOnline
    await expect.poll(online).toBe(false)
    await change(false)
    await expect.poll(online, { timeout: 5000 }).toBe(true)
    expect(host.isClosed).toBe(false)
  })
})

/** The answer of the fabric API to the admin. */
async function askFabric<Answer>({ controller }: EdgeWorld, method: 'GET' | 'POST', path: string, body?: object) {
  const headers = { 'zt-session': await adminToken(controller), 'content-type': 'application/json' }
  const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  const answer = await controller.fetch(new Request(`https://controller.test:1280/fabric/v1${path}`, sent))
  return (await answer.json()) as Answer
}

interface Inspection {
  readonly values: readonly { readonly name: string; readonly value: unknown }[]
  readonly errors?: readonly string[]
}

async function circuitsOf(world: EdgeWorld): Promise<readonly { readonly id: string }[]> {
  const { data } = await askFabric<{ readonly data: readonly { readonly id: string }[] }>(world, 'GET', '/circuits')
  return data
}

describe('an edge router whose controller leaves posture to it', () => {
  const policy = (id: string, policyType: 'Dial' | 'Bind', sides: Partial<Record<PolicySide, readonly string[]>>) => [
    { action: 'create', entity: { type: 'service-policy', id, name: id, policyType } } as const,
    ...(['identities', 'services', 'posture-checks'] as const).map(
      (side) => ({ action: 'relate', policyId: id, side, entityIds: sides[side] ?? [] }) as const,
    ),
  ]
  const both = { identities: ['laptop'], services: ['wiki'] }
  const checked = { ...both, 'posture-checks': ['at-work'] }

  it.each([
    ['no policy', [], true],
    ['a policy without checks', policy('p', 'Dial', both), false],
    ['a policy with checks', policy('p', 'Dial', checked), true],
    ['one with checks and one without', [...policy('p', 'Dial', checked), ...policy('q', 'Dial', both)], false],
    ['a policy to host without checks', policy('p', 'Bind', both), true],
    ['a policy for another service', policy('p', 'Dial', { ...both, services: ['payroll'] }), true],
    ['a policy for another identity', policy('p', 'Dial', { ...both, identities: ['phone'] }), true],
    [
      'a policy whose check is deleted',
      [...policy('p', 'Dial', checked), { action: 'delete', type: 'posture-check', id: 'at-work' } as const],
      false,
    ],
  ])('under %s posture is asked for: %j', async (_, events, demanded) => {
    const model = new RouterModel(createLoopTurns())
    await model.takeState({
      type: 'model-state',
      index: 1,
      timelineId: 't',
      subscriptionId: 's',
      events: [modelCodec.state(events)],
    })
    const grants = model.grantsOf('laptop', 'wiki', 'Dial')
    expect(grants.every(({ checks }) => checks.length > 0)).toBe(demanded)
  })

  it('forgets how policies were related when it gets the whole model anew', async () => {
    const model = new RouterModel(createLoopTurns())
    const state = { type: 'model-state', timelineId: 't', subscriptionId: 's' } as const
    await model.takeState({ ...state, index: 1, events: [modelCodec.state(policy('p', 'Dial', both))] })
    expect(model.grantsOf('laptop', 'wiki', 'Dial').length).toBe(1)
    await model.takeState({
      ...state,
      index: 2,
      events: [modelCodec.state(policy('p', 'Dial', { services: ['wiki'] }))],
    })
    expect(model.grantsOf('laptop', 'wiki', 'Dial')).toEqual([])
  })

  it('takes a model of more members than one message may hold in many turns of the event loop, and a change behind it', async () => {
    const model = new RouterModel(createLoopTurns())
    const ids = Array.from({ length: 1000 }, (_, count) => `identity ${count}`)
    const related = Array.from({ length: 210 }, (_, count) => {
      return { action: 'relate', policyId: `p${count}`, side: 'identities', entityIds: ids } as const
    })
    const subscription = { timelineId: 't', subscriptionId: 's' }
    // The bytes arrive as one body.
    const body = Buffer.concat(related.map((event) => modelCodec.state([event])))
    const policies = policy('late', 'Dial', { identities: ['identity 7'], services: ['wiki'] })
    let turns = 0
    let isDone = false
    const count = () => {
      turns += 1
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    const state = model.takeState({ type: 'model-state', index: 1, events: [body], ...subscription })
    const events = modelCodec.changes(policies)
    const changes = model.takeChanges({ type: 'model-changes', index: 2, previousIndex: 1, events, ...subscription })
    expect(model.position.currentIndex).toBe(0)
    await state
    expect(await changes).toBe(true)
    isDone = true
    expect(turns).toBeGreaterThan(5)
    expect(model.reachOf('identity 7').map(({ id }) => id)).toEqual(['late'])
    expect(model.grantsOf('identity 7', 'wiki', 'Dial').length).toBe(1)
    // Deployed controllers name every identity of a policy in one event.
    const all = { action: 'relate', policyId: 'all', side: 'identities', entityIds: [] as string[] } as const
    for (let count = 0; count < 210_000; count += 1) all.entityIds.push(`i${count}`)
    const named = policy('all', 'Dial', { services: ['wiki'] })
    await model.takeState({
      type: 'model-state',
      index: 3,
      events: [modelCodec.state([...named, all])],
      ...subscription,
    })
    expect(model.grantsOf('i209999', 'wiki', 'Dial').length).toBe(1)
  })

  it('keeps its model where the next one is malformed', async () => {
    const model = new RouterModel(createLoopTurns())
    const state = { type: 'model-state', timelineId: 't', subscriptionId: 's' } as const
    const good = modelCodec.state(policy('p', 'Dial', both))
    await model.takeState({ ...state, index: 1, events: [good] })
    const cut = [modelCodec.state(policy('q', 'Dial', both)), good.subarray(0, -1)]
    await expect(model.takeState({ ...state, index: 2, events: cut })).rejects.toThrow('malformed')
    expect(model.position.currentIndex).toBe(1)
    expect(model.reachOf('laptop').map(({ id }) => id)).toEqual(['p'])
    const changes = { type: 'model-changes', index: 2, previousIndex: 1, subscriptionId: 's' } as const
    const events = modelCodec.changes(policy('q', 'Dial', both)).subarray(0, -1)
    await expect(model.takeChanges({ ...changes, events })).rejects.toThrow('malformed')
    expect(model.reachOf('laptop').map(({ id }) => id)).toEqual(['p'])
    expect(await model.takeChanges({ ...changes, index: 3, previousIndex: 2, events })).toBe(false)
  })

  it.each([
    ['a.eyJzdWIiOiJ3aWtpIn0.c', 'wiki'],
    ['a.bnVsbA.c', ''],
    ['a.eyJzdWIiOjF9.c', ''],
    ['2b7e1516-28ae-d2a6-abf7-158809cf4f3c', ''],
    ['', ''],
  ])('reads the service in the token %j: %j', (token, service) => expect(claimIn(token, 'sub')).toBe(service))
})

it('an address that several hosts share is of the identity that registered it first: another one reads the words of deployed controllers', async () => {
  const world = await edgeWorld()
  const instance: [number, Uint8Array][] = [[EDGE_HEADER.instance, textBytes('shared')]]
  const first = await world.connect(await world.device('first', ['hosts']))
  const other = await world.connect(await world.device('other', ['hosts']))
  await first.host(1, { headers: instance })
  const terminators = async () => (await world.controller.admin.call('GET /terminators')).data
  await until(async () => (await terminators()).length === 1)
  const [{ id } = { id: '' }] = await terminators()
  await other.host(1, { headers: instance })
  const refusal = () => other.heard.find(({ contentType }) => contentType === EDGE_TYPE.stateClosed)
  await until(() => refusal() !== undefined)
  const closed = refusal()
  expect(closed && textIn(closed)).toBe(
    `sibling terminator ${id} with shared identity shared belongs to different identity`,
  )
  expect(closed && readUint32(closed.headers, EDGE_HEADER.errorCode)).toBe(13)
})

describe('a circuit that an endpoint ended', () => {
  it('leaves no connection in the memory of the router, however long the endpoints stay', async () => {
    await using net = await createTestController({
      router: true,
      model: {
        services: [{ name: 'wiki' }],
        identities: [
          { name: 'client', roleAttributes: ['clients'] },
          { name: 'host', roleAttributes: ['hosts'] },
        ],
        servicePolicies: [
          { name: 'dial', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#clients'], serviceRoles: ['#all'] },
          { name: 'bind', type: 'Bind', semantic: 'AnyOf', identityRoles: ['#hosts'], serviceRoles: ['#all'] },
        ],
      },
    })
    const count = () => queryObjects(EdgeConnection, { format: 'count' })
    const before = count()
    const [host, client] = [await net.as('host'), await net.as('client')]
    await host.host('wiki', (connection: Duplex) => void connection.pipe(connection))
    for (let dials = 0; dials < 50; dials += 1) {
      const connection = await client.dial('wiki')
      connection.end('once')
      for await (const bytes of connection) expect(String(bytes)).toBe('once')
    }
    await vi.waitFor(() => expect(count() - before).toBeLessThan(10))
  })
})
