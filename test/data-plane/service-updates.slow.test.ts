import { expect, it, vi } from 'vitest'
import { bodyOf, EDGE_TYPE } from '../../adapters/network/channel/edge-messages.ts'
import { message } from '../../adapters/network/channel/protobuf/index.ts'
import { PostureState, ServiceChanges } from '../../adapters/network/channel/service-messages.ts'
import { bearerEndpoint, report } from '../support/bearer-endpoints.ts'
import { edgeWorld } from '../support/edge-world.ts'

const NOTHING = message({}).encode({})

/** An endpoint that may dial a service with a config, by a policy that asks for a domain. */
async function subscriber() {
  const world = await edgeWorld()
  const { admin } = world.controller
  const { data: type } = await admin.call('POST /config-types', { body: { name: 'where' } })
  const config = async (name: string, data: object) =>
    (await admin.call('POST /configs', { body: { name, configTypeId: type.id, data } as never })).data.id
  const common = await config('common', { port: 80 })
  const service = { params: { id: world.serviceId } }
  await admin.call('PATCH /services/{id}', { ...service, body: { configs: [common] } })
  const check = { name: 'at work', typeId: 'DOMAIN', domains: ['corp.example'], roleAttributes: ['checked'] }
  const { data: domain } = await admin.call('POST /posture-checks', { body: check as never })
  const policy = { params: { id: world.policies.Dial } }
  await admin.call('PATCH /service-policies/{id}', { ...policy, body: { postureCheckRoles: ['#checked'] } })
  const { endpoint, id } = await bearerEndpoint(world, 'laptop', 'clients')
  const heard = (contentType: number) => endpoint.heard.filter((one) => one.contentType === contentType).map(bodyOf)
  const changes = () => heard(EDGE_TYPE.serviceChanges).map((body) => ServiceChanges.decode(body))
  const states = () => heard(EDGE_TYPE.postureState).map((body) => PostureState.decode(body))
  const ask = (contentType: number) => endpoint.send({ contentType, headers: new Map(), body: [NOTHING] })
  /** The next change after a number of them, which follows the one before. */
  const next = async (count: number) => {
    await vi.waitFor(() => expect(changes().length).toBeGreaterThan(count))
    const [before, change] = [changes()[count - 1], changes()[count]]
    if (before !== undefined) expect(change?.previousIndex).toBe(before.index)
    return change
  }
  return {
    world,
    admin,
    endpoint,
    id,
    typeId: type.id,
    config,
    domainId: domain.id,
    service,
    policy,
    changes,
    states,
    ask,
    next,
  }
}

it('an endpoint that subscribes gets its services, policies, checks and configs, and which of them pass', async () => {
  const { world, ask, changes, states, endpoint, domainId, typeId } = await subscriber()
  ask(EDGE_TYPE.subscribe)
  await vi.waitFor(() => expect([changes().length, states().length]).toEqual([1, 1]))
  expect(changes()[0]).toMatchObject({
    previousIndex: -1,
    services: [
      {
        ...{ op: 'added', id: world.serviceId, name: 'wiki', policyIds: [world.policies.Dial] },
        configData: [{ typeId, typeName: 'where', dataJson: '{"port":80}' }],
      },
    ],
    policies: [{ op: 'added', id: world.policies.Dial, type: 'Dial', postureCheckIds: [domainId] }],
    postureChecks: [{ op: 'added', id: domainId, type: 'DOMAIN' }],
  })
  const state = (sequence: number, isPassing: boolean) => ({
    sequence,
    checks: [{ checkId: domainId, isPassing }],
    policies: [{ policyId: world.policies.Dial, isPassing }],
  })
  expect(states()[0]).toMatchObject(state(1, false))
  report(endpoint, { domain: { name: 'corp.example' } })
  await vi.waitFor(() => expect(states()[1]).toMatchObject(state(2, true)))
  ask(EDGE_TYPE.resyncPosture)
  await vi.waitFor(() => expect(states()[2]).toMatchObject(state(3, true)))
})

