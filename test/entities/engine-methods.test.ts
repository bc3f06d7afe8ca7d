import { type Call, ControllerError, SYSTEM_CALL } from 'portcullis'
import { createTestController, type TestController } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { z } from 'zod'
// Internals: the engine behind that of hosts, whose checks come before it.
import { engineOf } from '../../src/controller/guarded-engine.ts'
import { ControllerEngine } from '../../src/engine/engine.ts'
import { SimulatedChanges } from '../../src/facts/access/access-questions.resource.ts'
import { ServiceConfigPairs } from '../../src/facts/configs/config.resource.ts'
import { readBody, readRequest } from '../../src/kernel/declaration/read-body.ts'
import { withSharedPki } from '../support/shared-pki.ts'

type MethodOf<T> = { [M in keyof T]: T[M] extends (...given: never) => unknown ? M : never }[keyof T] & string
type PartOf<T> = {
  [P in keyof T]: T[P] extends (...given: never) => unknown ? never : T[P] extends object ? P : never
}[keyof T] &
  string

/**
 * Arguments that a method accepts beside the call, by the names of its parameters. `inner` marks
 * methods that take values that the engine made itself (records, transactions, callers) or asks without anything of its own.
 */
type Taken = Readonly<Record<string, unknown>> | 'inner'
interface Case {
  readonly taken: Taken
  readonly by?: 'caller'
  readonly withoutCall?: true
}

const INNER: Case = { taken: 'inner' }
const ID: Case = { taken: { id: 'x' } }
const PEM = '-----BEGIN CERTIFICATE-----'

function entity(create: object, change: object = { tags: {} }) {
  return {
    get: { ...ID, withoutCall: true },
    find: INNER,
    create: { taken: { input: create } },
    replace: { taken: { id: 'x', input: create } },
    patch: { taken: { id: 'x', input: change } },
    delete: ID,
  } satisfies Record<string, Case>
}

const POLICY = { name: 'n', semantic: 'AnyOf', identityRoles: [], edgeRouterRoles: [] }

