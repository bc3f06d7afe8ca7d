import { SYSTEM_CALL } from 'portcullis'
import { RECORD_KINDS } from 'portcullis/storage'
import { createTestController, type TestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { adminToken, delegate } from '../support/delegate.ts'
import { givePassword } from '../support/identity-state.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { apiSessions, authenticators, cas, serviceConfigs } from '../support/stored-records.ts'

/** More than one write of a deletion takes. */
const MANY = 250
const ADMIN = '/edge/management/v1'

interface Refused {
  readonly token: string
  readonly method: string
  readonly path: string
  readonly body?: object
}

type Prepare = (controller: TestController) => Promise<Refused>

async function refusedAnswer(controller: TestController, { token, method, path, body }: Refused): Promise<number> {
  const request = new Request(`https://controller.test${ADMIN}${path}`, {
    method,
    headers: { 'zt-session': token, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return (await controller.fetch(request)).status
}

/** The ids of everything that is stored, by kind. */
function everything(controller: TestController) {
  return controller.storage.read(async (tx) => {
    const ids = RECORD_KINDS.map(async (kind) => [kind.name, await tx.collection(kind).findIds()] as const)
    return Object.fromEntries(await Promise.all(ids))
  })
}

/** An identity has as many API sessions as many logins would leave it. */
async function giveSessions(controller: TestController, identityId: string) {
  await controller.storage.write(async (tx) => {
    const { items } = await tx.collection(apiSessions).find()
    const [known] = items.filter((session) => session.identityId === identityId)
    if (known === undefined) throw new Error('an identity without API session')
    for (let n = 0; n < MANY; n += 1) {
      await tx
        .collection(apiSessions)
        .insert({ ...known, id: `copy-${identityId}-${n}`, tokenDigest: `copy ${identityId} ${n}` })
    }
  })
}

async function defaultAdmin(controller: TestController) {
  const { data } = await controller.admin.call('GET /identities', { query: { filter: 'isDefaultAdmin=true' } })
  const [admin] = data
  if (admin === undefined) throw new Error('a network without administrator')
  const token = await adminToken(controller)
  await giveSessions(controller, admin.id)
  const { data: own } = await controller.admin.call('GET /authenticators', {
    query: { filter: `identity="${admin.id}"` },
  })
  return { id: admin.id, token, authenticatorId: own[0]?.id ?? '' }
}

const members = async (controller: TestController) => {
  const ids: string[] = []
  for (let n = 0; n < MANY; n += 1) {
    const body = { name: `device ${n}`, type: 'Device' as const, isAdmin: false }
    ids.push((await controller.engine.identities.create(SYSTEM_CALL, body)).id)
  }
  const boss = { name: 'boss', type: 'User' as const, isAdmin: true }
  return [...ids, (await controller.engine.identities.create(SYSTEM_CALL, boss)).id]
}

const ROWS: Readonly<Record<string, Prepare>> = {
  'the authenticator of the last administrator': async (controller) => {
    const { token, authenticatorId } = await defaultAdmin(controller)
    return { token, method: 'DELETE', path: `/authenticators/${authenticatorId}` }
  },
  'the authenticator of the last administrator, for an enrollment': async (controller) => {
    const { token, authenticatorId } = await defaultAdmin(controller)
    const body = { expiresAt: new Date(controller.clock.now() + 86_400_000).toISOString() }
    return { token, method: 'POST', path: `/authenticators/${authenticatorId}/re-enroll`, body }
  },
  'the last administrator who can log in': async (controller) => {
    const { token, authenticatorId } = await defaultAdmin(controller)
    const boss = await controller.engine.identities.create(SYSTEM_CALL, { name: 'boss', type: 'User', isAdmin: true })
    const credentials = { username: 'boss', password: 'Correct-Horse-1' }
    await givePassword(controller, boss.id, credentials)
    const login = { query: { method: 'password' as const }, body: credentials }
    await controller.client().call('POST /authenticate', login)
    // The other administrator is still in its session; wrong passwords locked it out of another one.
    await controller.storage.write(async (tx) => {
      const known = await tx.collection(authenticators).get(authenticatorId)
      if (known === undefined) throw new Error('an administrator without authenticator')
      await tx.collection(authenticators).update({ ...known, lockedAt: controller.clock.now(), lockedUntil: null })
    })
    await giveSessions(controller, boss.id)
    return { token, method: 'DELETE', path: `/identities/${boss.id}` }
  },
  'a service whose configs an administrator overrides, for a delegate': async (controller) => {
    const type = await controller.engine.configTypes.create(SYSTEM_CALL, { name: 'plain', schema: {} })
    const config = await controller.engine.configs.create(SYSTEM_CALL, {
      name: 'config',
      configTypeId: type.id,
      data: { port: 1 },
    })
    const service = await controller.engine.services.create(SYSTEM_CALL, { name: 'wiki', encryptionRequired: false })
    const ids = await members(controller)
    await controller.storage.write(async (tx) => {
      for (const [n, identityId] of ids.entries()) {
        const id = `override-${String(n).padStart(4, '0')}`
        await tx
          .collection(serviceConfigs)
          .insert({ id, identityId, serviceId: service.id, configId: config.id, configTypeId: type.id } as never)
      }
    })
    const { token } = await delegate(controller, 'mallory', ['service'])
    return { token, method: 'DELETE', path: `/services/${service.id}` }
  },
  'a CA that an administrator has a certificate of, for a delegate': async (controller) => {
    const ids = await members(controller)
    await controller.storage.write(async (tx) => {
      const [known] = (await tx.collection(authenticators).find()).items
      if (known === undefined) throw new Error('a network without authenticator')
      const ca = { id: 'ca', name: 'ca', certPem: '', fingerprint: 'f', isVerified: true, mayAuthenticateAdmins: false }
      const times = { createdAt: controller.clock.now(), updatedAt: controller.clock.now(), tags: {} }
      await tx.collection(cas).insert({ ...times, ...ca, externalIdClaim: null, identityRoles: [] } as never)
      for (const [n, identityId] of ids.entries()) {
        const id = `cert-${String(n).padStart(4, '0')}`
        const own = { id, identityId, method: 'cert' as const, caId: 'ca', username: null, fingerprint: id }
        await tx.collection(authenticators).insert({ ...known, ...own })
      }
    })
    const { token } = await delegate(controller, 'mallory', ['ca'])
    return { token, method: 'DELETE', path: '/cas/ca' }
  },
}

describe('a deletion that is refused takes nothing away, however much would go with it', () => {
  it.each(Object.entries(ROWS))('%s', async (_, prepare) => {
    const controller = await createTestController(await withSharedPki())
    const request = await prepare(controller)
    const before = await everything(controller)
    expect(await refusedAnswer(controller, request)).toBeGreaterThanOrEqual(400)
    expect(await everything(controller)).toEqual(before)
  })
})
