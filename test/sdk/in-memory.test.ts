import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import express from 'express'
import { enroll, openIdentity, type ServiceConnection } from 'portcullis/sdk'
import { createTestController, type RoutedTestController } from 'portcullis/testing'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { enrollRouter } from '../../adapters/network/router/control/enrolled-router.ts'
import { runRouter } from '../../adapters/network/router/standalone-router.ts'
import { patience } from '../support/property-runs.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { NETWORK_MODEL } from './network-model.ts'

let net: RoutedTestController
const { edgeRouterPolicies: _own, serviceEdgeRouterPolicies: _policies, ...model } = NETWORK_MODEL

beforeEach(async () => {
  net = await createTestController(await withSharedPki({ router: true, model }))
})

afterEach(() => net.close())

const echo = (connection: ServiceConnection) => connection.pipe(connection)
const clients = { roleAttributes: ['clients'] }
const hosts = { roleAttributes: ['hosts'] }

describe('a test controller with a router in memory', () => {
  it.each(['app', 'plain'])('lets one endpoint dial what another one hosts: %s', async (service) => {
    const server = await net.enroll('server', hosts)
    const laptop = await net.enroll('laptop', clients)
    await using _hosted = await server.host(service, async (connection: ServiceConnection) => {
      connection.end(`${connection.caller?.name}: ${await text(connection)}`)
    })
    const connection = await laptop.dial(service)
    connection.end('hello')
    expect(await text(connection)).toBe('laptop: hello')
  })

  it.each([
    ['ends', (connection: ServiceConnection): void => void connection.end('hello')],
    [
      'is destroyed',
      (connection: ServiceConnection): void => void connection.write('hello', () => connection.destroy()),
    ],
  ] as const)('brings a dialer what is written to a connection that %s as soon as it is there', async (_, take) => {
    const server = await net.enroll('server', hosts)
    const laptop = await net.enroll('laptop', clients)
    await using _app = await server.host('app', take)
    await using _plain = await server.host('plain', take)
    for (const service of ['app', 'plain', 'app', 'plain']) expect(await text(await laptop.dial(service))).toBe('hello')
  })

  it('reports the bytes of each circuit once, in intervals of the clock of the network', async () => {
    const server = await net.enroll('server', hosts)
    const laptop = await net.enroll('laptop', clients)
    await using _hosted = await server.host('plain', echo)
    const reported: {
      readonly from: number
      readonly at: number
      readonly lengthMs: number
      readonly bytes: object
    }[] = []
    net.events.on('circuit.usage', (usage) => void reported.push(usage))
    const connection = await laptop.dial('plain')
    connection.end('hello')
    await text(connection)
    await net.elapse(60_000)
    expect(reported.map(({ bytes }) => bytes)).toEqual([{ 'ingress.rx': 5, 'ingress.tx': 5 }])
    const [{ from, at, lengthMs } = { from: 0, at: 0, lengthMs: 0 }] = reported
    expect(lengthMs).toBeLessThanOrEqual(16_000)
    expect(at - from).toBe(lengthMs)
  })

  it('lets an endpoint dial what it hosts itself, by one way to the router', async () => {
    const server = await net.enroll('server', { roleAttributes: ['hosts', 'clients'] })
    await using _hosted = await server.host('plain', echo)
    const connections = [await server.dial('plain'), await server.dial('plain')]
    const texts = connections.map((connection, at) => {
      connection.end(`hello ${at}`)
      return text(connection)
    })
    expect(await Promise.all(texts)).toEqual(['hello 0', 'hello 1'])
  })

  it('tells every service that its router is gone, also where the program behind another one throws', async () => {
    const server = await net.enroll('server', hosts)
    const warnings: string[] = []
    const warned = ({ message }: Error) => void warnings.push(message)
    process.on('warning', warned)
    onTestFinished(() => void process.off('warning', warned))
    const told: string[] = []
    const onChange = (service: string) => () => {
      told.push(service)
      throw new Error('a mistake of the program')
    }
    await using _app = await server.host('app', echo, { onChange: onChange('app') })
    await using _plain = await server.host('plain', echo, { onChange: onChange('plain') })
    const { id } = (await server.call('GET /current-api-session')).data
    await net.admin.call('DELETE /api-sessions/{id}', { params: { id } })
    await vi.waitFor(() => expect(told.toSorted()).toEqual(['app', 'plain']))
    await vi.waitFor(() =>
      expect(warnings.join()).toContain('onChange of plain failed: Error: a mistake of the program'),
    )
  })

  it('asks an Express app that is behind Dial policies', async () => {
    const app = express()
    app.get('/salary', (request, response) => response.json({ of: request.caller?.name }))
    await using _hosted = await (await net.enroll('server', hosts)).host('app', app)
    const laptop = await net.enroll('laptop', clients)
    const guest = await net.enroll('guest')
    expect(await (await laptop.fetch('http://app/salary')).json()).toEqual({ of: 'laptop' })
    await expect(guest.dial('app')).rejects.toMatchObject({ code: 'SERVICE_NOT_FOUND' })
  })

  it('lets SDKs of other processes in where it listens, and they reach what is hosted in memory, and the other way round', async () => {
    await using live = await createTestController(await withSharedPki({ router: true, clock: 'live', model }))
    const listening = await live.listen()
    expect((await live.admin.call('GET /edge-routers')).data).toHaveLength(1)
    const opened = async (name: string, role: string) => {
      const body = { name, type: 'Device' as const, isAdmin: false, roleAttributes: [role] }
      await live.admin.call('POST /identities', { body })
      return openIdentity(await enroll((await live.invite(name)).jwt))
    }
    await using far = await opened('far', 'clients')
    await using box = await opened('box', 'hosts')
    await using _near = await (await live.enroll('server', hosts)).host('app', echo)
    const connection = await far.dial('app')
    connection.end('from afar')
    expect(await text(connection)).toBe('from afar')
    await using _far = await box.host('plain', echo)
    const back = await (await live.enroll('laptop', clients)).dial('plain')
    back.end('from memory')
    expect(await text(back)).toBe('from memory')
    await listening.close()
  })

  it('takes other routers where it listens, and carries traffic between them and what is in memory', {
    timeout: patience(60_000),
  }, async () => {
    await using live = await createTestController(await withSharedPki({ router: true, clock: 'live', model }))
    const listening = await live.listen({ fabric: true })
    const body = { name: 'elsewhere', isTunnelerEnabled: false }
    const { data } = await live.admin.call('POST /edge-routers', { body })
    const params = { id: data.id }
    const { enrollmentJwt } = (await live.admin.call('GET /edge-routers/{id}', { params })).data
    const identity = await enrollRouter(enrollmentJwt ?? '', ['127.0.0.1'])
    const router = await runRouter({ identity, listen: '127.0.0.1:0' })
    onTestFinished(() => router.close())
    const isOnline = async () => (await live.admin.call('GET /edge-routers/{id}', { params })).data.isOnline
    await expect.poll(isOnline, { timeout: 20_000 }).toBe(true)
    const server = await live.enroll('server', hosts)
    await using _hosted = await server.host('app', echo)
    const connection = await (await live.enroll('laptop', clients)).dial('app')
    connection.end('still here')
    expect(await text(connection)).toBe('still here')
    // The listener ends, and the router in memory goes on.
    await listening.close()
    const again = await live.as('laptop').dial('app')
    again.end('on its own')
    expect(await text(again)).toBe('on its own')
  })

  it('needs no enrollment of an endpoint that the test acts as', async () => {
    const body = { type: 'Device' as const, isAdmin: false }
    await net.admin.call('POST /identities', { body: { ...body, name: 'server', ...hosts } })
    await net.admin.call('POST /identities', { body: { ...body, name: 'laptop', ...clients } })
    await using _hosted = await net.as('server').host('app', echo)
    const connection = await net.as('laptop').dial('app')
    connection.end('hello')
    expect(await text(connection)).toBe('hello')
  })

  it('ends a connection with the posture that let it be', async () => {
    const laptop = await net.enroll('laptop', clients)
    await using _hosted = await (await net.enroll('server', hosts)).host('guarded', echo)
    await expect(laptop.dial('guarded')).rejects.toMatchObject({ code: 'POSTURE_FAILED' })
    await laptop.report({ domain: 'corp.example' })
    const connection = await laptop.dial('guarded')
    connection.on('error', () => undefined)
    connection.write('hello')
    expect(String((await once(connection, 'data'))[0])).toBe('hello')
    await laptop.report({ domain: 'elsewhere.example' })
    if (!connection.closed) await new Promise((resolve) => connection.once('close', resolve))
    await expect(laptop.dial('guarded')).rejects.toMatchObject({ code: 'POSTURE_FAILED' })
  })

  it('lets an endpoint that was disabled dial as soon as it is enabled, and no time passes', async () => {
    const server = await net.enroll('server', hosts)
    const laptop = await net.enroll('laptop', clients)
    await using _hosted = await server.host('plain', echo)
    const params = { id: laptop.id }
    for (let round = 0; round < 2; round += 1) {
      const connection = await laptop.dial('plain')
      const isCut = once(connection, 'close').catch(() => undefined)
      connection.on('error', () => undefined).resume()
      await net.admin.call('POST /identities/{id}/disable', { params, body: { durationMinutes: 0 } })
      await isCut
      await expect(laptop.dial('plain')).rejects.toMatchObject({ code: 'NOT_AUTHENTICATED' })
      await net.admin.call('POST /identities/{id}/enable', { params })
    }
    const connection = await laptop.dial('plain')
    connection.end('hello again')
    expect(await text(connection)).toBe('hello again')
  })

  it('lets a dial time out when the test lets the time pass', async () => {
    const laptop = await net.enroll('laptop', clients)
    const never = new Promise<boolean>(() => undefined)
    let asked: () => void = () => undefined
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    const accept = () => {
      asked()
      return never
    }
    await using _hosted = await (await net.enroll('server', hosts)).host('app', echo, { accept })
    const dialed = laptop.dial('app', { timeoutMs: 3000 })
    const refused = expect(dialed).rejects.toMatchObject({ code: 'TIMED_OUT' })
    await isAsked
    await net.elapse(3000)
    await refused
  })

  it('carries ten thousand small messages and a large one in order', async () => {
    const laptop = await net.enroll('laptop', clients)
    await using _hosted = await (await net.enroll('server', hosts)).host('plain', echo)
    const connection = await laptop.dial('plain')
    const sent = Array.from({ length: 10_000 }, (_, index) => `${index},`).join('')
    for (let index = 0; index < 10_000; index += 1) connection.write(`${index},`)
    const large = 'x'.repeat(5_000_000)
    connection.end(large)
    expect((await text(connection)) === sent + large).toBe(true)
  })
})
