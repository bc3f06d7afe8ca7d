import { type AnonymousCall, type Call, ControllerError, SYSTEM_CALL } from 'portcullis'
import { createTestController, type TestController } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
// Internals: the table of rights, so that no method of the engine is left out.
import { RIGHTS, type Right, rowOf } from '../../src/controller/call-rights.ts'
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

interface MethodRight {
  readonly name: string
  readonly part: string | undefined
  readonly method: string
  readonly right: Right
}

const isRight = (value: object | string): value is Right => typeof value === 'string' || 'withoutCall' in value
const METHODS: readonly MethodRight[] = Object.entries(RIGHTS).flatMap(([part, rights]): readonly MethodRight[] =>
  isRight(rights)
    ? [{ name: part, part: undefined, method: part, right: rights }]
    : Object.entries<Right>(rights).map(([method, right]) => ({ name: `${part}.${method}`, part, method, right })),
)
const OPEN_TO_CALLS = METHODS.filter(({ right }) => rowOf(right) !== undefined)
const OF_HOST = METHODS.filter(({ right }) => rowOf(right) === undefined)

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
  const caller = await controller.engine.apiSessions.startFor(SYSTEM_CALL, id)
  askers.set(who, { who, call: { by: 'caller', caller }, token: caller.token })
}

/** Callers that an operation may treat differently: of the permissions those of everything, of each kind whole, and of its own kind. */
function askersOf(right: Right): readonly Asker[] {
  const access = rowOf(right)?.shape.access
  const own = typeof access === 'object' ? `${access.entity}.` : '.'
  return [...askers.values()].filter(({ who }) => !who.includes('.') || who.startsWith(own))
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
function called(owner: object, { part, method }: MethodRight, given: readonly unknown[]): unknown {
  const of: object = part === undefined ? owner : Reflect.get(owner, part)
  const found: unknown = Reflect.get(of, method)
  if (typeof found !== 'function') throw new TypeError(`${part}.${method} is not there`)
  return Reflect.apply(found, of, given)
}

/** The methods by which somebody does something for itself: the system is nobody. */
const OF_SOMEBODY = new Set(['posture.submit', 'sessions.deleteOwn'])

const NOTHING = ['nothing', 'nothing', 'nothing']

async function answeredOverHttp(right: Right, request: ValidRequest, token: string | undefined): Promise<boolean> {
  const named = typeof right === 'object' ? right.withoutCall : right
  const [api = '', method = ''] = named.split(' ')
  const { path, ...sent } = request
  const { status, body } = await foreignClient(mounted, BASES[api] ?? '', token).send(method, path, sent)
  return status === 401 && body?.error?.code === 'UNAUTHORIZED'
}

describe('a call of a host’s engine', () => {
  it.each(OPEN_TO_CALLS)('may do by engine.$name what the operation of the APIs lets it do', async (one) => {
    const named = typeof one.right === 'object' ? one.right.withoutCall : one.right
    const route = named.slice(named.indexOf(' ') + 1)
    const request = await validRequest(admin, route, `by ${one.name}`, { serviceId, ownSessionId: undefined })
    const takesCall = typeof one.right !== 'object'
    const told: string[] = []
    for (const { who, call, token } of askersOf(one.right)) {
      const isRefusedOverHttp = await answeredOverHttp(one.right, request, token)
      const isRefusedBound = await isRefused(() => called(controller.as(call), one, NOTHING))
      const isRefusedInProcess = takesCall
        ? await isRefused(() => called(controller.engine, one, [call, ...NOTHING]))
        : isRefusedBound
      if (isRefusedBound !== isRefusedOverHttp || isRefusedInProcess !== isRefusedOverHttp) {
        told.push(`${who}: ${isRefusedOverHttp} over HTTP, ${isRefusedInProcess} and ${isRefusedBound} in process`)
      }
    }
    expect(told).toEqual([])
    const isBySystem = await isRefused(() => called(controller.as(SYSTEM_CALL), one, NOTHING))
    expect(isBySystem).toBe(OF_SOMEBODY.has(one.name))
  })

  it.each(OF_HOST)('has no engine.$name but by the host', async (one) => {
    for (const { who, call } of askers.values()) {
      expect(() => called(controller.as(call), one, NOTHING), who).toThrow(TypeError)
      if (one.right !== 'host') continue
      expect(await isRefused(() => called(controller.engine, one, [call, ...NOTHING])), who).toBe(true)
    }
  })

  it('has a right for every method of the engine, and no other methods', () => {
    const methodsOf = (engine: object) =>
      Object.entries(engine).flatMap(([part, value]) =>
        typeof value === 'function' ? [part] : Object.keys(value).map((method) => `${part}.${method}`),
      )
    expect(methodsOf(controller.engine).toSorted()).toEqual(METHODS.map(({ name }) => name).toSorted())
    expect(methodsOf(controller.as(SYSTEM_CALL)).toSorted()).toEqual(OPEN_TO_CALLS.map(({ name }) => name).toSorted())
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
    expect(found.items).toEqual([await ofCaller.services.show(serviceId)])
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
    await controller.as(SYSTEM_CALL).apiSessions.end(sessionId)
    await expect(controller.as(other).services.list()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    askers.delete('demoted')
    askers.delete('logged out')
  })
})
