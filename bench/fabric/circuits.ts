import { openControlListener, routerSide } from 'portcullis/fabric'
import { createTestController, enrollEdgeRouter, FakeRouter } from 'portcullis/testing'
import type { BenchRow } from '../row.ts'
import { adminToken, type BenchCall, callerOf } from './bench-api.ts'

const { CONTENT_TYPE } = routerSide
const DIALS = 300

/** How long a circuit over a link takes at the controller, with routers that are played in this process. */
export async function benchCircuits(): Promise<BenchRow[]> {
  const controller = await createTestController()
  const dataPlane = await openControlListener(controller, { addresses: ['tls:bench:1'] })
  const token = await adminToken(controller)
  const call = callerOf(controller, token)
  await call('POST', '/services', { name: 'web', encryptionRequired: false, roleAttributes: ['web'] })
  const all = { name: 'all', semantic: 'AnyOf', edgeRouterRoles: ['#all'] }
  await call('POST', '/edge-router-policies', { ...all, identityRoles: ['#all'] })
  await call('POST', '/service-edge-router-policies', { ...all, serviceRoles: ['#all'] })
  for (const type of ['Dial', 'Bind']) {
    await call('POST', '/service-policies', {
      name: type,
      type,
      semantic: 'AnyOf',
      serviceRoles: ['#web'],
      identityRoles: ['#all'],
    })
  }
  const service = await call('GET', '/services?filter=name=%22web%22')
  const router = async (name: string) => {
    const enrolled = await enrollEdgeRouter(controller, token, { name, isTunnelerEnabled: true })
    const played = new FakeRouter(enrolled, dataPlane)
    await played.connect()
    return played
  }
  const [client, server] = [await router('client'), await router('server')]
  const link = {
    id: 'l',
    destRouterId: server.id,
    linkProtocol: 'tls',
    dialAddress: 'tls:s:1',
    iteration: 1,
    connState: undefined,
  }
  client.send(CONTENT_TYPE.routerLinks, routerSide.RouterLinks.encode({ links: [link] }))
  const serviceId = String(Reflect.get(Object(Object.values(service)[0]), 'id'))
  await server.request(
    CONTENT_TYPE.createTunnelTerminator,
    routerSide.CreateTunnelTerminator.encode({ serviceId, address: 't' }),
  )
  const dial = async () => {
    const begun = performance.now()
    await client.request(
      CONTENT_TYPE.createTunnelCircuit,
      routerSide.CreateTunnelCircuit.encode({ serviceName: 'web' }),
    )
    client.forget()
    server.forget()
    return performance.now() - begun
  }
  for (let count = 0; count < DIALS; count += 1) await dial()
  await endAll(call)
  const rows: BenchRow[] = []
  for (const open of [1, 100, 1000]) {
    for (let count = 0; count < open; count += 1) await dial()
    const times: number[] = []
    for (let count = 0; count < DIALS; count += 1) times.push(await dial())
    times.sort((left, right) => left - right)
    for (const [name, share] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ] as const) {
      rows.push({
        name: `a circuit over a link, ${open} to ${open + DIALS} open: ${name}`,
        value: times[Math.floor(share * DIALS)] ?? 0,
        unit: 'ms',
      })
    }
    await endAll(call)
  }
  await controller.close()
  return rows
}

async function endAll(call: BenchCall): Promise<void> {
  for (;;) {
    const open = Object.values(await call('GET', '/fabric/v1/circuits?limit=500'))
    if (open.length === 0) return
    for (const circuit of open) await call('DELETE', `/fabric/v1/circuits/${Reflect.get(Object(circuit), 'id')}`)
  }
}
