import { type AnonymousCall, type Call, ControllerError, SYSTEM_CALL } from 'portcullis'
import { createTestController, type TestController } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
// Internals: the table of methods, so that none of the engine is left out.
import { METHODS } from '../../src/controller/host-methods.ts'
import { type OperationName, rowOf } from '../../src/controller/wire-answers.ts'
import {
  adminOf,
  CLIENT,
  create,
  type ForeignClient,
  foreignClient,
  MANAGEMENT,
} from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { type ValidRequest, validRequest } from '../laws/valid-requests.ts'
import { useAuthPolicy } from '../support/identity-state.ts'
import { mountOf } from '../support/mount.ts'
import { PERMISSIONS } from '../support/permissions.ts'
import { withSharedPki } from '../support/shared-pki.ts'

interface MethodRights {
  readonly name: string
  readonly part: string
  readonly method: string
  /** The operations whose rights it needs; the first is the operation that it does. */
  readonly needs: readonly OperationName[]
}

const OF_CALLS: readonly MethodRights[] = Object.entries(METHODS).flatMap(([part, rows]) =>
  Object.entries<readonly [readonly OperationName[], unknown]>(rows).map(([method, [needs]]) => ({
    name: `${part}.${method}`,
    part,
    method,
    needs,
  })),
)

const BASES: Readonly<Record<string, string>> = { management: MANAGEMENT, client: CLIENT, portcullis: '/portcullis/v1' }
const ANYBODY: AnonymousCall = { by: 'anonymous', remoteAddress: '192.0.2.1' }

interface Asker {
  readonly who: string
  readonly call: Call
  readonly token: string | undefined
}

let controller: TestController
let mounted: MountedController
let admin: ForeignClient
let serviceId = ''
const askers = new Map<string, Asker>()

beforeAll(async () => {
  controller = await createTestController(await withSharedPki({ rateLimits: false }))
  mounted = mountOf(controller)
  admin = await adminOf(mounted)
  serviceId = await create(admin, '/services', { name: 'web', encryptionRequired: true })
  askers.set('nobody', { who: 'nobody', call: ANYBODY, token: undefined })
  await ask('an administrator', [], { isAdmin: true })
  await ask('somebody without rights', [])
  await ask('an administrator without a second factor', [], { isAdmin: true, isPending: true })
  for (const permission of PERMISSIONS) await ask(permission, [permission])
}, 120_000)
afterAll(() => controller.close())

async function ask(
  who: string,
  permissions: readonly string[],
  { isAdmin = false, isPending = false }: { readonly isAdmin?: boolean; readonly isPending?: boolean } = {},
): Promise<void> {
  const body = { name: who, type: 'User' as const, isAdmin, permissions }
  const { id } = await controller.engine.identities.create(SYSTEM_CALL, body)
  if (isPending) await useAuthPolicy(controller, id, { requireTotp: true })
  const caller = await controller.engine.host.startSession(id)
  askers.set(who, { who, call: { by: 'caller', caller }, token: caller.token })
}

/** Callers that an operation may treat differently: of the permissions those of everything, of each kind whole, and of its own kinds. */
function askersOf(needs: readonly OperationName[]): readonly Asker[] {
  const accesses = needs.map((name) => rowOf(name).shape.access)
  const own = accesses.map((access) => (typeof access === 'object' ? `${access.entity}.` : '.'))
  return [...askers.values()].filter(({ who }) => !who.includes('.') || own.some((kind) => who.startsWith(kind)))
}

/** Reports whether something is refused for want of rights. */
async function isRefused(asked: () => unknown): Promise<boolean> {
  try {
    await asked()
    return false
  } catch (error) {
    if (!(error instanceof ControllerError)) throw error
    return error.code === 'UNAUTHORIZED'
  }
}

/** Calls a method as JavaScript may, with values that name nothing. */
function called(owner: object, { part, method }: MethodRights, given: readonly unknown[]): unknown {
  const of: object = Reflect.get(owner, part)
  const found: unknown = Reflect.get(of, method)
  if (typeof found !== 'function') throw new TypeError(`${part}.${method} is not there`)
  return Reflect.apply(found, of, given)
}

/** The methods by which somebody does something for itself: the system is nobody. */
const OF_SOMEBODY = new Set(['accessRequests.withdraw', 'posture.submit', 'sessions.deleteOwn'])

const NOTHING = ['nothing', 'nothing', 'nothing']

async function isRefusedOverHttp(
  name: OperationName,
  { path, ...sent }: ValidRequest,
  token: string | undefined,
): Promise<boolean> {
  const [api = '', method = ''] = name.split(' ')
  const { status, body } = await foreignClient(mounted, BASES[api] ?? '', token).send(method, path, sent)
  return status === 401 && body?.error?.code === 'UNAUTHORIZED'
}

