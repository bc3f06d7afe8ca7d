import { describe, expect, it, vi } from 'vitest'
import { decodeMask } from '../../adapters/network/channel/capability-mask.ts'
import { bodyOf, EDGE_HEADER, EDGE_TYPE } from '../../adapters/network/channel/edge-messages.ts'
import { readBool } from '../../adapters/network/channel/header-values.ts'
import { bearerEndpoint, type Report, refusalIn, report } from '../support/bearer-endpoints.ts'
import { edgeWorld, type PlayedEndpoint } from '../support/edge-world.ts'

const CONNECTED = EDGE_TYPE.stateConnected
const HOSTED = EDGE_TYPE.bindSuccess
const REFUSED = EDGE_TYPE.stateClosed

const CHECKS: readonly (readonly [string, object, Partial<Report>, Partial<Report>])[] = [
  [
    'its domain',
    { typeId: 'DOMAIN', domains: ['corp.example'] },
    { domain: { name: 'elsewhere.example' } },
    { domain: { name: 'CORP.example' } },
  ],
  [
    'its addresses',
    { typeId: 'MAC', macAddresses: ['14:b2:2c:00:00:01'] },
    { macs: { addresses: ['14b22c000002'] } },
    { macs: { addresses: ['14-B2-2C-00-00-01'] } },
  ],
  [
    'its operating system',
    { typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: ['>=6.0.0'] }] },
    { os: { type: 'linux', version: '5.15.0', build: '' } },
    { os: { type: 'linux', version: '6.1.0', build: '' } },
  ],
  [
    'its processes',
    { typeId: 'PROCESS', process: { osType: 'Linux', path: '/usr/bin/agent', hashes: ['aa'] } },
    processes(['/usr/bin/agent', 'bb'], ['/usr/bin/other', 'aa']),
    processes(['/usr/bin/other', 'aa'], ['/usr/bin/agent', 'aa']),
  ],
]

function processes(...running: readonly (readonly [string, string])[]): Partial<Report> {
  const list = running.map(([path, hash]) => ({ path, hash, isRunning: true, signerFingerprints: [] }))
  return { processList: { processes: list } }
}

const closed = ({ heard }: PlayedEndpoint) =>
  heard.filter(({ contentType }) => contentType === REFUSED).map((message) => new TextDecoder().decode(bodyOf(message)))

/** A host and a client with bearer sessions; one of the policies asks for a check. */
async function checkedWorld(of: 'Dial' | 'Bind', check: object, hasFactor = false) {
  const world = await edgeWorld()
  const { admin } = world.controller
  const body = { name: 'the check', roleAttributes: ['checked'], ...check } as never
  const { data } = await admin.call('POST /posture-checks', { body })
  const fields = { body: { postureCheckRoles: ['#checked'] } }
  await admin.call('PATCH /service-policies/{id}', { params: { id: world.policies[of] }, ...fields })
  const host = await bearerEndpoint(world, 'box', 'hosts', hasFactor)
  host.endpoint.serve()
  const client = await bearerEndpoint(world, 'laptop', 'clients')
  const terminators = async () => (await admin.call('GET /terminators')).data.length
  return { world, admin, checkId: data.id, host, client, terminators }
}

describe.each(CHECKS)(
  'an endpoint with a bearer session that reports %s at our router',
  (_, check, failing, passing) => {
    it('dials once it passes, and its circuit ends when it does not pass any more', async () => {
      const { host, client, checkId } = await checkedWorld('Dial', check)
      expect((await host.bind()).contentType).toBe(HOSTED)
      expect(readBool(client.endpoint.greeting.headers, EDGE_HEADER.supportsPosture)).toBe(true)
      report(client.endpoint, failing)
      const refused = await client.dial()
      expect([refused.contentType, refusalIn(refused)]).toEqual([
        REFUSED,
        expect.objectContaining({ code: 15, failingPostureCheckIds: [checkId] }),
      ])
      report(client.endpoint, passing)
      expect((await client.dial()).contentType).toBe(CONNECTED)
      report(client.endpoint, failing)
      await vi.waitFor(() => expect(closed(client.endpoint).length).toBe(1))
    })

    it('hosts once it passes, and hears that it hosts no more when it does not', async () => {
      const { host, checkId, terminators } = await checkedWorld('Bind', check)
      const refused = await host.bind()
      expect([refused.contentType, refusalIn(refused)]).toEqual([
        REFUSED,
        expect.objectContaining({ code: 15, failingPostureCheckIds: [checkId] }),
      ])
      report(host.endpoint, passing)
      expect((await host.bind()).contentType).toBe(HOSTED)
      expect(await terminators()).toBe(1)
      report(host.endpoint, failing)
      await vi.waitFor(() => expect(closed(host.endpoint)).toEqual(['posture checks fail: the check']))
      await vi.waitFor(async () => expect(await terminators()).toBe(0))
    })
  },
)

