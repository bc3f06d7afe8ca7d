import { openOperator, SYSTEM_CALL } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { createTestController, plainPasswordHasher, recordingLogger, TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { withSharedPki } from '../support/shared-pki.ts'
import { authenticators, authPolicies, mfas } from '../support/stored-records.ts'

const PASSWORD = 'a-password-of-the-operator'
const UPDB = {
  allowed: true,
  minPasswordLength: 5,
  maxAttempts: 3,
  lockoutDurationMinutes: 0,
  requireMixedCase: false,
  requireNumberChar: false,
  requireSpecialChar: false,
}
const OTHERS = { cert: { allowed: true, allowExpiredCerts: true }, extJwt: { allowed: true, allowedSigners: [] } }

/** A served network, and its operator over the same store. */
async function network() {
  const controller = await createTestController(await withSharedPki())
  const { engine, storage, clock } = controller
  const operator = await openOperator({
    storage,
    clock,
    passwordHasher: plainPasswordHasher,
    logger: recordingLogger(),
  })
  const admin = await controller.asAdmin()
  const { id } = (await admin.call('GET /current-identity')).data
  const login = (password: string = PASSWORD, username: string = TEST_ADMIN.username) =>
    controller.management.call('POST /authenticate', { query: { method: 'password' }, body: { username, password } })
  const status = (username: string, password: string) =>
    login(password, username).then(
      () => 200,
      (error: { readonly status: number }) => error.status,
    )
  const own = async () => {
    const { items } = await storage.read((tx) => tx.collection(authenticators).find())
    return items.find(({ identityId }) => identityId === id)
  }
  return { controller, engine, storage, operator, admin, id, status, own }
}
type Network = Awaited<ReturnType<typeof network>>

describe('resetting the password of an administrator', () => {
  it('lets the default admin in and ends its sessions, at once and in the process that serves', async () => {
    const { operator, admin, status } = await network()
    const report = await operator.resetAdminPassword({ password: PASSWORD })
    expect(report).toMatchObject({ username: 'admin', isNew: false, wasDisabled: false, hasOtherPolicy: false })
    expect(await status('admin', PASSWORD)).toBe(200)
    expect(await status('admin', TEST_ADMIN.password)).toBe(401)
    await expect(admin.call('GET /current-identity')).rejects.toMatchObject({ status: 401 })
  })

  const policy = (primary: object, secondary: object = {}) => ({
    name: 'strict',
    primary: { ...OTHERS, updb: UPDB, ...primary },
    secondary: { requireTotp: false, requireExtJwtSigner: null, ...secondary },
  })
  const underPolicy = async ({ engine, id }: Network, body: object) => {
    // The types of requests, which only the compiler knows, are beside the point here.
    const { id: authPolicyId } = await engine.authPolicies.create(SYSTEM_CALL, body as never)
    await engine.identities.patch(SYSTEM_CALL, id, { authPolicyId })
  }

  it.each<[string, (network: Network) => Promise<unknown>, object]>([
    [
      'disabled for ever',
      ({ engine, id }) => engine.identities.disable(SYSTEM_CALL, id, { durationMinutes: 0 }),
      { wasDisabled: true },
    ],
    [
      'locked by wrong passwords',
      async (network) => {
        await underPolicy(network, policy({}))
        for (let attempt = 0; attempt < 4; attempt++) await network.status('admin', 'wrong')
        expect(await network.status('admin', TEST_ADMIN.password)).toBe(401)
      },
      {},
    ],
    [
      'without any authenticator',
      async ({ storage, own }) => {
        const id = (await own())?.id ?? ''
        await storage.write((tx) => tx.collection(authenticators).delete(id))
      },
      {},
    ],
    [
      'under a policy that forbids passwords',
      (network) => underPolicy(network, policy({ updb: { ...UPDB, allowed: false } })),
      { hasOtherPolicy: true },
    ],
    [
      'under a default policy that forbids everything',
      ({ storage }) =>
        storage.write(async (tx) => {
          const known = await tx.collection(authPolicies).get('default')
          if (known === undefined) throw new Error('there is no default policy')
          const { primary } = known
          const none = { ...primary, updb: { ...primary.updb, allowed: false } }
          await tx.collection(authPolicies).update({ ...known, primary: none })
        }),
      { hasOtherPolicy: true },
    ],
    [
      'under a policy that is gone',
      ({ storage, id }) =>
        storage.write(async (tx) => {
          const { identities } = await import('../support/stored-records.ts')
          const known = await tx.collection(identities).get(id)
          if (known !== undefined) await tx.collection(identities).update({ ...known, authPolicyId: 'gone' })
        }),
      { hasOtherPolicy: true },
    ],
  ])('opens the way in for one that is %s', async (_what, shutOut, found) => {
    const held = await network()
    await shutOut(held)
    expect(await held.operator.resetAdminPassword({ password: PASSWORD })).toMatchObject(found)
    expect(await held.status('admin', PASSWORD)).toBe(200)
    // A second time finds nothing in the way.
    expect(await held.operator.resetAdminPassword({ password: PASSWORD })).toMatchObject({
      wasDisabled: false,
      hasOtherPolicy: false,
    })
    expect(await held.status('admin', PASSWORD)).toBe(200)
  })

  it('takes second factors away only where that is asked for', async () => {
    const held = await network()
    await underPolicy(held, policy({}, { requireTotp: true }))
    await held.storage.write(async (tx) => {
      const fields = { identityId: held.id, isVerified: true, secret: '', sealedCodes: '', lastStep: -1, failedAt: [] }
      await tx.collection(mfas).insert({ id: 'mfa', createdAt: 0, updatedAt: 0, tags: {}, ...fields })
    })
    expect(await held.operator.resetAdminPassword({ password: PASSWORD })).toMatchObject({
      hasLostMfa: false,
      hasOtherPolicy: false,
    })
    expect(await held.operator.resetAdminPassword({ password: PASSWORD, passwordOnly: true })).toMatchObject({
      hasLostMfa: true,
      hasOtherPolicy: true,
    })
    const { data } = await held.controller.management.call('POST /authenticate', {
      query: { method: 'password' },
      body: { username: 'admin', password: PASSWORD },
    })
    expect(data.authQueries).toEqual([])
  })

  it('is for administrators: nobody becomes one, and who is one is told', async () => {
    const { operator, admin, status } = await network()
    const body = { name: 'guest', type: 'User' as const, isAdmin: false }
    const { id } = (await admin.call('POST /identities', { body })).data
    const guest = { identityId: id, method: 'updb', username: 'guest', password: 'a-guest-password' } as const
    await admin.call('POST /authenticators', { body: guest })
    for (const username of ['guest', 'nobody']) {
      await expect(operator.resetAdminPassword({ username, password: PASSWORD })).rejects.toThrow(
        `no administrator has the username ${username}: the usernames of administrators are admin`,
      )
    }
    expect(await status('guest', 'a-guest-password')).toBe(200)
    expect(await status('admin', TEST_ADMIN.password)).toBe(200)
  })

  it('sets that of another administrator by its username', async () => {
    const { operator, admin, status } = await network()
    const { id } = (await admin.call('POST /identities', { body: { name: 'deputy', type: 'User', isAdmin: true } }))
      .data
    const deputy = { identityId: id, method: 'updb', username: 'deputy', password: 'a-deputy-password' } as const
    await admin.call('POST /authenticators', { body: deputy })
    await operator.resetAdminPassword({ username: 'deputy', password: PASSWORD })
    expect(await status('deputy', PASSWORD)).toBe(200)
    expect(await status('admin', TEST_ADMIN.password)).toBe(200)
  })

  it('keeps to the rules of the auth policy, without echoing the password', async () => {
    const held = await network()
    await underPolicy(held, policy({ updb: { ...UPDB, minPasswordLength: 30 } }))
    const refused = held.operator.resetAdminPassword({ password: PASSWORD })
    await expect(refused).rejects.toThrow('password should be at least 30 chars long')
    await expect(refused).rejects.not.toThrow(PASSWORD)
    expect(await held.status('admin', TEST_ADMIN.password)).toBe(200)
  })

  it('warns of what is easily guessed', async () => {
    const { operator } = await network()
    expect(await operator.resetAdminPassword({ password: 'admin123' })).toMatchObject({
      weakness: 'it has fewer than 12 characters',
    })
  })

  it('makes the default admin of a store that has none', async () => {
    const storage = memoryStorage()
    const operator = await openOperator({ storage, passwordHasher: plainPasswordHasher })
    expect(await operator.resetAdminPassword({ username: 'keeper', password: PASSWORD })).toMatchObject({ isNew: true })
    const controller = await createTestController(
      await withSharedPki({ storage, admin: { username: 'keeper', password: PASSWORD } }),
    )
    expect(controller.hasOtherAdmin).toBe(false)
    await controller.asAdmin()
  })
})

describe('an operator', () => {
  it('explains access and checks the store without writing anything', async () => {
    const { operator, storage } = await network()
    const before = await storage.read(async ({ revision }) => revision)
    expect((await operator.explain('admin', 'payroll', 'Dial')).allowed).toBe(false)
    expect(await operator.checkIntegrity()).toEqual([])
    expect(await storage.read(async ({ revision }) => revision)).toBe(before)
  })
})
