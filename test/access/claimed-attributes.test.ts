import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { type Storage, SYSTEM_CALL } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import { StorageUnavailable } from 'portcullis/storage'
import { createTestController, type TestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { adminToken, ownApi } from '../support/delegate.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { letStaffDial } from '../support/staff-network.ts'

const { publicKey, privateKey } = await generateKeyPair('ES256')
const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }] })
const keySets = { refusal: () => undefined, fetch: async () => keys }
const issuerOf = (name: string) => `https://${name}.example.com`

/** A network where `#staff` may dial the wiki, and an identity that logs in by tokens of two signers. */
async function network(more: object = {}) {
  const net = await createTestController(await withSharedPki({ keySets, ...more }))
  onTestFinished(() => net.close())
  const signers = await Promise.all(['company', 'partner'].map((name) => signer(net, name)))
  const create = { name: 'anna', type: 'User' as const, isAdmin: false, externalId: 'anna@x', roleAttributes: ['own'] }
  const { id } = await net.engine.identities.create(SYSTEM_CALL, create)
  const wiki = await letStaffDial(net)
  return { net, id, wiki, company: signers[0]?.id ?? '', partner: signers[1]?.id ?? '' }
}

async function signer(net: TestController, name: string) {
  const issuer = issuerOf(name)
  return net.engine.externalJwtSigners.create(SYSTEM_CALL, {
    ...{ name, issuer, audience: 'portcullis', enabled: true, jwksEndpoint: `${issuer}/keys` },
    ...{ claimsProperty: '/email', useExternalId: true, attributeClaimsSelector: '/realm/groups' },
  })
}

/** Logs in by a token with `groups`; answers the token of the API session. */
async function login(net: TestController, groups: unknown, by = 'company'): Promise<string> {
  const { data } = await net.client().call('POST /authenticate', {
    query: { method: 'ext-jwt' },
    headers: { authorization: `Bearer ${await tokenOf(net, groups, by)}` },
  })
  return data.token
}

function tokenOf(net: TestController, groups: unknown, by = 'company'): Promise<string> {
  const now = Math.floor(net.clock.now() / 1000)
  const claims = { email: 'anna@x', iss: issuerOf(by), aud: 'portcullis', iat: now, exp: now + 300, realm: { groups } }
  return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'k' }).sign(privateKey)
}

async function logout(net: TestController, token: string): Promise<void> {
  const request = new Request('https://controller.test:1280/edge/client/v1/current-api-session', {
    ...{ method: 'DELETE', headers: { 'zt-session': token } },
  })
  expect((await net.fetch(request)).status).toBe(200)
}

const claimed = async (net: TestController, id: string) =>
  (await net.engine.identities.get(SYSTEM_CALL, id)).claimAttributes
const isAllowed = async (net: TestController) =>
  (await net.engine.access.explain(SYSTEM_CALL, 'anna', 'wiki', 'Dial')).allowed

