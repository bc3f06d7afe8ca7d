import 'reflect-metadata'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { type DirectoryPerson, type DirectorySearch, type HostDirectory, SYSTEM_CALL } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { createTestController, type TestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { adminOf, CLIENT, foreignClient } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { letStaffDial } from '../support/staff-network.ts'
import { CLAIM, clientOf, newAuthority, now, registered } from '../support/third-party.ts'

const { publicKey, privateKey } = await generateKeyPair('ES256')
const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }] })
const keySets = { refusal: () => undefined, fetch: async () => keys }

type Find = NonNullable<HostDirectory['find']>

/** The users of a host: staff, by their external ids. */
class Users implements HostDirectory {
  readonly asked: DirectorySearch[] = []
  readonly persons: DirectoryPerson[] = [{ name: 'anna', externalId: 'anna@x' }]
  entry: Awaited<ReturnType<HostDirectory['attributesOf']>> = ['staff']

  readonly attributesOf = async () => this.entry
  find: Find = async (wanted) => {
    this.asked.push(wanted)
    return this.persons.find((one) => ('name' in wanted ? one.name : one.externalId) === Object.values(wanted)[0])
  }
}

/** A network where `#staff` may dial the wiki, and a signer, but no identity of the users of the host. */
async function network(directory: HostDirectory, more: object = {}) {
  const errors: object[] = []
  const logger = {
    info: () => {},
    warn: () => {},
    error: (message: string, fields?: object) => void errors.push({ message, ...fields }),
  }
  const net = await createTestController(await withSharedPki({ keySets, directory, logger, ...more }))
  onTestFinished(() => net.close())
  return { net, errors }
}

async function withSigner(directory: HostDirectory, more: object = {}) {
  const { net, errors } = await network(directory, more)
  const wiki = await letStaffDial(net)
  const signer = await net.engine.externalJwtSigners.create(SYSTEM_CALL, {
    ...{ name: 'company', issuer: 'https://company.example', audience: 'portcullis', enabled: true },
    ...{ jwksEndpoint: 'https://company.example/keys', claimsProperty: 'email', useExternalId: true },
  })
  return { net, errors, wiki, signer: signer.id }
}

