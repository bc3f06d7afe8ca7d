import { createController, createPkiMaterial, type Storage } from 'portcullis'
import { routerSide } from 'portcullis/fabric'
import { memoryStorage } from 'portcullis/memory'
import { serve } from 'portcullis/node'
import { bodyOf, FakeRouter } from 'portcullis/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import {
  ChannelTrace,
  ValidateTerminators as RouterValidation,
  TraceChannels,
} from '../../../adapters/network/fabric/messages/fabric-definitions.ts'
import {
  HostCount,
  OPERATOR_CONTENT,
  StreamTraces,
  VALIDATION_CONTENT,
  ValidateTerminators,
  ValidationBegun,
} from '../../../adapters/network/fabric/operators/definitions.ts'
import { faultyStorage } from '../../support/faulty-storage.ts'
import { message, OperatorClient } from '../../support/operator-client.ts'
import { enrollTlsRouter, overTls } from '../../support/tls-router.ts'
import { host, tunnelNetwork } from './fabric-world.ts'

const { CONTENT_TYPE, HEADER } = routerSide

const MIB = 1_048_576

/** A served controller, with a login of its admin. */
async function servedWorld(storage: Storage = memoryStorage()) {
  const pki = await createPkiMaterial({ hosts: ['127.0.0.1'], trustDomain: 'test', now: Date.now() })
  const admin = { username: 'admin', password: 'admin-password' }
  const controller = await createController({ storage, pki, address: '127.0.0.1:1280', admin })
  const server = await serve(controller, { port: 0, fabric: true })
  onTestFinished(async () => {
    await server.close({ graceMs: 0 })
    await controller.close()
  })
  const send = async (method: string, path: string, body?: object, token = '') => {
    const headers = { 'content-type': 'application/json', ...(token === '' ? {} : { 'zt-session': token }) }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const answer = await controller.fetch(new Request(`https://localhost/edge/management/v1${path}`, init))
    expect(answer.ok, `${method} ${path}`).toBe(true)
    return ((await answer.json()) as { data: { token: string; id: string } }).data
  }
  const logIn = (username: string, password: string) =>
    send('POST', '/authenticate?method=password', { username, password })
  const { token } = await logIn('admin', 'admin-password')
  const call = (method: string, path: string, body?: object) => send(method, path, body, token)
  /** An identity with permissions, and a login of it. */
  const delegate = async (name: string, permissions: readonly string[]) => {
    const { id } = await call('POST', '/identities', { name, type: 'User', isAdmin: false, permissions })
    const password = 'some-password'
    await call('POST', '/authenticators', { method: 'updb', identityId: id, username: name, password })
    return { id, token: (await logIn(name, password)).token }
  }
  const { port } = server
  const dial = (own = token) => OperatorClient.dial({ port, headers: [`zt-session: ${own}`] })
  return { controller, port, token, call, logIn, delegate, dial }
}

const subscribe = (...types: string[]) =>
  Buffer.from(JSON.stringify({ format: 'json', subscriptions: types.map((type) => ({ type })) }))

it.each([
  ['without a session', 401, []],
  ['with a compressed body', 415, ['Content-Encoding: gzip']],
])(
  'a program that is refused (%s) keeps no connection, also if it never closes its end',
  async (_why, status, headers) => {
    const { port } = await servedWorld()
    const client = await OperatorClient.dial({ port, headers, allowHalfOpen: true })
    expect(client.head).toContain(`HTTP/1.1 ${status} `)
    // A server that still has the connection takes every byte.
    const sending = setInterval(() => client.socket.write('x'), 100)
    onTestFinished(() => clearInterval(sending))
    await new Promise((resolve) => client.socket.once('close', resolve))
  },
)

it('a program of an operator is told events as they happen, in the form of deployed controllers', async () => {
  const { call, dial } = await servedWorld()
  const client = await dial()
  expect(client.status).toBe(101)
  await client.ask(OPERATOR_CONTENT.streamEvents, subscribe('entityChange', 'fabric.routers'))
  await call('POST', '/services', { name: 'web', encryptionRequired: true })
  const event = await client.next(({ contentType }) => contentType === OPERATOR_CONTENT.event)
  expect(JSON.parse(Buffer.concat(event.body).toString())).toMatchObject({
    namespace: 'entityChange',
    eventType: 'created',
    entityType: 'services',
  })
})

