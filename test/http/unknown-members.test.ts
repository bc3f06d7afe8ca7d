import { apiDocuments } from 'portcullis'
import { describe, expect, it } from 'vitest'
import { COLLECTIONS, expectDone, expectFieldError } from '../contract/http/errors.ts'
import { adminOf, CLIENT, create, foreignClient, MANAGEMENT, read } from '../contract/http/foreign-client.ts'
import { validRequest } from '../laws/valid-requests.ts'
import { mount } from '../support/mount.ts'

const strict = () => mount({ refuseUnknownMembers: true })
const POLICY = { name: 'p', type: 'Dial', semantic: 'AnyOf' }
const MULTI = { name: 'x', typeId: 'PROCESS_MULTI', semantic: 'AllOf' }

describe('a misspelled member of a body', () => {
  it('is dropped, unless the controller refuses what it does not know', async () => {
    const body = { ...POLICY, postureChecksRoles: ['#strict'] }
    const lenient = await adminOf(await mount())
    expect(await read(lenient, `/service-policies/${await create(lenient, '/service-policies', body)}`)).toMatchObject({
      postureCheckRoles: [],
    })
    const answer = await (await adminOf(await strict())).post('/service-policies', body)
    const reason = "postureChecksRoles in body is unknown (did you mean 'postureCheckRoles'?)"
    expectFieldError(answer, 'postureChecksRoles', reason)
  })

  it.each<[string, object, string]>([
    ['/service-policies', { ...POLICY, postureChecksRoles: null }, 'postureChecksRoles'],
    ['/identities', { name: 'x', type: 'User', isAdmin: false, enrollment: { oot: true } }, 'enrollment.oot'],
    ['/posture-checks', { name: 'x', typeId: 'PROCESS', process: { path: '/a', hashs: [] } }, 'process.hashs'],
    ['/posture-checks', { ...MULTI, processes: [{ path: '/a' }, { hashs: [] }] }, 'processes.1.hashs'],
    ['/posture-checks', { name: 'x', typeId: 'MFA', macAdresses: [] }, 'macAdresses'],
    ['/authenticators', { identityId: 'x', method: 'updb', passwrd: 'secret' }, 'passwrd'],
  ])('is named by its path, and its value not shown: %s %j', async (path, body, field) => {
    const admin = await adminOf(await strict())
    const answer = await admin.post(path, body)
    expectFieldError(answer, field, `${field} in body is unknown`)
    expect(answer.body.error.cause.value).toBe('')
  })

  it('is refused in what replaces and changes an entity, and deep inside of a change that is only tried', async () => {
    const mounted = await strict()
    const admin = await adminOf(mounted)
    const id = await create(admin, '/service-policies', POLICY)
    expectFieldError(await admin.put(`/service-policies/${id}`, { ...POLICY, serviceRole: [] }), 'serviceRole')
    expectFieldError(await admin.patch(`/service-policies/${id}`, { serviceRole: [] }), 'serviceRole')
    const changes = [{ kind: 'services', action: 'create', body: { name: 'x', roleAttribute: [] } }]
    const portcullis = foreignClient(mounted, '/portcullis/v1', admin.token)
    expectFieldError(await portcullis.post('/simulate', { changes }), 'changes.0.body.roleAttribute')
  })

  it('is refused in what an endpoint reports', async () => {
    const mounted = await strict()
    const { token } = await adminOf(mounted)
    const client = foreignClient(mounted, CLIENT, token)
    const report = { id: 'x', typeId: 'DOMAIN', domain: 'x' }
    expectFieldError(await client.post('/posture-response', { ...report, domian: 'x' }), 'domian')
    expectFieldError(await client.post('/posture-response-bulk', [report, { ...report, domian: 'x' }]), '1.domian')
  })
})