/** Every method of every part of the engine; one that is new or gone does not compile. */
const CASES: { readonly [P in PartOf<ControllerEngine>]: { readonly [M in MethodOf<ControllerEngine[P]>]: Case } } = {
  reader: {
    list: INNER,
    get: INNER,
    serviceAbove: { ...ID, withoutCall: true },
    identityIdOf: { taken: { idOrName: 'x' }, withoutCall: true },
    show: INNER,
    anyRouter: ID,
    routers: INNER,
    counts: INNER,
    roleAttributes: INNER,
    roleAttributeUses: INNER,
  },
  webhooks: entity({ name: 'n', endpoint: 'https://hooks.example/' }),
  webhookDeliveries: {
    rotateSecret: ID,
    deliveries: { ...ID, withoutCall: true },
    resend: { taken: { id: 'x', input: { events: ['x'] } } },
    drop: { taken: { id: 'x', input: { events: ['x'] } } },
  },
  accessRequests: {
    create: { taken: { input: { service: 'x', type: 'Bind', durationMs: 60_000, reason: 'y' } }, by: 'caller' },
    approve: { taken: { id: 'x', input: { durationMs: 60_000, note: 'y', postureCheckRoles: ['#x'] } } },
    refuse: { taken: { id: 'x', input: { note: 'y' } } },
    withdraw: { ...ID, by: 'caller' },
  },
  apiSessions: {
    ownMembers: INNER,
    startFor: {
      taken: { identity: 'x', input: { configTypes: ['all'], envInfo: { os: 'x' }, sdkInfo: { type: 'x' } } },
    },
    start: INNER,
    resolve: { taken: { token: 'x' }, withoutCall: true },
    validity: INNER,
    keepAlive: INNER,
    resolveToken: INNER,
    end: ID,
    endOverdue: INNER,
    endAllWithdrawn: INNER,
    follow: INNER,
  },
  authentication: {
    byPassword: { taken: { username: 'x', password: 'y', input: { configTypes: ['all'], envInfo: { os: 'x' } } } },
    byCertificate: { taken: { input: { configTypes: ['all'], sdkInfo: { type: 'x' } } } },
    byExternalJwt: { taken: { input: { configTypes: ['all'] } } },
  },
  authenticators: {
    create: { taken: { input: { identityId: 'x', method: 'updb', username: 'alice', password: 'secret', tags: {} } } },
    replace: { taken: { id: 'x', input: { username: 'alice', password: 'secret' } } },
    patch: { taken: { id: 'x', input: { username: 'alice' } } },
    replaceOwn: {
      taken: { id: 'x', input: { currentPassword: 'secret', username: 'alice', password: 'secret' } },
      by: 'caller',
    },
    patchOwn: { taken: { id: 'x', input: { currentPassword: 'secret', username: 'alice' } }, by: 'caller' },
    revertToEnrollment: { taken: { id: 'x', input: { expiresAt: '2100-01-01T00:00:00Z' } } },
    requestExtension: { taken: { id: 'x', input: { rollKeys: true } } },
  },
  caEnrollment: { enroll: { taken: { name: 'x' } } },
  certificateAuthorities: {
    verify: { taken: { id: 'x', certPem: PEM } },
    enrollmentJwt: { ...ID, withoutCall: true },
  },
  enrollment: {
    byOneTimeToken: { taken: { token: 'x', clientCsr: PEM } },
    byClientCertificate: { taken: { token: 'x' } },
    byPassword: { taken: { token: 'x', password: 'secret' } },
    methodOf: { taken: { token: 'x' }, withoutCall: true },
  },
  enrollments: {
    list: INNER,
    create: { taken: { input: { identityId: 'x', method: 'ott', expiresAt: '2100-01-01T00:00:00Z' } } },
    refresh: { taken: { id: 'x', input: { expiresAt: '2100-01-01T00:00:00Z' } } },
    get: ID,
    delete: ID,
  },
  certificateExtension: {
    extend: { taken: { id: 'x', clientCertCsr: PEM }, by: 'caller' },
    verify: { taken: { id: 'x', clientCert: PEM }, by: 'caller' },
  },
  sessionCertificates: {
    list: INNER,
    get: { ...ID, by: 'caller' },
    create: { taken: { csr: PEM }, by: 'caller' },
    delete: { ...ID, by: 'caller' },
  },
  routerEnrollment: {
    byOneTimeToken: { taken: { method: 'erott', token: 'x', input: { clientCsr: PEM, serverCsr: PEM } } },
    extend: { taken: { input: { clientCsr: PEM, serverCsr: PEM } } },
    reEnroll: ID,
  },
  tokenEnrollment: { enroll: { taken: { signerId: 'x', clientCsr: PEM } } },
  attributeGrants: {
    give: { taken: { id: 'x', input: { attribute: 'x', until: '2100-01-01T00:00:00Z', reason: 'y' } } },
    end: { taken: { id: 'x', grantId: 'x' } },
  },
  identityState: { disable: { taken: { id: 'x', input: { durationMinutes: 5 } } }, enable: ID },
  controllerSettings: {
    get: { ...ID, withoutCall: true },
    create: { taken: { input: { controllerId: 'controller', oidc: { redirectUris: ['https://x'] }, tags: {} } } },
    replace: { taken: { id: 'controller', input: { oidc: { redirectUris: ['https://x'] } } } },
    patch: { taken: { id: 'controller', input: { oidc: { postLogoutUris: ['https://x'] } } } },
    remove: ID,
  },
  keyRotation: {
    resume: INNER,
    takeUp: INNER,
    status: INNER,
    outstanding: INNER,
    rotate: { taken: { input: { what: 'server' } } },
    change: { taken: { id: 'x', input: { issues: true } } },
  },
  mfa: {
    enroll: INNER,
    get: INNER,
    pendingSecrets: INNER,
    qrCode: INNER,
    verify: { taken: { code: '1' }, by: 'caller' },
    authenticate: { taken: { code: '1' }, by: 'caller' },
    totpToken: { taken: { code: '1' }, by: 'caller' },
    remove: { taken: { code: '1' }, by: 'caller' },
    removeFrom: { taken: { identityId: 'x' } },
    recoveryCodes: { taken: { code: '1' }, by: 'caller' },
    renewRecoveryCodes: { taken: { code: '1' }, by: 'caller' },
  },
  network: {
    caPkcs7: INNER,
    serverCertificate: INNER,
    publicKey: INNER,
    signNonce: { taken: { nonce: 'x' }, withoutCall: true },
    token: INNER,
  },
  access: {
    related: INNER,
    servicesOf: { taken: { identityId: 'x' }, withoutCall: true },
    edgeRoutersOf: { taken: { identityId: 'x' }, withoutCall: true },
    reachableBy: { taken: { identityId: 'x' }, withoutCall: true },
    edgeRoutersBetween: { taken: { identityId: 'x', serviceId: 'y' }, withoutCall: true },
    advice: { taken: { identityId: 'x', serviceId: 'y' }, withoutCall: true },
  },
  requestRates: { countAnonymous: INNER, countIdentity: INNER },
  posture: {
    submit: { taken: { input: [{ id: 'x', typeId: 'DOMAIN', domain: 'x' }] }, by: 'caller' },
    dataOf: { taken: { identityId: 'x' }, withoutCall: true },
    failedRequests: { taken: { identityId: 'x' }, withoutCall: true },
  },
  revocations: {
    create: { taken: { input: { id: 'x', type: 'IDENTITY', tags: {} } } },
    revokeToken: { taken: { apiSessionId: 'x', jti: 'x', expiresAt: 1 }, withoutCall: true },
    revokeEnded: INNER,
    follow: INNER,
    resume: INNER,
    forgetExpired: INNER,
  },
  serviceUpdates: { lastChangeAt: INNER },
  sessions: {
    create: { taken: { input: { serviceId: 'x', type: 'Dial', tags: {} } }, by: 'caller' },
    requireToken: { taken: { serviceId: 'x', token: 'y' }, by: 'caller' },
    deleteOwn: { ...ID, by: 'caller' },
  },
  serviceConfigs: {
    associate: { taken: { identityId: 'x', input: [{ serviceId: 'x', configId: 'y' }] } },
    remove: { taken: { identityId: 'x', input: [{ serviceId: 'x', configId: 'y' }] } },
  },
  traces: {
    of: { taken: { identityId: 'x' }, withoutCall: true },
    set: { taken: { identityId: 'x', input: { enabled: true, duration: '1m', traceId: 't', channels: ['all'] } } },
  },
  trustAnchors: { list: INNER, trust: { taken: { id: 'x', mayAuthenticateAdmins: true } } },
  administratorRecovery: { resetPassword: { taken: { input: { password: 'secret' } } } },
  storageHealth: { look: INNER },
  snapshots: { create: INNER },
  dataIntegrity: { start: { taken: { fixing: false } }, finished: INNER },
  dataPlane: {
    links: INNER,
    link: { ...ID, withoutCall: true },
    changeLink: { taken: { id: 'x', input: { staticCost: 1, down: true } }, withoutCall: true },
    cutLink: { ...ID, withoutCall: true },
    members: INNER,
    operatorSessions: INNER,
    inspect: { taken: { input: { appRegex: 'x', requestedValues: ['y'] } }, withoutCall: true },
    circuits: INNER,
    circuit: { ...ID, withoutCall: true },
    pathOf: { taken: { sessionId: 'x' }, withoutCall: true },
    endCircuit: { taken: { id: 'x', immediate: true }, withoutCall: true },
    hostsOf: INNER,
    routers: INNER,
    router: { ...ID, withoutCall: true },
    validateModel: { ...ID, withoutCall: true },
    names: INNER,
  },
  cas: entity({ name: 'n', certPem: PEM, identityRoles: [], isAuthEnabled: true }),
  externalJwtSigners: entity({ name: 'n', enabled: true, issuer: 'i', audience: 'a', certPem: PEM }),
  authPolicies: entity({ name: 'n', primary: { updb: { allowed: true } }, secondary: { requireTotp: false } }),
  graphs: {
    search: { taken: { input: { q: 'x', limit: 4 } } },
    reach: {
      taken: { input: { identity: 'x', service: 'y', type: 'Dial', text: 't', limit: 4, cursor: '["a","b"]' } },
    },
    map: { taken: { input: { identities: '[]', services: '[]', type: 'Bind', groups: 4 } } },
    prepare: INNER,
    mapMembers: { taken: { input: { kind: 'services', scope: '[]', text: 't', limit: 4, cursor: '["a","b"]' } } },
    findings: { taken: { input: { finding: 'edge-routers-offline', limit: 4, cursor: '["a","b"]' } } },
  },
  audit: {
    read: { taken: { input: { entity: 'x', limit: 4 } } },
    stream: INNER,
    head: INNER,
    signedHead: INNER,
    verify: INNER,
  },
  changeUndo: { plan: { taken: { recordId: 'x' } }, apply: { taken: { recordId: 'x', tag: 'y' } } },
  auditTrail: { noteRefused: INNER, noteCommand: INNER, resume: INNER, close: INNER, seal: INNER },
  timelines: {
    read: { taken: { input: { after: 'x', limit: 4 } } },
    open: INNER,
    admit: INNER,
    close: INNER,
    closeAll: INNER,
  },
  traffic: { read: { taken: { input: { identity: 'x', limit: 4, cursor: '1 x' } } } },
  identities: entity({ name: 'n', type: 'User', isAdmin: false, roleAttributes: ['a'] }),
  services: entity({ name: 'n', encryptionRequired: true, roleAttributes: ['a'] }),
  edgeRouters: entity({ name: 'n', cost: 1, isTunnelerEnabled: false }),
  servicePolicies: entity({ name: 'n', type: 'Dial', semantic: 'AnyOf', identityRoles: [], serviceRoles: [] }),
  edgeRouterPolicies: entity(POLICY),
  serviceEdgeRouterPolicies: entity({ ...POLICY, serviceRoles: [] }),
  postureChecks: entity({ name: 'n', typeId: 'DOMAIN', domains: ['d'] }, { typeId: 'DOMAIN', domains: ['d'] }),
  configTypes: entity({ name: 'n', schema: {} }),
  configs: entity({ name: 'n', configTypeId: 'x', data: {} }),
  transitRouters: entity({ name: 'n', cost: 1 }),
  terminators: entity({ service: 's', router: 'r', binding: 'b', address: 'a' }),
}