it('events are told under the name of the subscription, and of the types that it includes', async () => {
  const { call, dial } = await servedWorld()
  const client = await dial()
  const ask = (...subscriptions: object[]) =>
    client.ask(OPERATOR_CONTENT.streamEvents, Buffer.from(JSON.stringify({ format: 'json', subscriptions })))
  await ask(
    { type: 'entityChange', options: { include: ['configs', 'services'] } },
    { type: 'edge.apiSessions', options: { include: 'created' } },
    { type: 'usage', options: { version: '3', include: ['ingress.rx'] } },
  )
  await call('POST', '/identities', { name: 'left out', type: 'Device', isAdmin: false })
  await call('POST', '/services', { name: 'web', encryptionRequired: true })
  const told = () =>
    client.received
      .filter(({ contentType }) => contentType === OPERATOR_CONTENT.event)
      .map(({ body }) => JSON.parse(Buffer.concat(body).toString()))
  await vi.waitFor(() => expect(told()).toHaveLength(2))
  expect(told().map(({ eventType, entityType }) => [eventType, entityType])).toEqual([
    ['created', 'services'],
    ['committed', undefined],
  ])
  const unsupported = await ask({ type: 'usage', options: { version: 4 } })
  expect(Buffer.concat(unsupported.body).toString()).toBe('unsupported usage version: 4')
})

it('what is no list of subscriptions, and a filter that is none, is answered in words', async () => {
  const { dial } = await servedWorld()
  const client = await dial()
  const refused = await client.ask(OPERATOR_CONTENT.streamEvents, subscribe('nonsense'))
  expect(Buffer.concat(refused.body).toString()).toBe('invalid event type: nonsense')
  const { request } = VALIDATION_CONTENT.links
  const begun = ValidationBegun.decode(Buffer.concat((await client.ask(request, Buffer.from('\n\x03a b'))).body))
  expect(begun).toMatchObject({ success: false, count: 0 })
  expect(begun.message).not.toBe('')
})

it('hosts with another number of terminators than was expected are told before the terminators', async () => {
  const { controller, port, token, call, dial } = await servedWorld()
  const create = async (path: string, body: object) => (await call('POST', path, body)).id
  const { serviceId } = await tunnelNetwork({ create })
  const enrolled = await enrollTlsRouter(controller, token, 'busy', { isTunnelerEnabled: true })
  const router = new FakeRouter(enrolled, overTls(port, enrolled))
  await router.connect()
  for (const address of ['one', 'two']) await host(router, serviceId, address)
  const idle = await create('/identities', { name: 'idle', type: 'Device', isAdmin: false })
  const client = await dial()
  const { request, begun, result } = VALIDATION_CONTENT.terminators
  const expected = { identitiesFilter: '', expectedPerSvcAndHost: 3, expectedPerHost: 2 }
  await client.ask(request, ValidateTerminators.encode({ terminatorsFilter: '', fixInvalid: false, ...expected }))
  // Unlike after a reconnect, the router asks the hosts too.
  const asked = await router.next(({ contentType }) => contentType === CONTENT_TYPE.validateTerminators)
  expect(RouterValidation.decode(bodyOf(asked)).postCreate).toBe(false)
  router.close()
  await vi.waitFor(() => expect(client.received).toHaveLength(5))
  const { hostCount } = OPERATOR_CONTENT
  const kinds = client.received.map(({ contentType }) => contentType)
  expect(kinds).toEqual([begun, hostCount, hostCount, result, result])
  expect(client.received.slice(1, 3).map(({ body }) => HostCount.decode(Buffer.concat(body)))).toEqual([
    { identityId: enrolled.id, serviceId, message: 'expected 3 terminators, but had 2' },
    { identityId: idle, serviceId: '', message: 'expected 2 terminators, but had 0' },
  ])
})

it('nobody is let in without a login, or without the right to everything of the network', async () => {
  const { port, dial, delegate } = await servedWorld()
  expect((await OperatorClient.dial({ port })).status).toBe(401)
  expect((await dial('11111111-2222-3333-4444-555555555555')).status).toBe(401)
  const reader = await delegate('reader', ['admin_readonly', 'ops.read', 'ops.update'])
  expect((await dial(reader.token)).status).toBe(401)
  expect((await dial((await delegate('operator', ['ops'])).token)).status).toBe(101)
})