/** Logs in by a token of the signer; answers the status. */
async function login(net: TestController, email = 'anna@x', by = privateKey): Promise<number> {
  const seconds = Math.floor(net.clock.now() / 1000)
  const claims = { email, iss: 'https://company.example', aud: 'portcullis', iat: seconds, exp: seconds + 300 }
  const token = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'k' }).sign(by)
  const request = new Request('https://controller.test:1280/edge/client/v1/authenticate?method=ext-jwt', {
    ...{ method: 'POST', body: '{}' },
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
  return (await net.fetch(request)).status
}

const named = async (net: TestController) =>
  (await net.engine.identities.list(SYSTEM_CALL, { filter: 'isAdmin = false' })).items

describe('a person of the directory', () => {
  it('gets an identity at the first login by a token, with what the directory gives', async () => {
    const users = new Users()
    const { net, errors } = await withSigner(users)
    expect(await login(net)).toBe(200)
    expect(await named(net)).toMatchObject([
      {
        ...{ name: 'anna', externalId: 'anna@x', typeId: 'Default', isAdmin: false, permissions: [] },
        ...{ authPolicyId: 'default', roleAttributes: [], directoryAttributes: ['staff'] },
      },
    ])
    expect((await net.engine.access.explain(SYSTEM_CALL, 'anna', 'wiki', 'Dial')).allowed).toBe(true)
    expect(await login(net)).toBe(200)
    expect([users.asked, await named(net), errors]).toMatchObject([[{ externalId: 'anna@x' }], [{}], []])
  })

  it('gets one identity by logins at the same time, in two processes', async () => {
    const users = new Users()
    const storage = memoryStorage()
    const { net } = await withSigner(users, { storage })
    const { net: other } = await network(users, { storage })
    const all = [net, other, net, other, net, other].map((one) => login(one))
    expect(await Promise.all(all)).toEqual([200, 200, 200, 200, 200, 200])
    expect(await named(net)).toHaveLength(1)
  })

  it.each<[string, Find, number]>([
    ['nobody', async () => undefined, 0],
    ['another person', async () => ({ name: 'bert', externalId: 'bert@x' }), 1],
    ['a person without the external id', async () => ({ name: 'anna' }), 1],
    ['a person without a name', async () => ({ name: ' ', externalId: 'anna@x' }), 1],
    ['a name of an identity', async () => ({ name: 'Default Admin', externalId: 'anna@x' }), 1],
    ['a name that is too long', async () => ({ name: 'x'.repeat(10_000), externalId: 'anna@x' }), 1],
    ['no person at all', async () => 'anna' as never, 1],
    ['an error', () => Promise.reject(new Error('away')), 1],
    [
      'an error at once',
      () => {
        throw new Error('away')
      },
      1,
    ],
  ])('stays unknown where the directory finds %s', async (_, find, logged) => {
    const users = new Users()
    users.find = find
    const { net, errors } = await withSigner(users)
    expect(await login(net)).toBe(401)
    expect([await named(net), errors.length]).toEqual([[], logged])
    users.find = new Users().find
    expect(await login(net)).toBe(200)
  })

  it('stays unknown where the directory takes longer than three seconds', async () => {
    const users = new Users()
    let wasAsked = () => {}
    const asked = new Promise<void>((resolve) => {
      wasAsked = resolve
    })
    users.find = () => {
      wasAsked()
      return new Promise(() => {})
    }
    const { net, errors } = await withSigner(users)
    const answer = login(net)
    await asked
    await net.elapse(2999)
    expect(errors).toEqual([])
    await net.elapse(1)
    expect([await answer, await named(net), errors.length]).toEqual([401, [], 1])
  })

  it('stays unknown without a valid login: no question is asked, or no identity is made', async () => {
    const users = new Users()
    const { net, signer } = await withSigner(users)
    const stranger = await generateKeyPair('ES256')
    expect(await login(net, 'anna@x', stranger.privateKey)).toBe(401)
    await net.engine.externalJwtSigners.patch(SYSTEM_CALL, signer, { enabled: false })
    expect(await login(net)).toBe(401)
    expect(users.asked).toEqual([])
    await net.engine.externalJwtSigners.patch(SYSTEM_CALL, signer, { enabled: true })
    const { primary } = await net.engine.authPolicies.get(SYSTEM_CALL, 'default')
    const forbidding = { ...primary, extJwt: { allowed: false, allowedSigners: [] } }
    await net.engine.authPolicies.patch(SYSTEM_CALL, 'default', { primary: forbidding })
    expect([await login(net), await named(net)]).toEqual([401, []])
  })

  it('stays unknown where the signer is disabled while the directory is asked', async () => {
    const users = new Users()
    const { net, signer } = await withSigner(users)
    const { find } = users
    users.find = async (wanted) => {
      await net.engine.externalJwtSigners.patch(SYSTEM_CALL, signer, { enabled: false })
      return find(wanted)
    }
    expect([await login(net), await named(net)]).toEqual([401, []])
  })

  it('stays unknown where a signer names identities by their ids, and beyond its quota', async () => {
    const users = new Users()
    users.persons.push({ name: 'bert', externalId: 'bert@x' })
    const { net, signer, errors } = await withSigner(users, { limits: { identitiesPerSigner: 1 } })
    await net.engine.externalJwtSigners.patch(SYSTEM_CALL, signer, { useExternalId: false })
    expect([await login(net), users.asked]).toEqual([401, []])
    await net.engine.externalJwtSigners.patch(SYSTEM_CALL, signer, { useExternalId: true })
    expect([await login(net), await login(net, 'bert@x'), await login(net)]).toEqual([200, 401, 200])
    expect([await named(net), errors]).toMatchObject([[{ name: 'anna' }], [{ externalId: 'bert@x' }]])
  })

  it('whom the directory disables gets an identity that may not log in', async () => {
    const users = new Users()
    users.entry = { roleAttributes: ['staff'], disabled: true }
    const { net } = await withSigner(users)
    expect(await login(net)).toBe(401)
    expect(await named(net)).toMatchObject([{ name: 'anna', disabled: true }])
  })

  it('gets an identity again after its deletion', async () => {
    const { net } = await withSigner(new Users())
    await login(net)
    const [first] = await named(net)
    await net.engine.identities.delete(SYSTEM_CALL, first?.id ?? '')
    expect(await login(net)).toBe(200)
    expect((await named(net)).map(({ id }) => id === first?.id)).toEqual([false])
  })

  it('gets an identity by a certificate whose authority says the external id', async () => {
    const mounted = await mount({ now, directory: new Users() })
    const authority = await newAuthority('third party')
    const id = await registered(await adminOf(mounted), authority, { externalIdClaim: CLAIM })
    const enter = async (name: string) => {
      const client = foreignClient(mounted, CLIENT, undefined, await clientOf(authority, name))
      return (await client.post('/authenticate?method=cert', {})).status
    }
    expect([await enter('bert@x'), await enter('anna@x'), await enter('anna@x')]).toEqual([401, 200, 200])
    expect(await named(mounted.controller)).toMatchObject([{ name: 'anna', externalId: 'anna@x' }])
    await mounted.controller.engine.identities.delete(SYSTEM_CALL, (await named(mounted.controller))[0]?.id ?? '')
    await mounted.controller.engine.cas.patch(SYSTEM_CALL, id, { isAuthEnabled: false })
    expect([await enter('anna@x'), await named(mounted.controller)]).toEqual([401, []])
  })

  it.each<DirectorySearch>([{ name: 'anna' }, { externalId: 'anna@x' }])(
    'gets an identity where the host begins a session of %o',
    async (wanted) => {
      const users = new Users()
      const { net } = await network(users)
      const caller = await net.engine.host.startSession(wanted)
      expect(caller.identity).toMatchObject({ name: 'anna', externalId: 'anna@x' })
      expect((await net.engine.host.startSession(wanted)).identity.id).toBe(caller.identity.id)
      expect(users.asked).toEqual([wanted])
      await expect(net.engine.host.startSession({ name: 'nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      const invalid = { name: 'anna', externalId: 'anna@x' }
      await expect(net.engine.host.startSession(invalid)).rejects.toMatchObject({ code: 'COULD_NOT_VALIDATE' })
    },
  )
})
