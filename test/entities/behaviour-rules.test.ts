import { describe, expect, it } from 'vitest'
import { world } from '../support/world.ts'

const params = (id: string) => ({ params: { id } })
const SECOND = 1000

describe('the rules of behaviour', () => {
  it('1: an identity gets access through service policies of the matching type', async () => {
    const here = await world()
    const web = await here.service('web')
    const alice = await here.person('alice')
    const policyId = await here.policy('dial', { identityRoles: [`@${alice.id}`], serviceRoles: [`@${web}`] })
    await here.open(alice, web, 'Dial')
    await expect(here.open(alice, web, 'Bind')).rejects.toThrow('COULD_NOT_VALIDATE')
    await here.admin.call('PATCH /service-policies/{id}', { ...params(policyId), body: { type: 'Bind' } })
    await here.open(alice, web, 'Bind')
    await expect(here.open(alice, web, 'Dial')).rejects.toThrow('COULD_NOT_VALIDATE')
    await here.admin.call('DELETE /service-policies/{id}', params(policyId))
    await expect(here.open(alice, web, 'Bind')).rejects.toThrow('NOT_FOUND')
  })

  it('2: of several service policies one in a passing state is enough', async () => {
    const here = await world()
    const web = await here.service('web')
    const alice = await here.person('alice')
    await here.domainCheck('corp', ['corp'], 'corp')
    await here.domainCheck('home', ['home'], 'home')
    const grant = { identityRoles: ['#all'], serviceRoles: [`@${web}`] }
    await here.policy('corp', { ...grant, postureCheckRoles: ['#corp'] })
    await here.policy('home', { ...grant, postureCheckRoles: ['#home'] })
    await expect(here.open(alice, web)).rejects.toThrow('INVALID_POSTURE')
    for (const domain of ['corp', 'home']) {
      await alice.api.call('POST /posture-response', { body: { id: 'x', typeId: 'DOMAIN', domain } })
      await here.open(alice, web)
    }
    expect(await here.sessions()).toHaveLength(1)
  })

  it('3: a service policy without posture checks always passes, beside one with checks as well', async () => {
    const here = await world()
    const web = await here.service('web')
    const alice = await here.person('alice')
    await here.domainCheck('corp', ['corp'], 'corp')
    const grant = { identityRoles: ['#all'], serviceRoles: [`@${web}`] }
    await here.policy('strict', { ...grant, postureCheckRoles: ['#corp'] })
    await expect(here.open(alice, web)).rejects.toThrow('INVALID_POSTURE')
    await here.policy('open', grant)
    await here.open(alice, web)
  })

  it('4: role attributes select posture checks, identities and services alike', async () => {
    const here = await world()
    const web = await here.service('web', ['apps'])
    const alice = await here.person('alice', ['people'])
    const check = await here.domainCheck('corp', ['strict'], 'corp')
    await here.policy('policy', { identityRoles: ['#people'], serviceRoles: ['#apps'], postureCheckRoles: ['#strict'] })
    await expect(here.open(alice, web)).rejects.toThrow('INVALID_POSTURE')
    await here.admin.call('PATCH /posture-checks/{id}', {
      ...params(check),
      body: { typeId: 'DOMAIN', roleAttributes: ['lax'] },
    })
    await here.open(alice, web)
    await here.admin.call('PATCH /services/{id}', { ...params(web), body: { roleAttributes: ['others'] } })
    await expect(here.open(alice, web)).rejects.toThrow('NOT_FOUND')
    await here.admin.call('PATCH /services/{id}', { ...params(web), body: { roleAttributes: ['apps'] } })
    await here.admin.call('PATCH /identities/{id}', { ...params(alice.id), body: { roleAttributes: ['others'] } })
    await expect(here.open(alice, web)).rejects.toThrow('NOT_FOUND')
  })

  it('5: a client learns from the posture queries of a service what to respond', async () => {
    const here = await world()
    const web = await here.service('web')
    const alice = await here.person('alice')
    await here.domainCheck('corp', ['strict'], 'corp')
    await here.policy('policy', {
      identityRoles: ['#all'],
      serviceRoles: [`@${web}`],
      postureCheckRoles: ['#strict'],
    })
    const queries = async () => {
      const { data } = await alice.api.call('GET /services/{id}', params(web))
      return data.postureQueries.flatMap((policy) => policy.postureQueries)
    }
    const [query] = await queries()
    expect(query).toMatchObject({ queryType: 'DOMAIN', isPassing: false })
    await alice.api.call('POST /posture-response', {
      body: { id: query?.id ?? '', typeId: 'DOMAIN', domain: 'CORP' },
    })
    expect(await queries()).toMatchObject([{ queryType: 'DOMAIN', isPassing: true }])
    await here.open(alice, web)
  })

  it('6: a response, a timeout, an unlock and a wake are evaluated when they occur; MFA has its grace', async () => {
    const here = await world()
    const alice = await here.person('alice')
    const services = new Map<string, string>()
    await here.domainCheck('response', ['response'], 'corp')
    await here.mfaCheck('timeout', ['timeout'], { timeoutSeconds: 600 })
    await here.mfaCheck('unlock', ['unlock'], { promptOnUnlock: true })
    await here.mfaCheck('wake', ['wake'], { promptOnWake: true })
    const report = (domain: string) =>
      alice.api.call('POST /posture-response', { body: { id: 'x', typeId: 'DOMAIN', domain } })
    const state = (event: { unlocked?: boolean; woken?: boolean }) =>
      alice.api.call('POST /posture-response', { body: { id: '0', typeId: 'ENDPOINT_STATE', ...event } })
    await report('corp')
    await here.passMfa(alice)
    for (const kind of ['response', 'timeout', 'unlock', 'wake']) {
      const id = await here.service(kind)
      await here.policy(kind, { identityRoles: ['#all'], serviceRoles: [`@${id}`], postureCheckRoles: [`#${kind}`] })
      services.set(await here.open(alice, id), kind)
    }
    const alive = async () => (await here.sessions()).map((id) => services.get(id)).sort()
    expect(await alive()).toEqual(['response', 'timeout', 'unlock', 'wake'])
    await report('elsewhere')
    expect(await alive()).toEqual(['timeout', 'unlock', 'wake'])
    await state({ unlocked: true })
    expect(await alive()).toEqual(['timeout', 'unlock', 'wake'])
    await here.controller.elapse(100 * SECOND)
    await state({ woken: true })
    await here.controller.elapse(200 * SECOND - 1)
    expect(await alive()).toEqual(['timeout', 'unlock', 'wake'])
    await here.controller.elapse(1)
    expect(await alive()).toEqual(['timeout', 'wake'])
    await here.controller.elapse(100 * SECOND)
    expect(await alive()).toEqual(['timeout'])
    await here.controller.elapse(200 * SECOND)
    expect(await alive()).toEqual([])
  })

  it('7: connecting needs an edge router that both sides may use by policy (advice tells whether it is online)', async () => {
    const here = await world()
    const web = await here.service('web')
    const alice = await here.person('alice')
    await here.policy('dial', { identityRoles: ['#all'], serviceRoles: ['#all'] })
    const session = await here.open(alice, web)
    const { data } = await alice.api.call('GET /sessions/{id}', params(session))
    expect(data.edgeRouters).toMatchObject([{ name: 'router', isOnline: false }])
    await alice.api.call('DELETE /sessions/{id}', params(session))
    const { data: policies } = await here.admin.call('GET /service-edge-router-policies')
    for (const { id } of policies) await here.admin.call('DELETE /service-edge-router-policies/{id}', params(id))
    await expect(here.open(alice, web)).rejects.toThrow('NO_EDGE_ROUTERS_AVAILABLE')
  })
})