it('a login that ends closes the channel, and so does a right that is taken', async () => {
  const { call, dial, logIn, delegate } = await servedWorld()
  const session = await logIn('admin', 'admin-password')
  const client = await dial(session.token)
  await client.ask(OPERATOR_CONTENT.inspect)
  await call('DELETE', `/api-sessions/${session.id}`)
  await client.closed()
  const operator = await delegate('operator', ['ops'])
  const other = await dial(operator.token)
  await other.ask(OPERATOR_CONTENT.inspect)
  await call('PATCH', `/identities/${operator.id}`, { permissions: [] })
  await other.closed()
})

it.each([
  ['text', message(Buffer.from('hello'), 0x81)],
  ['bytes without a mask', Buffer.from([0x82, 0x01, 0x00])],
  ['an extension', message(Buffer.from('x'), 0xc2)],
  ['a frame that is none', message(Buffer.alloc(64, 7))],
  ['a frame that says to be huge', message(Buffer.from('0306090c0000000001000000ffffff7fffffff7f', 'hex'))],
  ['a message that says to be huge', Buffer.from('82ffffffffffffffffff00000000', 'hex')],
  ['a ping in parts', message(Buffer.from('x'), 0x09)],
])('what no program sends ends the channel and nothing else: %s', async (_name, bytes) => {
  const { dial } = await servedWorld()
  const [hostile, other] = [await dial(), await dial()]
  hostile.socket.write(bytes)
  await hostile.closed()
  expect((await other.ask(OPERATOR_CONTENT.inspect)).contentType).toBe(OPERATOR_CONTENT.inspected)
})

it('a message may come in parts, with a ping between them, which is answered', async () => {
  const { dial } = await servedWorld()
  const client = await dial()
  const frame = Buffer.from('0306090c402700000500000000000000000000000000', 'hex').subarray(0, 20)
  client.socket.write(
    Buffer.concat([
      message(frame.subarray(0, 7), 0x02),
      message(Buffer.from('hi'), 0x89),
      message(frame.subarray(7), 0x80),
    ]),
  )
  expect((await client.next(() => true)).contentType).toBe(OPERATOR_CONTENT.inspected)
})

it('of one identity the oldest of too many channels ends', async () => {
  const { dial } = await servedWorld()
  const first = await dial()
  await first.ask(OPERATOR_CONTENT.inspect)
  const others = await Promise.all(Array.from({ length: 8 }, () => dial()))
  await first.closed()
  expect(others.every(({ socket }) => !socket.closed)).toBe(true)
})

it('of one channel the oldest of too many streams ends, so that an event is written a few times at most', async () => {
  const { call, dial } = await servedWorld()
  const client = await dial()
  for (const type of ['apiSession', ...Array.from({ length: 40 }, () => 'entityChange')]) {
    await client.ask(OPERATOR_CONTENT.streamEvents, subscribe(type))
  }
  await call('POST', '/services', { name: 'web', encryptionRequired: true })
  await client.ask(OPERATOR_CONTENT.inspect)
  const told = client.received.filter(({ contentType }) => contentType === OPERATOR_CONTENT.event)
  const created = told.filter(({ body }) => Buffer.concat(body).toString().includes('"entityType":"services"'))
  expect(created).toHaveLength(8)
})

it('a validation that fails with the storage ends the channel, and nothing else', async () => {
  const storage = faultyStorage(memoryStorage())
  const { controller, call: send, dial } = await servedWorld(storage)
  const { id: service } = await send('POST', '/services', { name: 'web', encryptionRequired: true })
  const { id: router } = await send('POST', '/edge-routers', { name: 'router' })
  await send('POST', '/terminators', { address: 'tcp:web:1', binding: 'transport', service, router })
  const { request, result } = VALIDATION_CONTENT.terminators
  const none = { identitiesFilter: '', expectedPerSvcAndHost: 0, expectedPerHost: 0 }
  const asked = ValidateTerminators.encode({ terminatorsFilter: '', fixInvalid: false, ...none })
  const client = await dial()
  const before = storage.calls
  await client.ask(request, asked)
  await client.next(({ contentType }) => contentType === result)
  // The last of its calls is that of the comparison, behind the answer that says how many results there are. Looks at rights call too.
  const call = storage.calls - before
  const isClosed = client.closed().then(() => true)
  do storage.fault = { call, when: 'before' }
  while (
    !(await Promise.race([
      isClosed,
      client.ask(request, asked).then(
        () => client.socket.closed,
        () => true,
      ),
    ]))
  )
  storage.fault = undefined
  expect((await controller.fetch(new Request('https://localhost/edge/client/v1/version'))).status).toBe(200)
  const other = await dial()
  expect(ValidationBegun.decode(Buffer.concat((await other.ask(request, asked)).body)).count).toBe(1)
})