const SimulationBody = z.object({ changes: SimulatedChanges })

/** Values that no parameter and no member of any request may be. */
const HOSTILE: readonly unknown[] = [() => 1, Symbol('x'), 'a\u0000b', '\ud800', new Map(), new Date(Number.NaN), 1n]

/** A value in place of one member: the argument with it, and the member that an error has to name. */
function damaged(value: unknown): readonly { readonly with: unknown; readonly named: string }[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return damaged(value[0]).map((one) => ({ ...one, with: [one.with] }))
  return Object.keys(value).flatMap((member) =>
    HOSTILE.map((bad) => ({ with: { ...value, [member]: bad }, named: member })),
  )
}

/** Each hostile list of arguments that comes from a good one by one change. */
function hostileArguments(taken: Readonly<Record<string, unknown>>) {
  return Object.entries(taken).flatMap(([name, good]) => {
    const others = (value: unknown) => Object.entries(taken).map(([other, own]) => (other === name ? value : own))
    return [
      ...HOSTILE.map((bad) => ({ given: others(bad), named: name })),
      ...damaged(good).map((one) => ({ given: others(one.with), named: one.named })),
    ]
  })
}

async function stage(): Promise<{ controller: TestController; callBy: (by: Case['by']) => Call }> {
  const controller = await createTestController(await withSharedPki())
  const { id } = await controller.engine.identities.create(SYSTEM_CALL, { name: 'eve', type: 'User', isAdmin: false })
  const caller = await controller.engine.host.startSession(id)
  return { controller, callBy: (by) => (by === 'caller' ? { by: 'caller', caller } : SYSTEM_CALL) }
}

