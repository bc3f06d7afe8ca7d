import type { ServiceConnection } from 'portcullis/sdk'
import { createTestController, TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'

describe('filters of identities by what no field holds', () => {
  it('find who is disabled now', async () => {
    const net = await createTestController()
    onTestFinished(() => net.close())
    const made = async (name: string) =>
      (await net.admin.call('POST /identities', { body: { name, type: 'Device', isAdmin: false } })).data.id
    const [lasting, ending] = [await made('lasting'), await made('ending')]
    await made('free')
    const disable = (id: string, durationMinutes: number) =>
      net.admin.call('POST /identities/{id}/disable', { params: { id }, body: { durationMinutes } })
    await disable(lasting, 0)
    await disable(ending, 10)
    const named = async (filter: string, sort = 'name') =>
      (await net.admin.call('GET /identities', { query: { filter, sort } })).data.map(({ name }) => name)
    expect(await named('disabled = true')).toEqual(['ending', 'lasting'])
    expect(await named('type = "Device" and disabled = false')).toEqual(['free'])
    await net.elapse(11 * 60_000)
    expect(await named('disabled = true')).toEqual(['lasting'])
    expect(await named('hasEdgeRouterConnection = true')).toEqual([])
    expect(await named('true', 'disabled desc, name')).toEqual(['lasting', 'Default Admin', 'ending', 'free'])
    await net.admin.call('POST /identities/{id}/enable', { params: { id: lasting } })
    expect(await named('disabled')).toEqual([])
    expect(await named('disabled = true or disabled = false')).toHaveLength(4)
    expect(await named('disabled = true and disabled = false')).toEqual([])
  })

  it('find who reported a system or an SDK at its login, and who did not', async () => {
    const net = await createTestController()
    onTestFinished(() => net.close())
    await net.admin.call('POST /identities', { body: { name: 'silent', type: 'Device', isAdmin: false } })
    const facts = { envInfo: { os: 'linux', arch: 'x64' }, sdkInfo: { type: 'ziti-sdk-c', version: '1.9.3' } }
    const url = 'https://controller.test:1280/edge/client/v1/authenticate?method=password'
    const body = JSON.stringify({ ...TEST_ADMIN, ...facts })
    const login = new Request(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    expect((await net.fetch(login)).status).toBe(200)
    const named = async (filter: string) =>
      (await net.admin.call('GET /identities', { query: { filter, sort: 'name' } })).data.map(({ name }) => name)
    expect(await named('os = "linux"')).toEqual(['Default Admin'])
    expect(await named('os contains "inu" and sdk = "ziti-sdk-c"')).toEqual(['Default Admin'])
    expect(await named('os = null')).toEqual(['silent'])
    expect(await named('os != "linux"')).toEqual(['silent'])
    expect(await named('sdk in ["ziti-sdk-go"]')).toEqual([])
  })

  it('find who is connected to an edge router', async () => {
    const net = await createTestController({ router: true })
    onTestFinished(() => net.close())
    await net.seed({
      services: [{ name: 'wiki' }],
      identities: [{ name: 'box', roleAttributes: ['hosts'] }, { name: 'laptop' }],
      servicePolicies: [
        { name: 'serve', type: 'Bind', semantic: 'AnyOf', identityRoles: ['#hosts'], serviceRoles: ['@wiki'] },
      ],
    })
    const connected = async (is: boolean) =>
      (
        await net.admin.call('GET /identities', { query: { filter: `hasEdgeRouterConnection = ${is}`, sort: 'name' } })
      ).data.map(({ name }) => name)
    await net.as('box').host('wiki', (connection: ServiceConnection) => void connection.resume())
    await expect.poll(() => connected(true)).toContain('box')
    expect(await connected(false)).toContain('laptop')
    expect(await connected(false)).not.toContain('box')
  })
})