const DOMAIN = { typeId: 'DOMAIN', domains: ['corp.example'] }
const AT_WORK = { domain: { name: 'corp.example' } }

describe('posture that endpoints report at our router', () => {
  it('counts at a dial that is right behind it, a hundred times', async () => {
    const { host, client } = await checkedWorld('Dial', DOMAIN)
    await host.bind()
    for (let round = 0; round < 100; round += 1) {
      report(client.endpoint, { domain: { name: 'elsewhere.example' } })
      expect((await client.dial()).contentType).toBe(REFUSED)
      report(client.endpoint, AT_WORK)
      expect((await client.dial()).contentType).toBe(CONNECTED)
    }
  })

  it('counts at a dial that overtook it, as by two sockets', async () => {
    const { host, client } = await checkedWorld('Dial', DOMAIN)
    await host.bind()
    const dialed = client.dial()
    report(client.endpoint, AT_WORK)
    expect((await dialed).contentType).toBe(CONNECTED)
  })

  it('is shown by the controller, and what is reported to the controller ends what is hosted here', async () => {
    const { admin, host, terminators } = await checkedWorld('Bind', DOMAIN)
    report(host.endpoint, AT_WORK)
    expect((await host.bind()).contentType).toBe(HOSTED)
    const { data } = await admin.call('GET /identities/{id}/posture-data', { params: { id: host.id } })
    expect(data).toMatchObject({ domain: { domain: 'corp.example' } })
    const elsewhere = { id: 'x', typeId: 'DOMAIN', domain: 'elsewhere.example' } as const
    await host.call.call('POST /posture-response', { body: elsewhere })
    await vi.waitFor(() => expect(closed(host.endpoint)).toEqual(['posture checks fail: the check']))
    expect(await terminators()).toBe(0)
  })

  it('ends what is hosted when the second factor of the login runs out', async () => {
    const factor = { typeId: 'MFA', timeoutSeconds: 600, promptOnWake: false, promptOnUnlock: false }
    const { world, host, terminators } = await checkedWorld('Bind', factor, true)
    expect((await host.bind()).contentType).toBe(HOSTED)
    await world.controller.elapse(9 * 60_000)
    expect(await terminators()).toBe(1)
    await world.controller.elapse(61_000)
    await vi.waitFor(() => expect(closed(host.endpoint)).toEqual(['posture checks fail: the check']), 10_000)
    expect(await terminators()).toBe(0)
  })

  it('ends what is hosted when the check changes', async () => {
    const { admin, host, checkId } = await checkedWorld('Bind', DOMAIN)
    report(host.endpoint, AT_WORK)
    expect((await host.bind()).contentType).toBe(HOSTED)
    const body = { typeId: 'DOMAIN', domains: ['other.example'] } as never
    await admin.call('PATCH /posture-checks/{id}', { params: { id: checkId }, body })
    await vi.waitFor(() => expect(closed(host.endpoint)).toEqual(['posture checks fail: the check']))
  })
})

describe('a host with a bearer session', () => {
  it('that loses its right to host is told at once, and its terminator is gone', async () => {
    const world = await edgeWorld()
    const { admin } = world.controller
    const host = await bearerEndpoint(world, 'box', 'hosts')
    expect((await host.bind()).contentType).toBe(HOSTED)
    const before = performance.now()
    await admin.call('DELETE /service-policies/{id}', { params: { id: world.policies.Bind } })
    await vi.waitFor(() => expect(closed(host.endpoint)).toEqual(['no policy grants the service']))
    await vi.waitFor(async () => expect((await admin.call('GET /terminators')).data).toEqual([]))
    expect(performance.now() - before).toBeLessThan(5000)
  })
})

describe('a router of ours', () => {
  it('names what it can do as deployed ones do, to its controller and to endpoints', async () => {
    const world = await edgeWorld()
    const { data } = await world.controller.admin.call('GET /edge-routers')
    const names = ['MULTI_CHANNEL', 'CONNECT_V2', 'SERVICE_SUBSCRIPTIONS', 'POSTURE_CHECKS', 'BIND_SUCCESS']
    expect(data.map(({ capabilities }) => capabilities)).toEqual([expect.arrayContaining(names)])
    const { endpoint } = await bearerEndpoint(world, 'laptop', 'clients')
    const mask = endpoint.greeting.headers.get(EDGE_HEADER.routerCapabilities) ?? new Uint8Array(0)
    expect(decodeMask(mask)).toEqual([1, 2, 4, 5, 6])
  })
})