/** Runs a method as JavaScript may, which no types hold back. */
async function run(
  engine: ControllerEngine,
  part: string,
  method: string,
  given: readonly unknown[],
): Promise<unknown> {
  const owner: unknown = Reflect.get(engine, part)
  return Reflect.apply(Reflect.get(Object(owner), method), owner, given)
}

it.each(Object.entries(CASES))(
  'takes nothing hostile in any method of engine.%s, and names the field',
  async (part, methods) => {
    const { controller, callBy } = await stage()
    const revision = () => controller.storage.read(async (tx) => tx.revision)
    const before = await revision()
    for (const [method, { taken, by, withoutCall }] of Object.entries(methods)) {
      if (taken === 'inner') continue
      for (const { given, named } of hostileArguments(taken)) {
        const all = withoutCall ? given : [callBy(by), ...given]
        const error: unknown = await run(engineOf(controller.engine), part, method, all).then(
          () => undefined,
          (thrown) => thrown,
        )
        const what = `${part}.${method} with a hostile ${named}: ${String(error)}`
        expect(error, what).toBeInstanceOf(ControllerError)
        const field = error instanceof ControllerError ? String(error.details?.field) : ''
        expect(
          field === named || field.endsWith(`.${named}`) || field.startsWith(`${named}.`),
          `${what}, ${field}`,
        ).toBe(true)
      }
    }
    expect(await revision()).toBe(before)
  },
)

