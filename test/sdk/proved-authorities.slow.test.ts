import { text } from 'node:stream/consumers'
import { createPortcullisClient } from 'portcullis/client'
import { enroll, type ServiceConnection } from 'portcullis/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ServedNetwork, servedNetwork } from './served-network.ts'

let network: ServedNetwork
beforeAll(async () => {
  network = await servedNetwork({ directE2EE: 'permissive' })
})
afterAll(() => network.close())

const told = async (connection: ServiceConnection) => {
  connection.end(`${connection.caller?.name} ${connection.caller?.isProved}: ${await text(connection)}`)
}

/** The own API of a controller, as its admin. */
async function ownApi() {
  const { net, server } = network
  const body = { username: 'admin', password: 'admin-password' }
  const { data } = await net.management.call('POST /authenticate', { query: { method: 'password' }, body })
  const baseUrl = `https://127.0.0.1:${server.port}`
  return createPortcullisClient({ baseUrl, token: data.token, fetch: (request) => net.fetch(request) })
}

it('ends prove themselves through a change of keys, by a former authority until it ends, and by none that has ended', {
  timeout: 60_000,
}, async () => {
  const { net, identity, invite, open } = network
  const sleeper = await enroll(await invite('sleeper', 'clients'))
  const laptop = await identity('laptop', 'clients')
  const box = await identity('box', 'hosts')
  await using _hosted = await box.host('app', told, { proved: true })
  const ask = async () => {
    const connection = await laptop.dial('app', { proved: true })
    connection.end('hello')
    return text(connection)
  }
  const running = await laptop.dial('app', { proved: true })
  const failure = new Promise<unknown>((resolve) => void running.once('error', resolve))
  expect(await ask()).toBe('laptop true: hello')

  // The keys of tokens change with the root: both ends have just read the former ones.
  const own = await ownApi()
  const { data } = await own.call('POST /pki/rotations', { body: { what: 'root' } })
  expect(data.authorities.map(({ state }) => state)).toEqual(['former', 'issuing'])
  expect(await ask()).toBe('laptop true: hello')
  expect(running.destroyed).toBe(false)

  // Nobody has renewed: who knows the former authority alone is let in nowhere, and what runs is cut.
  const params = { id: data.authorities[0]?.id ?? '' }
  const goodUntil = new Date(net.clock.now()).toISOString()
  await own.call('PATCH /pki/authorities/{id}', { params, body: { goodUntil, locksOut: true } })
  expect(await failure).toMatchObject({ code: 'CONNECTION_LOST' })
  await expect(ask()).rejects.toMatchObject({ code: 'NOT_AUTHENTICATED' })
  const late = await open(sleeper)
  await expect(late.dial('app', { proved: true })).rejects.toMatchObject({ code: 'NOT_AUTHENTICATED' })
})
