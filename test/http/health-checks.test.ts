import { memoryStorage } from 'portcullis/memory'
import { expect, it } from 'vitest'
import { foreignClient } from '../contract/http/foreign-client.ts'
import { faultyStorage } from '../support/faulty-storage.ts'
import { mount } from '../support/mount.ts'

it.each(['/health-checks', '/health-checks/', '/health-checks/v1', '/health-checks/v1/whatever/below'])(
  '%s tells anybody that the controller is well',
  async (path) => {
    const mounted = await mount()
    const { status, headers, body } = await foreignClient(mounted, '').get(path)
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
    const lastCheckTime = new Date(mounted.clock.now()).toISOString()
    expect(body).toEqual({
      data: { checks: [{ healthy: true, id: 'bolt.read', lastCheckDuration: '0s', lastCheckTime }], healthy: true },
      meta: {},
    })
  },
)

it('the short form leaves out when and how long', async () => {
  const anybody = foreignClient(await mount(), '')
  expect((await anybody.get('/health-checks?type=short')).body).toEqual({
    data: { checks: [{ healthy: true, id: 'bolt.read' }], healthy: true },
    meta: {},
  })
})

it('who asks for the leader of a cluster is told that there is no cluster', async () => {
  const anybody = foreignClient(await mount(), '')
  for (const path of ['/health-checks/v1/controller/raft', '/health-checks/controller/raft?type=short']) {
    expect((await anybody.get(path)).body).toMatchObject({
      data: { healthy: true },
      meta: {},
      raft: { isLeader: false, isRaftEnabled: false },
    })
  }
})

it('a database that cannot be read is told with status 200, and since when; asking often does not look often', async () => {
  const storage = faultyStorage(memoryStorage())
  const mounted = await mount({ storage })
  const anybody = foreignClient(mounted, '')
  const look = async () => (await anybody.get('/health-checks')).body.data
  const failingSince = new Date(mounted.clock.now()).toISOString()
  storage.fault = { call: 1, when: 'before' }
  const failed = { healthy: false, consecutiveFailures: 1, failingSince, err: 'the database cannot be read' }
  expect(await look()).toMatchObject({ healthy: false, checks: [failed] })
  const { calls } = storage
  expect(await look()).toMatchObject({ healthy: false, checks: [failed] })
  expect(storage.calls).toBe(calls)
  await mounted.controller.elapse(1_000)
  storage.fault = { call: 1, when: 'before' }
  expect(await look()).toMatchObject({ healthy: false, checks: [{ ...failed, consecutiveFailures: 2 }] })
  await mounted.controller.elapse(1_000)
  const { healthy, checks } = await look()
  expect(healthy).toBe(true)
  expect(checks[0]).not.toHaveProperty('failingSince')
})
