import { CLIENT, create, type ForeignClient, foreignClient, MANAGEMENT } from '../../contract/http/foreign-client.ts'
import { type Network, network } from '../../contract/http/scenario.ts'
import { newKey, signingRequest } from '../../contract/http/signing-request.ts'
import { ROWS } from '../../support/api-rows.ts'
import { integrityResults } from '../../support/integrity-results.ts'
import type { Scene } from './scene.ts'

const HOST = 'NH5p4FpGR'

/** Everything that a network lists and shows, in both APIs. */
export const lists: Scene = async (open) => {
  const scene = await network(await open())
  const { mounted, admin, alice, serviceId } = scene
  await populate(scene)
  const login = foreignClient(mounted, CLIENT, undefined, alice.certificate)
  const { token } = (
    await login.post('/authenticate?method=cert', {
      configTypes: ['all'],
      envInfo: { os: 'Linux', arch: 'x86_64' },
      sdkInfo: { type: 'sdk', appId: 'app' },
    })
  ).body.data
  const own = foreignClient(mounted, CLIENT, token, alice.certificate)
  const sessionId = await create(own, '/sessions', { serviceId, type: 'Dial' })
  const certificateId = await create(own, '/current-api-session/certificates', { csr: signingRequest(newKey()) })
  const apis: Readonly<Record<string, ForeignClient>> = { [CLIENT]: own, [MANAGEMENT]: admin }
  for (const { base, route } of ROWS.filter(({ route }) => route.startsWith('GET '))) {
    const api = apis[base]
    const path = route.slice(4).replace('{serviceId}', serviceId)
    const [collection = ''] = path.slice(1).split('/{id}')
    const ids = path.includes('{id}') ? ((await api?.get(`/${collection}?limit=500`))?.body?.data ?? [{}]) : [{}]
    for (const { id } of ids) await api?.get(path.replace('{id}', id))
  }
  await alice.management.get('/current-identity')
  await own.get('/services?configTypes=all')
  await admin.get(`/services?asIdentity=${alice.id}`)
  await own.delete(`/sessions/${sessionId}`)
  await own.delete(`/current-api-session/certificates/${certificateId}`)
  await admin.delete(`/sessions/${await create(own, '/sessions', { serviceId, type: 'Dial' })}`)
  await actions(scene)
}

async function populate({ admin, alice, serviceId, routerId: router }: Network): Promise<void> {
  const data = { protocol: 'tcp', address: 'localhost', port: 80 }
  const configId = await create(admin, '/configs', { name: 'web', configTypeId: HOST, data })
  await admin.patch(`/services/${serviceId}`, { configs: [configId], maxIdleTimeMillis: 1000 })
  await admin.post(`/identities/${alice.id}/service-configs`, [{ serviceId, configId }])
  await create(admin, '/terminators', { service: serviceId, router, binding: 'transport', address: 'tcp:a:1' })
  await create(admin, '/edge-routers', { name: 'tunneler', isTunnelerEnabled: true })
  await create(admin, '/transit-routers', { name: 'transit' })
  await create(admin, '/posture-checks', { name: 'corp', typeId: 'DOMAIN', domains: ['corp'] })
  await create(admin, '/revocations', { id: alice.id, type: 'IDENTITY' })
}

async function actions({ admin, alice, serviceId, routerId }: Network): Promise<void> {
  const [own] = (await admin.get(`/identities/${alice.id}/service-configs`)).body.data
  const { configId } = own
  await admin.send('DELETE', `/identities/${alice.id}/service-configs`, { body: [{ serviceId, configId }] })
  await admin.put(`/identities/${alice.id}/trace`, { enabled: true, duration: '1m' })
  await admin.put(`/identities/${alice.id}/trace`, { enabled: false })
  await admin.post(`/identities/${alice.id}/disable`, { durationMinutes: 5 })
  await admin.get(`/identities/${alice.id}`)
  await admin.post(`/identities/${alice.id}/enable`)
  await admin.post(`/edge-routers/${routerId}/re-enroll`, {})
  for (const what of ['check', 'fix']) {
    await admin.post(`/database/${what}-data-integrity`)
    await integrityResults(admin)
  }
}