describe('role attributes by claims of a token', () => {
  it.each<[string, unknown, string[] | undefined]>([
    ['a list', ['staff', 'all', 'staff'], ['all', 'staff']],
    ['a text', 'staff', ['staff']],
    ['names of members', ['__proto__', 'constructor'], ['__proto__', 'constructor']],
    ['an empty list', [], undefined],
    ['nothing', undefined, undefined],
    ['null', null, undefined],
    ['a number', 7, undefined],
    ['an object', { staff: true }, undefined],
    ['roles, empty texts and numbers among texts', ['#all', '@anna', '', 7, null, 'staff'], ['staff']],
    ['a text that is too long', ['x'.repeat(1025), 'x'.repeat(1024)], ['x'.repeat(1024)]],
  ])('are these of %s', async (_, groups, expected) => {
    const { net, id } = await network()
    await login(net, groups)
    expect(await claimed(net, id)).toEqual(expected)
    expect((await net.engine.identities.get(SYSTEM_CALL, id)).roleAttributes).toEqual(['own'])
    expect(await isAllowed(net)).toBe(expected?.includes('staff') ?? false)
  })

  it('are 500 at most', async () => {
    const { net, id } = await network()
    await login(
      net,
      Array.from({ length: 600 }, (_, n) => `group-${n}`),
    )
    expect(await claimed(net, id)).toHaveLength(500)
    expect(await claimed(net, id)).toContain('group-499')
  })

  it('last until the last login by the signer ends', async () => {
    const { net, id, wiki } = await network()
    const [first, second] = [await login(net, ['staff']), await login(net, ['staff'])]
    const caller = await net.engine.host.startSession(id)
    const ended: unknown[] = []
    net.events.on('session.ended', ({ reason }) => ended.push(reason))
    await net.engine.sessions.create({ by: 'caller', caller }, { serviceId: wiki, type: 'Dial' })
    await logout(net, first)
    expect(await isAllowed(net)).toBe(true)
    await logout(net, second)
    expect(await isAllowed(net)).toBe(false)
    expect(await claimed(net, id)).toBeUndefined()
    expect(ended).toHaveLength(1)
  })

  it('are those of the latest token of a signer, for each signer', async () => {
    const { net, id } = await network()
    await login(net, ['staff', 'sales'])
    const partner = await login(net, ['guests', 'sales'], 'partner')
    expect(await claimed(net, id)).toEqual(['guests', 'sales', 'staff'])
    await login(net, ['sales'])
    expect(await claimed(net, id)).toEqual(['guests', 'sales'])
    expect(await isAllowed(net)).toBe(false)
    await logout(net, partner)
    expect(await claimed(net, id)).toEqual(['sales'])
    await login(net, [])
    expect(await claimed(net, id)).toBeUndefined()
  })

  it.each<[string, (net: TestController, signer: string) => Promise<unknown>]>([
    ['is deleted', (net, id) => net.engine.externalJwtSigners.delete(SYSTEM_CALL, id)],
    ['is disabled', (net, id) => net.engine.externalJwtSigners.patch(SYSTEM_CALL, id, { enabled: false })],
    [
      'names another claim',
      (net, id) => net.engine.externalJwtSigners.patch(SYSTEM_CALL, id, { attributeClaimsSelector: '/roles' }),
    ],
    [
      'names no claim any more',
      (net, id) => net.engine.externalJwtSigners.patch(SYSTEM_CALL, id, { attributeClaimsSelector: '' }),
    ],
  ])('end where the signer %s', async (_, act) => {
    const { net, id, company } = await network()
    await login(net, ['staff'])
    await act(net, company)
    expect(await claimed(net, id)).toBeUndefined()
    expect(await isAllowed(net)).toBe(false)
  })

  it('go on where a signer is only renamed', async () => {
    const { net, company } = await network()
    await login(net, ['staff'])
    await net.engine.externalJwtSigners.patch(SYSTEM_CALL, company, { name: 'renamed' })
    expect(await isAllowed(net)).toBe(true)
  })

  it('end by time with the login, also at a process that did not make it', async () => {
    const place = mkdtempSync(join(tmpdir(), 'claims-'))
    onTestFinished(() => rmSync(place, { recursive: true, force: true }))
    const { net, id } = await network({ storage: await sqliteStorage(join(place, 'db')) })
    const storage = await sqliteStorage(join(place, 'db'))
    const other = await createTestController(await withSharedPki({ keySets, storage }))
    onTestFinished(() => other.close())
    await login(net, ['staff'])
    expect(await isAllowed(other)).toBe(true)
    await net.close()
    await other.elapse(31 * 60_000)
    expect(await isAllowed(other)).toBe(false)
    expect(await claimed(other, id)).toBeUndefined()
  })

  it.each(['time', 'their signer'])(
    'end within seconds where the storage took no write that ends the login by %s',
    async (by) => {
      const inner = memoryStorage()
      let writesLeft = Number.POSITIVE_INFINITY
      const write: Storage['write'] = (work) => {
        if (writesLeft <= 0) return Promise.reject(new StorageUnavailable('unreachable', 'it takes no changes'))
        writesLeft -= 1
        return inner.write(work)
      }
      const { net, company } = await network({ storage: { ...inner, write }, apiSessionTimeoutMs: 20_000 })
      await login(net, ['staff'])
      if (by === 'time') {
        writesLeft = 0
        await net.elapse(21_000)
      } else {
        writesLeft = 1
        await net.engine.externalJwtSigners.patch(SYSTEM_CALL, company, { enabled: false }).catch(() => undefined)
      }
      expect(await isAllowed(net)).toBe(true)
      writesLeft = Number.POSITIVE_INFINITY
      await net.elapse(2000)
      expect(await isAllowed(net)).toBe(false)
    },
  )

  it('end with the next start, where a process ended just after it disabled the signer', async () => {
    const inner = { ...memoryStorage(), close: async () => undefined }
    let writesLeft = Number.POSITIVE_INFINITY
    const gone = Promise.withResolvers<never>()
    const write: Storage['write'] = (work) => {
      writesLeft -= 1
      return writesLeft < 0 ? gone.promise : inner.write(work)
    }
    const { net, company } = await network({ storage: { ...inner, write } })
    onTestFinished(() => gone.reject(new StorageUnavailable('unreachable', 'the process is gone')))
    await login(net, ['staff'])
    writesLeft = 1
    net.engine.externalJwtSigners.patch(SYSTEM_CALL, company, { enabled: false }).catch(() => undefined)
    await new Promise((resolve) => setImmediate(resolve))
    const later = await createTestController(await withSharedPki({ keySets, storage: inner, now: net.clock.now() }))
    onTestFinished(() => later.close())
    await later.elapse(1000)
    expect(await isAllowed(later)).toBe(false)
  })

  it('do not come back with an identity whose deletion is undone', async () => {
    const { net, id } = await network()
    await login(net, ['staff'])
    const admin = ownApi(net, await adminToken(net))
    await net.engine.identities.delete(SYSTEM_CALL, id)
    const { data } = await admin.call('GET /audit', { query: { entity: id } })
    const record = data.entries.find(({ type }) => type === 'entity.deleted')?.id ?? ''
    const { tag } = (await admin.call('GET /audit/{id}/undo', { params: { id: record } })).data
    await admin.call('POST /audit/{id}/undo', { params: { id: record }, headers: { 'if-match': `"${tag}"` } })
    expect(await net.engine.identities.get(SYSTEM_CALL, id)).toMatchObject({ name: 'anna', roleAttributes: ['own'] })
    expect(await claimed(net, id)).toBeUndefined()
    expect(await isAllowed(net)).toBe(false)
  })

  it('are named by explain, filters and the audit trail, and are written by no request', async () => {
    const { net, id } = await network()
    await login(net, ['staff'])
    const { policies } = await net.engine.access.explain(SYSTEM_CALL, 'anna', 'wiki', 'Dial')
    expect(policies[0]?.identitySide.matched).toEqual([{ role: '#staff', name: '#staff (claims)', fromClaims: true }])
    const filter = 'anyOf(claimAttributes) = "staff"'
    expect((await net.engine.identities.list(SYSTEM_CALL, { filter })).items).toMatchObject([{ id }])
    const { data } = await ownApi(net, await adminToken(net)).call('GET /audit', { query: { entity: id } })
    expect(data.entries).toContainEqual(
      expect.objectContaining({ changes: expect.objectContaining({ claimAttributes: { after: ['staff'] } }) }),
    )
    const admin = await net.asAdmin()
    const known = { name: 'anna', type: 'User' as const, isAdmin: false, externalId: 'anna@x' }
    const body = { ...known, claimAttributes: ['boss'] }
    await admin.call('PUT /identities/{id}', { params: { id }, body })
    expect(await claimed(net, id)).toEqual(['staff'])
  })
})