describe('with unknown members refused, a controller takes', () => {
  it('what belongs to other types of posture check, and the other spellings of a check', async () => {
    const admin = await adminOf(await strict())
    const empty = { domains: [], macAddresses: null, operatingSystems: [], process: null, processes: [], semantic: '' }
    const base = { name: 'x', typeId: 'postureCheckDomainCreate', attributes: ['a'], tags: null }
    const id = await create(admin, '/posture-checks', { ...empty, ...base, domains: ['corp'] })
    expect(await read(admin, `/posture-checks/${id}`)).toMatchObject({ domains: ['corp'], roleAttributes: ['a'] })
    expectDone(await admin.patch(`/posture-checks/${id}`, { ...empty, typeId: 'DOMAIN', domains: ['corp', 'lab'] }))
    const operatingSystems = [{ Type: 'Linux', Versions: ['>=1.0.0'] }]
    await create(admin, '/posture-checks', { name: 'y', typeId: 'OS', operatingSystems })
  })

  it('any member of maps, and whatever clients tell of themselves', async () => {
    const mounted = await strict()
    const admin = await adminOf(mounted)
    const free = { tags: { any: { thing: 1 } }, appData: { any: { thing: 1 } }, serviceHostingCosts: {} }
    await create(admin, '/identities', { name: 'x', type: 'User', isAdmin: false, ...free })
    const type = await create(admin, '/config-types', { name: 't', schema: { type: 'object', any: { thing: 1 } } })
    await create(admin, '/configs', { name: 'c', configTypeId: type, data: { any: { thing: 1 } } })
    const login = { username: 'admin', password: 'admin-password', envInfo: { cpu: 2 }, sdkInfo: { language: 'x' } }
    const answer = await foreignClient(mounted, MANAGEMENT).post('/authenticate?method=password', login)
    expect(answer.status, answer.text).toBe(200)
  })
})

/** The routes of an API that make or change something by JSON. */
async function routesOf(api: 'management' | 'client' | 'portcullis'): Promise<readonly string[]> {
  const { paths } = (await apiDocuments('v0'))[api] as { readonly paths: Readonly<Record<string, object>> }
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => ['post', 'put', 'patch'].includes(method))
      .filter(([, operation]) => Object.hasOwn(Object(operation?.requestBody?.content), 'application/json'))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  )
}

describe.each([
  ['management', MANAGEMENT],
  ['client', CLIENT],
  ['portcullis', '/portcullis/v1'],
] as const)('of every operation of the %s API that makes or changes something by JSON', (api, base) => {
  it('a valid body is known to the last member, and one with a member too many is refused', async () => {
    const mounted = await strict()
    const admin = await adminOf(mounted)
    const serviceId = await create(admin, '/services', { name: 'shared', encryptionRequired: true })
    const routes = await routesOf(api)
    expect(routes.length).toBeGreaterThan(api === 'management' ? 40 : 1)
    for (const route of routes) {
      const [method = ''] = route.split(' ')
      const names = { serviceId, ownSessionId: undefined }
      const { path, body, headers } = await validRequest(admin, route, route.replaceAll(/\W+/g, '-'), names)
      if (headers !== undefined) continue
      // A login or logout of the caller is among them. The query is judged before the body.
      const client = foreignClient(mounted, base, (await adminOf(mounted)).token)
      const url = path.startsWith('/enroll') && !path.includes('?') ? `${path}?token=unknown` : path
      if (!Array.isArray(body)) {
        const sent = { zzzz: 1, ...Object(body) }
        expectFieldError(await client.send(method, url, { body: sent }), 'zzzz', 'zzzz in body is unknown')
      }
      // Bodies of replacements and changes are those of creation, of which some say more.
      if (method !== 'POST') continue
      const answer = await client.send(method, url, { body })
      expect(answer.text, route).not.toContain('in body is unknown')
      if (api === 'management' && COLLECTIONS.some((one) => one === path)) expect(answer.status, answer.text).toBe(201)
    }
  }, 60_000)
})
