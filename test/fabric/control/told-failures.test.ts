import { createController } from 'portcullis'
import { openControlListener, routerSide } from 'portcullis/fabric'
import { memoryStorage } from 'portcullis/memory'
import { createTestController, recordingLogger, TEST_ADMIN } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { openOwnRouter } from '../../../adapters/network/router/own-router.ts'
import { pkiOf } from '../../pki/keys.ts'
import { withSharedPki } from '../../support/shared-pki.ts'
import { apiSessions } from '../../support/stored-records.ts'
import { fabricWorld } from './fabric-world.ts'

const { CONTENT_TYPE } = routerSide
/** A storage whose reads fail by a defect now and then. */
function failingStorage() {
  const state = { isAway: false }
  const inner = memoryStorage()
  const storage: typeof inner = {
    ...inner,
    read: async (work, options) => {
      if (state.isAway) throw new TypeError('the index is undefined')
      return inner.read(work, options)
    },
  }
  return { storage, state }
}

const MINUTE_MS = 60_000
const UNRENEWED = 'the router of this process: certificates.unrenewed'

it('a stored token that cannot be read is told to the log, and one that another key sealed is not', async () => {
  const logger = recordingLogger()
  const storage = memoryStorage()
  const world = await fabricWorld({}, { storage, logger })
  const sealedAs = async (sealedToken: string) => {
    const identity = await world.create('/identities', { name: sealedToken, type: 'Device', isAdmin: false })
    const { id } = (await world.controller.engine.host.startSession(identity)).apiSession
    await storage.write(async (tx) => {
      const stored = await tx.collection(apiSessions).get(id)
      if (stored !== undefined) await tx.collection(apiSessions).update({ ...stored, sealedToken })
    })
    return id
  }
  const damaged = await sealedAs('not base64')
  const sealedByOther = await sealedAs('AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==')
  const router = await world.router('edge')
  await vi.waitFor(() => expect(router.all(CONTENT_TYPE.apiSessionsAdded)).not.toHaveLength(0))
  const told = logger.entries.filter(({ message }) => message === 'a stored secret cannot be read')
  expect(told.map(({ fields }) => fields?.id)).toContain(damaged)
  expect(told.map(({ fields }) => fields?.id)).not.toContain(sealedByOther)
})

it('a renewal that fails at the own router is told to the log, and done a minute later', async () => {
  const logger = recordingLogger()
  const { storage, state } = failingStorage()
  const controller = await createTestController(await withSharedPki({ storage, logger }))
  const { plane } = await openControlListener(controller, { addresses: ['tls:controller.test:1280'] })
  const timers = new Map<() => void, number>()
  const timer = (ms: number, work: () => void) => {
    timers.set(work, ms)
    return () => void timers.delete(work)
  }
  // The storage is away for the listener between these two: the own router.
  plane.onKeysChanged(() => (state.isAway = true))
  const router = await openOwnRouter({}, { plane, advertise: 'router.test:3022', timer })
  plane.onKeysChanged(() => (state.isAway = false))
  const fingerprint = async () => (await controller.admin.call('GET /edge-routers')).data[0]?.fingerprint
  const before = await fingerprint()
  await (await pkiOf(controller)).call('POST /pki/rotations', { body: { what: 'signing' } })
  await vi.waitFor(() => expect(logger.entries).toContainEqual(expect.objectContaining({ message: UNRENEWED })))
  const told = logger.entries.filter(({ message }) => message === UNRENEWED)
  expect(told.map(({ fields }) => fields)).toEqual([
    { routerId: router.id, error: 'TypeError: the index is undefined' },
  ])
  expect(await fingerprint()).toBe(before)
  for (const [work, ms] of [...timers]) if (ms === MINUTE_MS) work()
  await vi.waitFor(async () => expect(await fingerprint()).not.toBe(before))
  router.close()
})

it('an operator whose rights cannot be read is put out, and the log says why', async () => {
  const logger = recordingLogger()
  const { storage, state } = failingStorage()
  const options = await withSharedPki({ storage, logger, admin: TEST_ADMIN, address: 'controller.test:1280' })
  const controller = await createController(options)
  await openControlListener(controller, { addresses: ['tls:controller.test:6262'] })
  const asked = (method: string, path: string, headers: Headers, body?: string) => {
    const readBody = () => (body === undefined ? undefined : new TextEncoder().encode(body))
    return controller.fetch.plain?.({ method, url: `https://controller.test${path}`, headers, readBody }, {})
  }
  const json = new Headers({ 'content-type': 'application/json' })
  const login = await asked(
    'POST',
    '/edge/management/v1/authenticate?method=password',
    json,
    JSON.stringify(TEST_ADMIN),
  )
  const token = new Headers({ 'zt-session': String(Object(JSON.parse(String(login?.body))).data.token) })
  const channel = { send: () => undefined, close: vi.fn() }
  const session = (await asked('GET', '/fabric/v1/ws-api', token))?.upgrade?.(channel)
  state.isAway = true
  await session?.receive({ type: 'unsupported', what: 'nothing' })
  expect(channel.close).toHaveBeenCalledOnce()
  expect(logger.entries).toContainEqual(
    expect.objectContaining({
      message: 'the rights of an operator could not be read',
      fields: expect.objectContaining({ error: expect.stringContaining('the index is undefined') }),
    }),
  )
  state.isAway = false
  await controller.close()
})
