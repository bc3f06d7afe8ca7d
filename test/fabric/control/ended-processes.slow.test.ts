import { expect, it, vi } from 'vitest'
import { usedBytes } from '../../support/used-bytes.ts'
import { dial, host, joinedProcesses, reportLinks, tunnelNetwork } from './fabric-world.ts'
import { TUNNELER } from './linked-pair.ts'

const SECOND = 1000

/** A process lays a circuit over a router of another one, and ends; answers the other one, and the ended one if it is kept. */
async function endedAfterDial() {
  const { processOf, elapse, restart } = await joinedProcesses(['here', 'there'])
  const network = await tunnelNetwork(processOf('here'))
  const client = await processOf('here').router('client', { ...TUNNELER, linkListeners: ['tls:client:1'] })
  const server = await processOf('there').router('server', { ...TUNNELER, linkListeners: ['tls:server:1'] })
  reportLinks(client, [['link-1', server]])
  await host(server, network.serviceId)
  await vi.waitFor(async () => {
    await elapse(SECOND)
    expect((await dial(client)).refused).toBeUndefined()
  })
  const ended = new WeakRef(processOf('here').controller)
  client.close()
  await restart('here')
  await elapse(SECOND)
  return { ended, there: processOf('there') }
}

it('nothing of a process that ended is kept by another one over whose routers it laid circuits', async () => {
  const { ended, there } = await endedAfterDial()
  await vi.waitFor(() => {
    usedBytes()
    expect(ended.deref() === undefined).toBe(true)
  })
  expect(await there.call('GET', '/fabric/v1/routers')).toHaveLength(2)
})
