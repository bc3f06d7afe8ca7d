import type { AuthorizationRequest, HostHooks } from 'portcullis'
import { createTestController, recordingLogger, TEST_ADMIN, type TestController } from 'portcullis/testing'
import { expect, it, onTestFinished } from 'vitest'
import { createRouterRequests } from '../../adapters/network/enrollment/created-requests.ts'
import { withSharedPki } from '../support/shared-pki.ts'

type Asked =
  | Parameters<NonNullable<HostHooks['beforeLogin']>>[0]
  | Parameters<NonNullable<HostHooks['beforeEnroll']>>[0]

async function networkWith(hooks: HostHooks, logger = recordingLogger()): Promise<TestController> {
  const net = await createTestController(await withSharedPki({ hooks, logger }))
  onTestFinished(() => net.close())
  return net
}

const logIn = (net: TestController) =>
  net.management.call('POST /authenticate', { query: { method: 'password' }, body: TEST_ADMIN })

it('a host is asked about each login and enrollment that would go on', async () => {
  const asked: Asked[] = []
  const hear = (attempt: Asked) => asked.push(attempt) > 0
  const net = await networkWith({ beforeLogin: hear, beforeEnroll: hear })
  const laptop = await net.enroll('laptop')
  await laptop.call('GET /services')
  expect(asked.slice(-2)).toEqual([
    { method: 'ott', identityId: laptop.id, csr: expect.stringContaining('REQUEST'), remoteAddress: undefined },
    { method: 'cert', identityId: laptop.id, remoteAddress: undefined },
  ])
  const before = asked.length
  const wrong = { query: { method: 'password' as const }, body: { ...TEST_ADMIN, password: 'wrong' } }
  await expect(net.management.call('POST /authenticate', wrong)).rejects.toMatchObject({ code: 'INVALID_AUTH' })
  await expect(
    net.client().call('POST /enroll/ott', { body: { token: crypto.randomUUID(), clientCsr: 'x' } }),
  ).rejects.toMatchObject({ code: 'INVALID_ENROLLMENT_TOKEN' })
  expect(asked.length).toBe(before)
})

it('a login that the host refuses looks like wrong credentials, and the event says whose word it was', async () => {
  const net = await networkWith({ beforeLogin: async () => false })
  const refused = net.events.wait('authentication.attempted')
  await expect(logIn(net)).rejects.toMatchObject({ status: 401, code: 'INVALID_AUTH' })
  expect(await refused).toMatchObject({ success: false, reason: 'the host refuses the login' })
})

it('an enrollment that the host refuses leaves the token good', async () => {
  let isOpen = false
  const net = await networkWith({ beforeEnroll: async () => isOpen })
  const { id } = await net.invite('laptop')
  await expect(net.enroll('laptop')).rejects.toMatchObject({ status: 409, code: 'INVALID_ENROLLMENT_NOT_ALLOWED' })
  const { data } = await net.admin.call('GET /identities/{id}', { params: { id } })
  expect(data.authenticators).toEqual({})
  isOpen = true
  expect((await net.enroll('laptop')).id).toBe(id)
})

it('a router that the host refuses keeps its token, and the host is shown what it asks for', async () => {
  const asked: Asked[] = []
  let isOpen = false
  const net = await networkWith({
    beforeEnroll: (attempt) => {
      asked.push(attempt)
      return isOpen
    },
  })
  const { id: routerId } = (await net.admin.call('POST /edge-routers', { body: { name: 'r1' } })).data
  const { data } = await net.admin.call('GET /edge-routers/{id}', { params: { id: routerId } })
  const token = data.enrollmentToken ?? ''
  const { clientCsrPem, serverCsrPem } = await createRouterRequests(routerId, ['localhost'])
  const body = { token, clientCsr: clientCsrPem, serverCsr: serverCsrPem }
  const enroll = () => net.client().call('POST /enroll/erott', { body })
  await expect(enroll()).rejects.toMatchObject({ status: 409, code: 'INVALID_ENROLLMENT_NOT_ALLOWED' })
  expect(asked).toEqual([{ method: 'erott', routerId, csr: clientCsrPem, remoteAddress: undefined }])
  isOpen = true
  expect((await enroll()).data.cert).toContain('BEGIN CERTIFICATE')
})

it('a host is told of changes after they are committed, and what fails in it disturbs nobody', async () => {
  const told: string[] = []
  const logger = recordingLogger()
  const net = await networkWith(
    {
      afterChange: async ({ operation, kind }) => {
        told.push(`${operation} ${kind}`)
        throw new Error('the mirror is away')
      },
    },
    logger,
  )
  await net.admin.call('POST /services', { body: { name: 'wiki' } })
  expect(told).toContain('insert services')
  expect(logger.entries.some(({ level }) => level === 'error')).toBe(true)
})

it('a host that authorizes requests is told who asks', async () => {
  const asked: AuthorizationRequest[] = []
  const net = await createTestController(await withSharedPki({ authorize: (request) => asked.push(request) > 0 }))
  onTestFinished(() => net.close())
  const laptop = await net.enroll('laptop')
  await laptop.call('GET /services')
  expect(asked.at(-1)).toEqual({
    api: 'client',
    operation: 'GET /services',
    params: {},
    caller: {
      identityId: laptop.id,
      name: 'laptop',
      roleAttributes: [],
      permissions: [],
      isAdmin: false,
      apiSessionId: expect.any(String),
      remoteAddress: undefined,
    },
  })
})

it.each([
  [
    'throws',
    () => {
      throw new Error('the directory is away')
    },
  ],
  ['rejects', () => Promise.reject(new Error('the directory is away'))],
])('a hook that %s refuses, and is logged', async (_, beforeLogin) => {
  const logger = recordingLogger()
  const net = await networkWith({ beforeLogin }, logger)
  await expect(logIn(net)).rejects.toMatchObject({ status: 401 })
  const [entry] = logger.entries.filter(({ level }) => level === 'error')
  expect(entry?.fields).toEqual({ hook: 'beforeLogin', error: 'Error: the directory is away' })
})

it('a hook that there is not is told', async () => {
  await expect(networkWith({ beforeLogn: () => true } as never)).rejects.toThrow('hooks.beforeLogn is not there')
})