it('of one channel a few validations wait at a time', async () => {
  const { controller, port, token, dial } = await servedWorld()
  const enrolled = await enrollTlsRouter(controller, token, 'silent')
  const router = new FakeRouter(enrolled, overTls(port, enrolled))
  await router.connect()
  onTestFinished(() => router.close())
  const client = await dial()
  const { request } = VALIDATION_CONTENT.links
  const answers: ReturnType<typeof ValidationBegun.decode>[] = []
  for (let sent = 0; sent < 9; sent += 1) {
    answers.push(ValidationBegun.decode(Buffer.concat((await client.ask(request)).body)))
  }
  expect(answers.map(({ success }) => success)).toEqual([...Array.from({ length: 8 }, () => true), false])
  expect(answers.at(-1)?.message).toBe('8 validations of this channel are underway')
})

it('a flood of requests is slowed down, and what a client does not read is bounded', async () => {
  const { controller, dial } = await servedWorld()
  const client = await dial()
  await client.ask(OPERATOR_CONTENT.streamEvents, subscribe('alert'))
  for (let sent = 0; sent < 3000; sent += 1) client.send(OPERATOR_CONTENT.inspect)
  await vi.waitFor(() => expect(client.received.length).toBeGreaterThan(100))
  expect(client.received.length).toBeLessThan(1500)
  expect((await controller.fetch(new Request('https://localhost/edge/client/v1/version'))).status).toBe(200)
  expect(process.memoryUsage().rss).toBeLessThan(4096 * MIB)
})

it('a plain request is told to go on as a websocket, and other protocols are not known', async () => {
  const { controller, port, token } = await servedWorld()
  const plain = await controller.fetch(
    new Request('https://localhost/fabric/v1/ws-api', { headers: { 'zt-session': token } }),
  )
  expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket'])
  const elsewhere = await OperatorClient.dial({ port, path: '/edge/client/v1/version' })
  expect(elsewhere.status).toBe(200)
})

it('routers trace their channels when an operator asks, and who wants to see it is told what passes', async () => {
  const { controller, port, token, dial } = await servedWorld()
  const enrolled = await enrollTlsRouter(controller, token, 'traced')
  const router = new FakeRouter(enrolled, overTls(port, enrolled))
  await router.connect()
  const client = await dial()
  const watcher = await dial()
  watcher.send(
    OPERATOR_CONTENT.streamTraces,
    StreamTraces.encode({ isFiltered: true, filter: 'include', contentTypes: [7] }),
  )
  const request = TraceChannels.encode({ isOn: true, named: 'matching', routerPattern: '.*', channelPattern: 'ctrl' })
  const asked = client.ask(OPERATOR_CONTENT.togglePipeTraces, request)
  const frame = await router.next(({ contentType }) => contentType === 1008)
  expect(TraceChannels.decode(bodyOf(frame))).toMatchObject({ isOn: true, channelPattern: 'ctrl' })
  const id = frame.headers.get(HEADER.reflected) ?? new Uint8Array()
  const done = new Map([
    [HEADER.reflected, id],
    [HEADER.success, routerSide.boolHeader(true)],
  ])
  router.send(CONTENT_TYPE.result, Buffer.from('traced ctrl: traced\n'), done)
  expect(Buffer.concat((await asked).body).toString()).toBe('traced ctrl: traced\n')
  const trace = {
    owner: 'traced',
    channel: 'ctrl',
    isReceived: true,
    sequence: 1,
    replyFor: -1,
    length: 3,
    meaning: '',
  }
  for (const contentType of [6, 7]) router.send(1010, ChannelTrace.encode({ ...trace, contentType, atNs: 5n }))
  const seen = await watcher.next(({ contentType }) => contentType === OPERATOR_CONTENT.trace)
  expect(ChannelTrace.decode(Buffer.concat(seen.body))).toEqual({ ...trace, contentType: 7, atNs: 5n })
})