it('lists every method that the engine has at run time', async () => {
  const { controller } = await stage()
  const parts = Object.entries(engineOf(controller.engine)).filter(([, part]) => typeof part === 'object')
  for (const [name, part] of parts) {
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(part)).filter(
      (member) =>
        member !== 'constructor' &&
        typeof Object.getOwnPropertyDescriptor(Object.getPrototypeOf(part), member)?.value === 'function',
    )
    expect(Object.keys(Reflect.get(CASES, name) ?? {}).sort(), name).toEqual(methods.sort())
  }
  const ofStore: object = Object.getPrototypeOf(ControllerEngine.prototype)
  const ofEntities: object = Object.getPrototypeOf(ofStore)
  const own = [ControllerEngine.prototype, ofStore, ofEntities].map((one) => Object.getOwnPropertyNames(one).sort())
  // The findings are asked for with nothing that could be wrong.
  expect(own).toEqual([
    ['constructor', 'explain', 'findings', 'prepareReach', 'simulate', 'traceDial'],
    ['constructor'],
    ['constructor', 'of'],
  ])
  expect(Object.getPrototypeOf(ofEntities)).toBe(Object.prototype)
})

it('shows a host nothing of what it is made of', async () => {
  const { controller } = await stage()
  expect(Object.keys(controller.engine)).not.toContain('context')
  for (const part of Object.values(controller.engine)) expect(Object.keys(part)).not.toContain('context')
})

it.each<[string, readonly unknown[], string]>([
  ['explain', [() => 1, 's', 'Dial'], 'identity'],
  ['explain', ['i', {}, 'Dial'], 'service'],
  ['explain', ['i', 's', 'Listen'], 'type'],
  ['explain', ['i', 's', 'Dial', { at: 'soon' }], 'at'],
  ['explain', ['i', 's', 'Dial', { apiSessionId: 1 }], 'apiSessionId'],
  ['explain', ['i', 's', 'Dial', { mfa: 'yes' }], 'mfa'],
  ['explain', ['i', 's', 'Dial', { posture: [{ id: 'x', typeId: 'DOMAIN', domain: 1 }] }], '0.domain'],
  ['simulate', [[{ kind: 'services', action: 'create', body: { name: 1 } }]], '0.body.name'],
  ['simulate', [[{ kind: 'services', action: 'create', body: { name: 'x', tags: { f: () => 1 } } }]], '0.body.tags.f'],
  ['simulate', [[], { limit: 'many' }], 'limit'],
  ['simulate', [[], { cursor: 1 }], 'cursor'],
])('refuses what no question may hold: %s with %j', async (method, given, field) => {
  const { controller } = await stage()
  const { access } = controller.engine
  const asked = async () => Reflect.apply(Reflect.get(access, method), access, [SYSTEM_CALL, ...given])
  await expect(asked).rejects.toMatchObject({ code: 'COULD_NOT_VALIDATE', details: { field } })
})

it('reads each request by the schema of the API, with its defaults', async () => {
  const { controller } = await stage()
  const { engine } = controller
  const [{ id } = { id: '' }] = (await engine.identities.list(SYSTEM_CALL)).items
  const { expiresAt } = await engine.enrollments.create(SYSTEM_CALL, {
    identityId: id,
    method: 'ott',
    expiresAt: '2100-01-01T00:00:00Z',
  })
  expect(expiresAt).toBe('2100-01-01T00:00:00.000Z')
  expect(await engine.revocations.create(SYSTEM_CALL, { id, type: 'IDENTITY' })).toMatchObject({ tags: {} })
  await expect(
    engine.authenticators.create(SYSTEM_CALL, { identityId: id, method: 'updb', username: 'eve', password: 'x' }),
  ).rejects.toMatchObject({ code: 'COULD_NOT_VALIDATE' })
})

it('reads what the API has read once: the engine takes it as it is', () => {
  const read = readBody(
    { body: SimulationBody },
    { changes: [{ kind: 'services', action: 'create', body: { name: 'x' } }] },
  )
  expect(readRequest(SimulationBody, read)).toBe(read)
  const { changes } = SimulationBody.parse(read)
  const member: unknown = Reflect.get(Object(read), 'changes')
  expect(readRequest(SimulatedChanges, member)).toBe(member)
  expect(readRequest(SimulatedChanges, changes)).not.toBe(changes)
  const pairs = readBody({ body: ServiceConfigPairs }, [{ serviceId: 'x', configId: 'y' }])
  expect(readRequest(ServiceConfigPairs, pairs)).toBe(pairs)
})
