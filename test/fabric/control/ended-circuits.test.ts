import { routerSide } from 'portcullis/fabric'
import type { FakeRouter } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { usedBytes } from '../../support/used-bytes.ts'
import { dial, type FabricWorld } from './fabric-world.ts'
import { pair, TUNNELER } from './linked-pair.ts'

const { CONTENT_TYPE, Fault } = routerSide
const CIRCUITS = 300
const DATA_BYTES = 16_384

/** Lays a circuit, has its client end it, and waits until the controller has heard of that. */
async function laidAndEnded(
  { world, client }: { readonly world: FabricWorld; readonly client: FakeRouter },
  peerData?: ReadonlyMap<number, Uint8Array>,
): Promise<string> {
  const { circuitId } = await dial(client, 'web', peerData)
  client.send(CONTENT_TYPE.fault, Fault.encode({ subject: 'ingress', id: circuitId }))
  await client.request(CONTENT_TYPE.ping)
  expect(world.told('circuit.closed').map((ended) => ended.circuitId)).toContain(circuitId)
  return circuitId
}

it('the usage of a circuit that has ended is told, as its routers report it, and no other router', async () => {
  const scene = await pair()
  const { world, client, server, network } = scene
  const other = await world.router('other', TUNNELER)
  const circuitId = await laidAndEnded(scene)
  for (const router of [other, client, server]) {
    const buckets = new Map([[circuitId, { values: new Map([['ingress.rx', 42]]) }]])
    const usageCounters = [{ intervalStart: 60, intervalLength: 30, buckets }]
    router.send(CONTENT_TYPE.metrics, routerSide.Metrics.encode({ usageCounters }))
    await router.request(CONTENT_TYPE.ping)
  }
  await vi.waitFor(() => expect(world.told('circuit.usage')).toHaveLength(2))
  const facts = { circuitId, identityId: client.id, serviceId: network.serviceId, terminatorId: 'terminator-1' }
  expect(world.told('circuit.usage')).toMatchObject(
    [client, server].map(({ id: routerId }) => ({
      ...facts,
      hostId: server.id,
      routerId,
      bytes: { 'ingress.rx': 42 },
    })),
  )
})

it('what a client sent for its host is not kept behind the end of the circuit', async () => {
  const scene = await pair()
  const forget = () => {
    scene.world.forgetEvents()
    for (const router of [scene.client, scene.server]) router.forget()
  }
  const dials = async (count: number) => {
    for (let laid = 0; laid < count; laid += 1) {
      await laidAndEnded(scene, new Map([[1, new Uint8Array(DATA_BYTES)]]))
      forget()
    }
  }
  await dials(CIRCUITS)
  const before = usedBytes()
  await dials(CIRCUITS)
  // Bytes of buffers are given back a moment after they were collected.
  await vi.waitFor(() => expect((usedBytes() - before) / CIRCUITS).toBeLessThan(DATA_BYTES / 2), { timeout: 10_000 })
})
