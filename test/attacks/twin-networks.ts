import { memoryStorage } from 'portcullis/memory'
import { createTestController } from 'portcullis/testing'
import { adminOf, create, type ForeignClient } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { newKey, selfSigned } from '../contract/http/signing-request.ts'
import { mountOf } from '../support/mount.ts'
import { authPolicy, login, person } from '../support/people.ts'
import { withSharedPki } from '../support/shared-pki.ts'

/** A network, and the tokens of callers by what each of them may do. */
export interface Twins {
  readonly base: MountedController
  readonly tokens: ReadonlyMap<string, string>
  readonly ids: Readonly<Record<string, string>>
  /** The same network, in which everything is otherwise that is none of the given permissions to read. */
  twinOf(readable: readonly string[]): Promise<MountedController>
  close(): Promise<void>
}

const rolesOf = (name: string) => ({ semantic: 'AnyOf', identityRoles: [`#${name}`], serviceRoles: [`#${name}`] })

/** Makes a network in which there is something of each kind, twice, and a caller for each set of permissions. */
export async function twinNetworks(sets: readonly (readonly string[])[]): Promise<Twins> {
  const storage = memoryStorage()
  const options = await withSharedPki({ storage, rateLimits: false })
  const controller = await createTestController(options)
  const base = mountOf(controller)
  const admin = await adminOf(base)
  const ids: Record<string, string> = {}
  for (const name of ['a', 'b']) await addAll(admin, name, ids)
  const tokens = new Map<string, string>()
  for (const permissions of sets) {
    const caller = await person(base, admin, `caller ${permissions.join()}`, { permissions })
    tokens.set(permissions.join(), (await login(base, caller)).body.data.token)
  }
  const twins: MountedController[] = []
  return {
    base,
    tokens,
    ids,
    twinOf: async (readable) => {
      const twin = mountOf(await controller.fork())
      twins.push(twin)
      await change(await adminOf(twin), ids, (permission) => !mayRead(readable, permission))
      return twin
    },
    close: async () => {
      for (const { dispose } of [...twins, base]) await dispose()
    },
  }
}

/** Whether permissions let somebody read entities of a kind. */
function mayRead(permissions: readonly string[], entity: string): boolean {
  return [entity, `${entity}.read`, 'admin_readonly'].some((permission) => permissions.includes(permission))
}

async function addAll(admin: ForeignClient, name: string, ids: Record<string, string>): Promise<void> {
  const tags = { key: name }
  const add = async (path: string, body: object) => {
    ids[`${path}/${name}`] = await create(admin, path, { name, tags, ...body })
    return ids[`${path}/${name}`]
  }
  const type = await add('/config-types', { schema: {} })
  const config = await add('/configs', { configTypeId: type, data: { x: name } })
  const service = await add('/services', { configs: [config], roleAttributes: [name] })
  const router = await add('/edge-routers', { cost: 5, roleAttributes: [name] })
  await add('/transit-routers', { name: `transit ${name}` })
  await add('/auth-policies', authPolicy(name))
  await add('/identities', { type: 'User', isAdmin: false, roleAttributes: [name], enrollment: { ott: true } })
  await add('/posture-checks', { typeId: 'MFA', roleAttributes: [name] })
  await add('/service-policies', { type: 'Dial', ...rolesOf(name), postureCheckRoles: [`#${name}`] })
  await add('/edge-router-policies', { semantic: 'AnyOf', identityRoles: [`#${name}`], edgeRouterRoles: [`#${name}`] })
  const routers = { semantic: 'AnyOf', serviceRoles: [`#${name}`], edgeRouterRoles: [`#${name}`] }
  await add('/service-edge-router-policies', routers)
  const terminator = { address: `tcp:${name}:1`, binding: 'transport', service, router, tags }
  ids[`/terminators/${name}`] = await create(admin, '/terminators', terminator)
  const certPem = selfSigned(newKey())
  await add('/cas', {
    certPem,
    isOttCaEnrollmentEnabled: true,
    isAutoCaEnrollmentEnabled: true,
    isAuthEnabled: true,
    identityRoles: [],
  })
  const signer = { issuer: `https://${name}.test`, audience: name, enabled: true, jwksEndpoint: 'https://a.test/keys' }
  await add('/external-jwt-signers', signer)
}

/** Changes of one entity of each kind, without its name, which references show to everybody who sees these. */
const CHANGES: readonly (readonly [permission: string, path: string, change: object])[] = [
  ['identity', '/identities', { roleAttributes: ['z'], externalId: 'z', tags: { key: 'z' } }],
  ['service', '/services', { roleAttributes: ['z'], tags: { key: 'z' }, terminatorStrategy: 'weighted' }],
  ['config', '/configs', { data: { x: 'z' }, tags: { key: 'z' } }],
  ['config-type', '/config-types', { schema: { type: 'object' }, tags: { key: 'z' } }],
  ['router', '/edge-routers', { cost: 9, noTraversal: true, roleAttributes: ['z'], tags: { key: 'z' } }],
  ['router', '/transit-routers', { cost: 9, noTraversal: true, tags: { key: 'z' } }],
  ['terminator', '/terminators', { cost: 9, binding: 'z', tags: { key: 'z' } }],
  [
    'posture-check',
    '/posture-checks',
    { typeId: 'MFA', promptOnWake: true, roleAttributes: ['z'], tags: { key: 'z' } },
  ],
  ['service-policy', '/service-policies', { serviceRoles: ['#b'], identityRoles: ['#b'], tags: { key: 'z' } }],
  ['edge-router-policy', '/edge-router-policies', { edgeRouterRoles: ['#b'], tags: { key: 'z' } }],
  ['service-edge-router-policy', '/service-edge-router-policies', { serviceRoles: ['#b'], tags: { key: 'z' } }],
  ['auth-policy', '/auth-policies', { primary: { updb: { maxAttempts: 7 } }, tags: { key: 'z' } }],
  ['ca', '/cas', { isAuthEnabled: false, tags: { key: 'z' } }],
  ['external-jwt-signer', '/external-jwt-signers', { audience: 'z', tags: { key: 'z' } }],
]

/** Kinds of which the twin has one more, with the members that it takes. */
const MORE: readonly (readonly [permission: string, path: string, body: object])[] = [
  ['identity', '/identities', { type: 'User', isAdmin: true, roleAttributes: ['a'] }],
  ['service', '/services', { roleAttributes: ['a'] }],
  ['router', '/edge-routers', { roleAttributes: ['a'] }],
  ['posture-check', '/posture-checks', { typeId: 'MFA', roleAttributes: ['a'] }],
  ['service-policy', '/service-policies', { type: 'Bind', ...rolesOf('a') }],
  [
    'edge-router-policy',
    '/edge-router-policies',
    { semantic: 'AnyOf', identityRoles: ['#a'], edgeRouterRoles: ['#b'] },
  ],
  [
    'service-edge-router-policy',
    '/service-edge-router-policies',
    { semantic: 'AnyOf', serviceRoles: ['#a'], edgeRouterRoles: ['#b'] },
  ],
]

async function change(
  admin: ForeignClient,
  ids: Twins['ids'],
  isHidden: (permission: string) => boolean,
): Promise<void> {
  for (const [permission, path, body] of CHANGES) {
    if (!isHidden(permission)) continue
    const answer = await admin.send('PATCH', `${path}/${ids[`${path}/a`]}`, { body })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`)
  }
  for (const [permission, path, body] of MORE) {
    if (isHidden(permission)) await create(admin, path, { name: 'extra', tags: {}, ...body })
  }
}
