import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { enroll, type Identity, openIdentity, type ServiceConnection } from 'portcullis/sdk'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LinkedNetwork, type OwnRouter, until } from '../support/linked-network.ts'

/** A network whose ends may prove themselves, and the service `deep` in it. */
async function openNetwork() {
  const network = await LinkedNetwork.open('', false, { directE2EE: 'permissive' })
  onTestFinished(() => network.close())
  const identity = async (role: string): Promise<Identity> => {
    const opened = await openIdentity(await enroll(await network.invite(role)))
    onTestFinished(() => opened.close())
    return opened
  }
  /** Once the routers are there. */
  const ends = async (at: { readonly host: OwnRouter; readonly client: OwnRouter }) => {
    await network.service('deep', 1, { host: at.host.id, client: at.client.id })
    return { host: await identity('deep-host'), client: await identity('deep-client') }
  }
  return { network, ends }
}

const listening = { listen: '127.0.0.1:0' }
const echo = (connection: ServiceConnection) => connection.pipe(connection)
const PROVED = { proved: true } as const

const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function answered(connection: ServiceConnection, body: Uint8Array): Promise<string> {
  const hash = createHash('sha256')
  let left = body.length
  connection.write(body)
  while (left > 0) {
    const chunk: Uint8Array | null = connection.read()
    if (chunk === null) await once(connection, 'readable')
    else {
      left -= chunk.length
      hash.update(chunk)
    }
  }
  return hash.digest('hex')
}

describe('ends that prove themselves over routers with links', () => {
  it('know each other through two routers, and carry what they write both ways', async () => {
    const { network, ends } = await openNetwork()
    const far = await network.own('far', listening)
    const near = await network.own('near', listening)
    await until(async () => (await network.links()).length, 1)
    const { host, client } = await ends({ host: far, client: near })
    await using _hosted = await host.host('deep', echo, PROVED)
    const connection = await client.dial('deep', PROVED)
    expect(connection.provedPeer?.name).toBe('deep-host')
    expect(await network.ways()).toEqual(['near-far'])
    const body = randomBytes(5_000_000)
    expect(await answered(connection, body)).toBe(digestOf(body))
    connection.destroy()
  }, 60_000)

  it('go on by another way when a link is lost, and are told when the last one is', async () => {
    const { network, ends } = await openNetwork()
    const far = await network.own('far', listening)
    const near = await network.own('near', listening)
    await network.own('middle', listening)
    await until(async () => (await network.links()).length, 3)
    const { host, client } = await ends({ host: far, client: near })
    await using _hosted = await host.host('deep', echo, PROVED)
    await network.costOf('middle', 100)
    const connection = await client.dial('deep', PROVED)
    await until(() => network.ways(), ['near-far'])
    const [body, more] = [randomBytes(500_000), randomBytes(500_000)]
    expect(await answered(connection, body)).toBe(digestOf(body))
    const links = Object.entries(await network.admin.call('GET', '/fabric/v1/links?limit=500'))
    for (const [, link] of links) {
      const { id, sourceRouter, destRouter } = Object(link)
      const names = [sourceRouter.name, destRouter.name].sort().join()
      if (names === 'far,near') await network.admin.call('PATCH', `/fabric/v1/links/${id}`, { down: true })
    }
    await until(() => network.ways(), ['near-middle-far'])
    expect(await answered(connection, more)).toBe(digestOf(more))
    const failure = once(connection, 'error')
    await far.close()
    expect(await failure).toMatchObject([{ code: 'CONNECTION_LOST' }])
  }, 90_000)

  it('are brought together by another router when the one of the host is gone', async () => {
    const { network, ends } = await openNetwork()
    const first = await network.own('first', listening)
    const near = await network.own('near', listening)
    const other = await network.own('second', listening)
    await until(async () => (await network.links()).length, 3)
    const { host, client } = await ends({ host: first, client: near })
    const second = { semantic: 'AnyOf', edgeRouterRoles: [`@${other.id}`], identityRoles: ['#deep-host'] }
    await network.admin.create('/edge-router-policies', { name: 'second', ...second })
    await using hosted = await host.host('deep', echo, PROVED)
    await until(async () => hosted.routers.length, 2)
    await first.close()
    await sleep(200)
    const dialed = async () => {
      const connection = await client.dial('deep', { ...PROVED, timeoutMs: 5000 })
      connection.destroy()
      return connection.provedPeer?.name
    }
    await until(dialed, 'deep-host')
    expect(hosted.routers.length).toBe(1)
  }, 90_000)
})
