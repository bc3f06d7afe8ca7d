import { once } from 'node:events'
import { enroll, openIdentity, type ServiceConnection } from 'portcullis/sdk'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Conversation } from '../../adapters/network/channel/conversation.ts'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage, textIn } from '../../adapters/network/channel/edge-messages.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
import { readBool, textBytes } from '../../adapters/network/channel/header-values.ts'
import { readIdentity } from '../../adapters/network/sdk/identity-file.ts'
import { connectToRouter } from '../../adapters/network/sdk/routers/router-pool.ts'
import { LinkedNetwork, until } from '../support/linked-network.ts'

/** Two linked routers of their own machines, with a host at one and a dialer at the other. */
async function linkedRouters() {
  const network = await LinkedNetwork.open('')
  onTestFinished(() => network.close())
  const { admin } = network
  const lost: string[] = []
  const log = (event: string) => {
    if (['controller.lost', 'link.closed', 'link.misbehaved'].includes(event)) lost.push(event)
  }
  const near = await network.own('near', { listen: '127.0.0.1:0', log })
  const far = await network.own('far', { listen: '127.0.0.1:0', dialGroups: [], log })
  await until(() => network.links(), ['near->far'])
  await admin.create('/services', { name: 'echo', encryptionRequired: true })
  const all = { semantic: 'AnyOf', serviceRoles: ['#all'] }
  await admin.create('/service-policies', { ...all, name: 'dial', type: 'Dial', identityRoles: ['#clients'] })
  await admin.create('/service-policies', { ...all, name: 'bind', type: 'Bind', identityRoles: ['#hosts'] })
  const meet = { semantic: 'AnyOf' }
  await admin.create('/edge-router-policies', {
    ...{ ...meet, name: 'near', identityRoles: ['#clients'], edgeRouterRoles: [`@${near.id}`] },
  })
  await admin.create('/edge-router-policies', {
    ...{ ...meet, name: 'far', identityRoles: ['#hosts'], edgeRouterRoles: [`@${far.id}`] },
  })
  await admin.create('/service-edge-router-policies', {
    ...meet,
    name: 'all',
    serviceRoles: ['#all'],
    edgeRouterRoles: ['#all'],
  })
  const invite = async (name: string, role: string) => {
    const body = { name, type: 'Device', isAdmin: false, roleAttributes: [role], enrollment: { ott: true } }
    const shown = await admin.call('GET', `/identities/${await admin.create('/identities', body)}`)
    return String(Object(shown.enrollment).ott?.jwt)
  }
  const open = async (name: string, role: string) => {
    const opened = await openIdentity(await enroll(await invite(name, role)))
    onTestFinished(() => opened.close())
    return opened
  }
  return { network, near, far, lost, invite, open }
}

describe('what an endpoint sends in headers', () => {
  it('reaches the host up to 64 kB, over a router and a controller, and more is refused by the SDK', async () => {
    const { lost, open } = await linkedRouters()
    const box = await open('box', 'hosts')
    const heard: Uint8Array[] = []
    await box.host('echo', (connection: ServiceConnection) => {
      heard.push(connection.applicationData)
      connection.on('error', () => undefined).pipe(connection)
    })
    const laptop = await open('laptop', 'clients')
    const held = await laptop.dial('echo')
    held.on('error', () => undefined)
    for (const bytes of [16_384, 16_385, 65_536]) {
      const applicationData = new Uint8Array(bytes).map((_, at) => at)
      const connection = await laptop.dial('echo', { applicationData })
      connection.on('error', () => undefined).write('hello')
      expect(String((await once(connection, 'data'))[0])).toBe('hello')
      expect(Buffer.from(heard.at(-1) ?? []).equals(applicationData), `${bytes} bytes`).toBe(true)
      connection.destroy()
    }
    const longer = { applicationData: 'x'.repeat(65_537) }
    await expect(laptop.dial('echo', longer)).rejects.toThrow(
      new TypeError('dial: applicationData has 65537 bytes, and may have 65536'),
    )
    held.write('still there')
    expect(String((await once(held, 'data'))[0])).toBe('still there')
    expect(lost).toEqual([])
  })

  it('ends no channel of its router, however long it is', async () => {
    const { network, near, lost, invite, open } = await linkedRouters()
    const box = await open('box', 'hosts')
    const heard: string[] = []
    await box.host('echo', (connection: ServiceConnection) => {
      connection.on('error', () => undefined).on('data', (bytes) => heard.push(String(bytes)))
    })
    const jwt = await invite('hostile', 'clients')
    const device = await enroll(jwt)
    const identity = await openIdentity(device)
    onTestFinished(() => identity.close())
    const { data: service } = await identity.client.call('GET /services', { query: { limit: 1 } })
    const body = { serviceId: service[0]?.id ?? '', type: 'Dial' } as const
    const { data: session } = await identity.client.call('POST /sessions', { body })
    const { data: own } = await identity.client.call('GET /current-api-session')
    const { credentials } = await readIdentity(device)
    const channel = await connectToRouter(`tls://${near.address}`, credentials)
    onTestFinished(() => channel.destroy())
    const answers: Frame[] = []
    let isClosed = false
    const talk = new Conversation(channel, {
      onMessage: (message) => void answers.push(message),
      onClose: () => {
        isClosed = true
      },
    })
    const hello = new Map([[EDGE_HEADER.apiSessionToken, textBytes(own.token)]])
    const greeted = await talk.ask({ contentType: EDGE_TYPE.hello, headers: hello, body: [] }, 5000)
    expect(readBool(greeted.headers, EDGE_HEADER.isAccepted)).toBe(true)
    const ask = (id: number, headers: readonly [number, Uint8Array][], token: string) =>
      talk.ask(edgeMessage(EDGE_TYPE.connect, id, headers, textBytes(token)), 10_000)
    const key = [EDGE_HEADER.publicKey, new Uint8Array(32).fill(9)] as [number, Uint8Array]
    const long = (length: number) => new Uint8Array(length)
    // A token that is no token, data that is too long for one item, and items that are long together.
    const refused = await ask(1, [key], 'x'.repeat(1_000_000))
    expect([refused.contentType, textIn(refused)]).toEqual([EDGE_TYPE.stateClosed, 'Invalid Session'])
    expect((await ask(2, [[EDGE_HEADER.applicationData, long(100_000)]], session.token)).contentType).toBe(
      EDGE_TYPE.stateClosed,
    )
    const dialed = await ask(
      ...([
        3,
        [key, [EDGE_HEADER.applicationData, long(65_536)], [EDGE_HEADER.marker, long(65_000)]],
        session.token,
      ] as const satisfies Parameters<typeof ask>),
    )
    expect(dialed.contentType).toBe(EDGE_TYPE.stateConnected)
    // A trace id that becomes an item of a payload over the link.
    talk.send(edgeMessage(EDGE_TYPE.data, 3, [[EDGE_HEADER.probe, long(131_000)]], textBytes('first')))
    talk.send(edgeMessage(EDGE_TYPE.stateClosed, 3))
    const laptop = await open('laptop', 'clients')
    const connection = await laptop.dial('echo')
    connection.on('error', () => undefined)
    connection.write('by the same link')
    await until(async () => heard.at(-1), 'by the same link')
    expect([isClosed, lost, await network.links()]).toEqual([false, [], ['near->far']])
  })
})