it('hears every change that concerns it, one after the other, and nothing once it unsubscribed', async () => {
  const { world, admin, ask, next, changes, states, config, service, policy, domainId, id } = await subscriber()
  ask(EDGE_TYPE.subscribe)
  await next(0)
  await admin.call('PATCH /services/{id}', { ...service, body: { name: 'docs' } })
  expect(await next(1)).toMatchObject({
    services: [{ op: 'updated', id: world.serviceId, name: 'docs' }],
    policies: [],
  })
  const own = await config('own', { port: 8080 })
  const body = [{ serviceId: world.serviceId, configId: own }]
  await admin.call('POST /identities/{id}/service-configs', { params: { id }, body })
  expect(await next(2)).toMatchObject({ services: [{ op: 'updated', configData: [{ dataJson: '{"port":8080}' }] }] })
  const { data: other } = await admin.call('POST /services', { body: { name: 'wages', encryptionRequired: true } })
  expect(await next(3)).toMatchObject({ services: [{ op: 'added', id: other.id, encryptionRequired: true }] })
  const seen = states().length
  const domains = { typeId: 'DOMAIN', domains: ['other.example'], name: 'there' }
  await admin.call('PATCH /posture-checks/{id}', { params: { id: domainId }, body: domains as never })
  await admin.call('DELETE /services/{id}', { params: { id: other.id } })
  expect(await next(4)).toMatchObject({ services: [{ op: 'removed', id: other.id, name: '' }] })
  expect(states().length).toBe(seen)
  await admin.call('DELETE /service-policies/{id}', policy)
  expect(await next(5)).toMatchObject({
    services: [{ op: 'removed', id: world.serviceId }],
    policies: [{ op: 'removed' }],
  })
  ask(EDGE_TYPE.unsubscribe)
  const { policies } = world
  await admin.call('PATCH /service-policies/{id}', { params: { id: policies.Bind }, body: { identityRoles: ['#all'] } })
  await world.controller.elapse(10_000)
  expect(changes().length).toBe(6)
})

it('hears that a second factor runs out, and when', async () => {
  const world = await edgeWorld()
  const { admin, clock } = world.controller
  const check = { name: 'factor', typeId: 'MFA', timeoutSeconds: 600, roleAttributes: ['checked'] }
  const { data } = await admin.call('POST /posture-checks', { body: check as never })
  const body = { postureCheckRoles: ['#checked'] }
  await admin.call('PATCH /service-policies/{id}', { params: { id: world.policies.Dial }, body })
  const { endpoint } = await bearerEndpoint(world, 'laptop', 'clients', true)
  endpoint.send({ contentType: EDGE_TYPE.subscribe, headers: new Map(), body: [NOTHING] })
  const states = () =>
    endpoint.heard
      .filter(({ contentType }) => contentType === EDGE_TYPE.postureState)
      .map((one) => PostureState.decode(bodyOf(one)))
  const passing = expect.objectContaining({
    checkId: data.id,
    isPassing: true,
    timeoutRemainingSeconds: expect.any(Number),
  })
  await vi.waitFor(() => expect(states().at(-1)?.checks).toEqual([passing]))
  const [known] = states().at(-1)?.checks ?? []
  expect((known?.timeoutAt?.seconds ?? 0) * 1000 - clock.now()).toBeGreaterThan(500_000)
  await world.controller.elapse(601_000)
  await vi.waitFor(() => expect(states().at(-1)?.checks).toMatchObject([{ isPassing: false }]), 10_000)
})

it('hears which process a check of a single one asks for', async () => {
  const world = await edgeWorld()
  const { admin } = world.controller
  const process = { osType: 'Linux', path: '/usr/bin/agent', hashes: ['aa'] }
  const check = { name: 'agent', typeId: 'PROCESS', process, roleAttributes: ['checked'] }
  const { data } = await admin.call('POST /posture-checks', { body: check as never })
  const body = { postureCheckRoles: ['#checked'] }
  await admin.call('PATCH /service-policies/{id}', { params: { id: world.policies.Dial }, body })
  const { endpoint } = await bearerEndpoint(world, 'laptop', 'clients')
  endpoint.send({ contentType: EDGE_TYPE.subscribe, headers: new Map(), body: [NOTHING] })
  const isChange = ({ contentType }: { readonly contentType: number }) => contentType === EDGE_TYPE.serviceChanges
  await vi.waitFor(() => expect(endpoint.heard.some(isChange)).toBe(true))
  const [first] = endpoint.heard.filter(isChange).map((one) => ServiceChanges.decode(bodyOf(one)))
  const processes = [{ osType: 'Linux', path: '/usr/bin/agent' }]
  expect(first?.postureChecks).toMatchObject([{ id: data.id, type: 'PROCESS_MULTI', semantic: 'AllOf', processes }])
})