describe('a call of a host’s engine', () => {
  it.each(OF_CALLS)('may do by engine.$name what the operations of the APIs let it do', async (one) => {
    const requests = await Promise.all(
      one.needs.map(async (name, place) => {
        const route = name.slice(name.indexOf(' ') + 1)
        return [
          name,
          await validRequest(admin, route, `by ${one.name} ${place}`, { serviceId, ownSessionId: undefined }),
        ] as const
      }),
    )
    const told: string[] = []
    for (const { who, call, token } of askersOf(one.needs)) {
      const refusals = await Promise.all(requests.map(([name, request]) => isRefusedOverHttp(name, request, token)))
      const overHttp = refusals.includes(true)
      const bound = await isRefused(() => called(controller.as(call), one, NOTHING))
      const inProcess = await isRefused(() => called(controller.engine, one, [call, ...NOTHING]))
      if (bound !== overHttp || inProcess !== overHttp) {
        told.push(`${who}: ${overHttp} over HTTP, ${inProcess} and ${bound} in process`)
      }
    }
    expect(told).toEqual([])
    const isBySystem = await isRefused(() => called(controller.as(SYSTEM_CALL), one, NOTHING))
    expect(isBySystem).toBe(OF_SOMEBODY.has(one.name))
  })

  it('gets no method of the host alone, and the host gets each method in its group', () => {
    const methodsOf = (engine: object) =>
      Object.entries(engine).flatMap(([part, value]) => Object.keys(value).map((method) => `${part}.${method}`))
    const ofCalls = OF_CALLS.map(({ name }) => name)
    const ofHost = Object.keys(controller.engine.host).map((method) => `host.${method}`)
    expect(ofHost.length).toBeGreaterThan(0)
    expect(methodsOf(controller.engine).toSorted()).toEqual([...ofCalls, ...ofHost].toSorted())
    for (const { call } of askers.values()) {
      expect(methodsOf(controller.as(call)).toSorted()).toEqual(ofCalls.toSorted())
      expect('host' in controller.as(call)).toBe(false)
    }
  })

  it('names the method that was called without a call', async () => {
    const { services } = controller.engine
    for (const given of [[], ['id'], [undefined, 'id'], [{}, 'id'], [{ by: 'host' }, 'id'], [{ by: 'caller' }, 'id']]) {
      const asked = async () => Reflect.apply(services.get, services, given)
      await expect(asked).rejects.toThrow('engine.services.get takes a call first')
    }
  })

  it('gets the same form of an entity whatever it asks, and never what the APIs hide', async () => {
    const network = controller.as(SYSTEM_CALL)
    const made = await network.identities.create({ name: 'same form', type: 'Device', isAdmin: false })
    const { id } = made
    expect(await network.identities.get(id)).toEqual(made)
    expect((await network.identities.list({ filter: `id = "${id}"` })).items).toEqual([made])
    const patched = await network.identities.patch(id, { roleAttributes: ['staff'] })
    expect(patched).toEqual(await network.identities.get(id))
    const replaced = await network.identities.replace(id, { name: 'same', type: 'Device', isAdmin: false })
    expect(replaced).toEqual(await network.identities.get(id))
    const request = { identityId: id, method: 'updb', username: 'same', password: 'correct horse' } as const
    const authenticator = await network.authenticators.create(request)
    expect(await network.authenticators.get(authenticator.id)).toEqual(authenticator)
    expect(Object.keys(authenticator)).not.toContain('passwordHash')
    const invited = await network.authenticators.revertToEnrollment(authenticator.id, {})
    expect((await network.enrollments.list({ filter: `id = "${invited.id}"` })).items).toEqual([invited])
  })
})

describe('the engine of a caller', () => {
  it('shows entities as the API shows them to the same caller', async () => {
    const { call, token } = askers.get('admin_readonly') ?? { call: ANYBODY, token: undefined }
    const ofCaller = controller.as(call)
    const api = foreignClient(mounted, MANAGEMENT, token)
    const listed = await api.get('/identities?sort=name%20desc&limit=7')
    const { items, totalCount } = await ofCaller.identities.list({ sort: 'name desc', limit: 7 })
    expect(items).toEqual(listed.body.data)
    expect(totalCount).toBe(listed.body.meta.pagination.totalCount)
    const found = await ofCaller.services.list({ filter: 'name = "web"' })
    expect(found.items).toEqual([await ofCaller.services.get(serviceId)])
    expect(found.items).toEqual([(await api.get(`/services/${serviceId}`)).body.data])
    await expect(ofCaller.services.list({ filter: 'name nonsense' })).rejects.toMatchObject({ code: 'INVALID_FILTER' })
  })

  it('loses with the rights of its identity, and with its session, what it could', async () => {
    await ask('demoted', ['service'])
    const { call } = askers.get('demoted') ?? { call: ANYBODY }
    const ofCaller = controller.as(call)
    const { id } = await ofCaller.services.create({ name: 'by a delegate' })
    expect((await ofCaller.services.list({ filter: 'name = "by a delegate"' })).items).toMatchObject([{ id }])
    const identityId = call.by === 'caller' ? call.caller.identity.id : ''
    await controller.engine.identities.patch(SYSTEM_CALL, identityId, { permissions: ['service.read'] })
    await expect(ofCaller.services.list()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    await expect(ofCaller.services.delete(id)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    await ask('logged out', ['service.read'])
    const other = askers.get('logged out')?.call ?? ANYBODY
    const sessionId = other.by === 'caller' ? other.caller.apiSession.id : ''
    await expect(controller.as(other).services.list()).resolves.toBeDefined()
    await controller.as(SYSTEM_CALL).apiSessions.delete(sessionId)
    await expect(controller.as(other).services.list()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    askers.delete('demoted')
    askers.delete('logged out')
  })
})
