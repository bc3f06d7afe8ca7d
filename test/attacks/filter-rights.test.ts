import 'reflect-metadata'
import { describe, expect, it } from 'vitest'
import { expectError } from '../contract/http/errors.ts'
import { adminOf, create, type ForeignClient, foreignClient } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'
import { network, ROUTER_FOR_ALL } from '../support/network.ts'
import { apisOf, person } from '../support/people.ts'
import { newAuthority, now, registered } from '../support/third-party.ts'

/** A network whose names are secrets for those who may not read them, and a caller who holds some permissions. */
async function secrets(permissions: readonly string[]) {
  const here = await network({
    entities: {
      type: ['/config-types', { name: 'secret-type', schema: {} }],
      config: ['/configs', ({ type }) => ({ name: 'secret-config', configTypeId: type, data: {} })],
      service: ['/services', ({ config }) => ({ name: 'web', configs: [config], roleAttributes: ['red'] })],
      ...ROUTER_FOR_ALL,
      router: ['/edge-routers', { name: 'secret-router', roleAttributes: ['secret-role'], cost: 7 }],
      terminator: [
        '/terminators',
        ({ service, router }) => ({ address: 'tcp:secret:1', binding: 'transport', cost: 9, service, router }),
      ],
      policy: [
        '/service-policies',
        { name: 'p', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#red'] },
      ],
    },
    people: { mallory: { permissions } },
  })
  return { ...here, ...(await apisOf(here.mounted, here.mallory)) }
}

const ask = (api: ForeignClient, path: string, parameter: string, text: string) =>
  api.get(`${path}?${parameter}=${encodeURIComponent(text)}`)

describe('a filter tells nothing of entities that the caller may not read', () => {
  it.each([
    ['service.read', '/services', 'anyOf(configs.name) = "secret-config"'],
    ['service.read', '/services', 'not isEmpty(from configs where name > "a")'],
    ['service.read', '/services', 'count(from configs where type.name contains "secret") > 0'],
    ['service.read', '/services', 'id = "x" or (true and not anyOf(configs.tags.a) = 1)'],
    ['service.read', '/services', 'isEmpty(from configs where isEmpty(from services where true))'],
    ['config.read', '/configs', 'type.target = "service"'],
    ['config.read', '/configs', 'type.schema.x = null'],
    ['service-policy.read', '/service-policies', 'anyOf(services.name) = "web"'],
    ['service-policy.read', '/service-policies', 'anyOf(services) > "a"'],
    ['service-policy.read', '/service-policies', 'count(identities) > 3'],
    ['service-policy.read', '/service-policies', 'isEmpty(identities)'],
    ['service-policy.read', '/service-policies', 'isEmpty(from identities where isAdmin)'],
    ['service-policy', '/service-policies', 'not isEmpty(from services where id = "x")'],
    ['terminator.read', '/terminators', 'service.roleAttributes = "red"'],
    ['terminator.read', '/terminators', 'anyOf(service.roleAttributes) = "red"'],
    ['terminator.read', '/terminators', 'anyOf(service.configs.name) = "secret-config"'],
    ['identity.read', '/identities', 'authPolicyId.primary.updb.allowed'],
    ['identity.read', '/identities', 'anyOf(authPolicyId.name) = "Default"'],
    ['enrollment.read', '/enrollments', 'identity.isAdmin'],
    ['ops.read', '/api-sessions', 'identity.isAdmin'],
    ['ops.read', '/api-sessions', 'anyOf(identity.roleAttributes) = "x"'],
  ])('with %s: %s %s', async (permission, path, filter) => {
    const { management } = await secrets([permission])
    expectError(await ask(management, path, 'filter', filter), 'INVALID_FILTER')
  })

  it('and does for who may read them', async () => {
    const { management } = await secrets(['service.read', 'config.read', 'service-policy.read', 'identity.read'])
    for (const [path, filter] of [
      ['/services', 'anyOf(configs.name) = "secret-config"'],
      [
        '/service-policies',
        'anyOf(services.configs.name) = "secret-config" and not isEmpty(from identities where isAdmin)',
      ],
    ] as const) {
      expect((await ask(management, path, 'filter', filter)).body.data).toHaveLength(1)
    }
  })

  it('may be asked for what the record shows itself: ids in a field, and the name beside a reference', async () => {
    const { management, config } = await secrets(['service.read', 'terminator.read'])
    for (const [path, filter] of [
      ['/services', `anyOf(configs) = "${config}" and count(from configs where id = "${config}") = 1`],
      ['/terminators', 'service.name = "web" and router.name contains "router"'],
    ] as const) {
      expect((await ask(management, path, 'filter', filter)).body.data, filter).toHaveLength(1)
    }
  })
})

describe('an endpoint asks for what it is shown, and for nothing else', () => {
  it.each([
    ['/services', 'anyOf(configs.name) = "secret-config"'],
    ['/services', 'not isEmpty(from configs where tags.a = null)'],
    ['/services/WEB/terminators', 'address contains "secret"'],
    ['/services/WEB/terminators', 'binding = "transport"'],
    ['/services/WEB/terminators', 'cost > 5'],
    ['/services/WEB/terminators', 'hostId = ""'],
    ['/services/WEB/terminators', 'router.name > "a"'],
    ['/services/WEB/terminators', 'anyOf(service.configs.name) > "a"'],
    ['/current-identity/edge-routers', 'anyOf(roleAttributes) = "secret-role"'],
    ['/current-identity/edge-routers', 'fingerprint != null'],
    ['/current-identity/edge-routers', 'isEmpty(configs)'],
    ['/sessions', 'apiSession.ipAddress = "127.0.0.1"'],
    ['/sessions', 'anyOf(service.configs.name) > "a"'],
    ['/external-jwt-signers', 'certPem != null'],
    ['/external-jwt-signers', 'issuer > "a"'],
    ['/current-identity/authenticators', 'identity.isAdmin'],
    ['/current-api-session/certificates', 'apiSession.identity.isAdmin'],
  ])('%s?filter=%s', async (path, filter) => {
    const { api, service } = await secrets([])
    expectError(await ask(api, path.replace('WEB', service), 'filter', filter), 'INVALID_FILTER')
  })

  it.each([
    ['/services/WEB/terminators', 'address'],
    ['/services/WEB/terminators', 'cost desc'],
    ['/services/WEB/terminators', 'id, router.name'],
    ['/current-identity/edge-routers', 'fingerprint'],
    ['/services', 'configs.name'],
    ['/sessions', 'service.name'],
    ['/external-jwt-signers', 'issuer'],
  ])('%s?sort=%s', async (path, sort) => {
    const { api, service } = await secrets([])
    const at = path.replace('WEB', service)
    expectError(await ask(api, at, 'sort', sort), 'INVALID_SORT_IDENTIFIER')
    expectError(await ask(api, at, 'filter', `true sort by ${sort}`), 'INVALID_FILTER')
  })

  it('and finds by that', async () => {
    const { api, service, config, router } = await secrets([])
    for (const [path, filter] of [
      ['/services', `name = "web" and anyOf(roleAttributes) = "red" and anyOf(configs) = "${config}"`],
      [`/services/${service}/terminators`, `router = "${router}" and service.name = "web" and instanceId = ""`],
      ['/current-identity/edge-routers', 'isVerified and online = false'],
    ] as const) {
      const answer = await ask(api, path, 'filter', filter)
      expect(answer.status, `${filter} ${answer.text}`).toBe(200)
    }
    expect((await ask(api, '/services', 'filter', `anyOf(configs) = "${config}"`)).body.data).toHaveLength(1)
  })
})

describe('the list of trust anchors', () => {
  it.each([
    [['ca.read'], ['a CA']],
    [['external-jwt-signer.read'], ['a signer']],
    [
      ['ca', 'external-jwt-signer'],
      ['a CA', 'a signer'],
    ],
    [['service.read'], []],
  ])('shows to who holds %j only %j', async (permissions, names) => {
    const mounted = await mount({ now })
    const admin = await adminOf(mounted)
    await registered(admin, await newAuthority('a CA'), { name: 'a CA' })
    const keys = { jwksEndpoint: 'https://idp.example/keys' }
    const signer = { name: 'a signer', issuer: 'https://idp.example', audience: 'network', enabled: true, ...keys }
    await create(admin, '/external-jwt-signers', signer)
    const { token } = await apisOf(mounted, await person(mounted, admin, 'mallory', { permissions }))
    const { status, body } = await foreignClient(mounted, '/portcullis/v1', token).get('/trust-anchors')
    expect([status, body.data.map(({ name }: { name: string }) => name)]).toEqual([200, names])
  })
})
