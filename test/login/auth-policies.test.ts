import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectFieldError } from '../contract/http/errors.ts'
import { adminOf, create, read } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'
import { apisOf, authPolicy, login, person } from '../support/people.ts'

describe('auth policies', () => {
  it('are created, listed, shown, replaced, patched and deleted', async () => {
    const admin = await adminOf(await mount())
    const id = await create(admin, '/auth-policies', authPolicy('strict'))
    expect(await read(admin, `/auth-policies/${id}`)).toMatchObject({ ...authPolicy('strict'), id })
    expect((await admin.get('/auth-policies')).body.meta.pagination.totalCount).toBe(2)
    expectDone(await admin.put(`/auth-policies/${id}`, authPolicy('stricter', { maxAttempts: 3 })))
    expectDone(await admin.patch(`/auth-policies/${id}`, { name: 'strictest' }))
    expect(await read(admin, `/auth-policies/${id}`)).toMatchObject(authPolicy('strictest', { maxAttempts: 3 }))
    expectDone(await admin.delete(`/auth-policies/${id}`))
    expectError(await admin.get(`/auth-policies/${id}`), 'NOT_FOUND')
  })

  it.each([
    [{ primary: { updb: { requireMixedCase: true } } }, { requireMixedCase: true }],
    [{ primary: { updb: { minPasswordLength: 12 } } }, { minPasswordLength: 12 }],
    [{ primary: { updb: { minPasswordLength: 1 } } }, { minPasswordLength: 5 }],
    [{ primary: { updb: { maxAttempts: -4, lockoutDurationMinutes: -1 } } }, {}],
    [{ primary: { updb: { maxAttempts: null } } }, {}],
    [{ primary: {} }, {}],
    [{ secondary: { requireExtJwtSigner: '' } }, {}],
  ])('patched with %j changes nothing else', async (patch, updb) => {
    const admin = await adminOf(await mount())
    const id = await create(admin, '/auth-policies', authPolicy('p'))
    expectDone(await admin.patch(`/auth-policies/${id}`, patch))
    const { name, primary, secondary } = await read(admin, `/auth-policies/${id}`)
    expect({ name, primary, secondary }).toEqual(authPolicy('p', updb))
  })

  it.each([
    ['a member of the password rules', { updb: { maxAttempts: undefined } }, 'primary.updb.maxAttempts'],
    ['the certificate rules', { cert: undefined }, 'primary.cert'],
    ['the allowed signers', { extJwt: { allowed: true } }, 'primary.extJwt.allowedSigners'],
  ])('without %s are refused', async (_what, change, field) => {
    const admin = await adminOf(await mount())
    const whole = authPolicy('p')
    const updb = { ...whole.primary.updb, ...('updb' in change ? change.updb : {}) }
    const body = { ...whole, primary: { ...whole.primary, ...change, updb } }
    expectFieldError(await admin.post('/auth-policies', body), field)
  })

  it('name signers that exist', async () => {
    const admin = await adminOf(await mount())
    const required = await admin.post('/auth-policies', authPolicy('a', {}, { requireExtJwtSigner: 'nobody' }))
    expectError(required, 'NOT_FOUND', { field: 'secondary.requiredExtJwtSigner' })
    const allowed = await admin.post('/auth-policies', authPolicy('b', {}, {}, { allowedSigners: ['nobody'] }))
    expectError(allowed, 'NOT_FOUND', { field: 'primary.extJwt.allowedExtJwtSigners[0]' })
  })

  it('in use, and the default one, cannot be deleted', async () => {
    const admin = await adminOf(await mount())
    const id = await create(admin, '/auth-policies', authPolicy('used'))
    await create(admin, '/identities', { name: 'user', type: 'User', isAdmin: false, authPolicyId: id })
    expectError(await admin.delete(`/auth-policies/${id}`), 'CAN_NOT_DELETE_REFERENCED_ENTITY')
    expectError(await admin.delete('/auth-policies/default'), 'CAN_NOT_DELETE_REFERENCED_ENTITY')
  })
})

describe('A6: lockout', () => {
  async function locking(maxAttempts: number, lockoutDurationMinutes: number) {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const authPolicyId = await create(
      admin,
      '/auth-policies',
      authPolicy('locking', { maxAttempts, lockoutDurationMinutes }),
    )
    const alice = await person(mounted, admin, 'alice', { authPolicyId })
    const wrong = { ...alice, password: 'not-the-password' }
    const status = async (who: typeof alice) => (await login(mounted, who)).status
    return { mounted, admin, alice, wrong, status }
  }

  it('locks the password after that many failures, for that many minutes', async () => {
    const { mounted, alice, wrong, status } = await locking(3, 10)
    for (let attempt = 0; attempt < 3; attempt += 1) expectError(await login(mounted, wrong), 'INVALID_AUTH', null)
    expectError(await login(mounted, alice), 'INVALID_AUTH', null)
    mounted.clock.advance(10 * 60_000 - 1)
    expect(await status(alice)).toBe(401)
    mounted.clock.advance(1)
    expect(await status(alice)).toBe(200)
  })

  it('counts failures in a row only', async () => {
    const { alice, wrong, status } = await locking(3, 0)
    for (let round = 0; round < 3; round += 1) {
      expect([await status(wrong), await status(wrong), await status(alice)]).toEqual([401, 401, 200])
    }
  })

  it('without minutes lasts until the identity is enabled', async () => {
    const { mounted, admin, alice, wrong, status } = await locking(1, 0)
    await status(wrong)
    mounted.clock.advance(365 * 86_400_000)
    expect(await status(alice)).toBe(401)
    expectDone(await (await adminOf(mounted)).post(`/identities/${alice.id}/enable`))
    expect(await status(alice)).toBe(200)
    expect(admin.token).toBeDefined()
  })

  it('locks the password only: sessions and other identities go on', async () => {
    const { mounted, admin, alice, wrong, status } = await locking(1, 0)
    const { api } = await apisOf(mounted, alice)
    await status(wrong)
    expect((await api.get('/current-identity')).status).toBe(200)
    expect((await read(admin, `/identities/${alice.id}`)).disabled).toBe(false)
  })

  it('loses no failure of 100 at once, and lets no right password through after the last allowed one', async () => {
    const { alice, wrong, status } = await locking(100, 0)
    await Promise.all(Array.from({ length: 99 }, () => status(wrong)))
    expect(await status(alice)).toBe(200)
    await Promise.all(Array.from({ length: 100 }, () => status(wrong)))
    expect(await status(alice)).toBe(401)
  })

  it('survives a restart', async () => {
    const { mounted, alice, wrong, status } = await locking(2, 0)
    await status(wrong)
    const { storage } = mounted.controller
    const restarted = await mount({ storage, now: mounted.clock.now() })
    expect((await login(restarted, wrong)).status).toBe(401)
    expect((await login(restarted, alice)).status).toBe(401)
  })

  it('A4: answers the same whether the password was wrong, locked or unknown', async () => {
    const { mounted, alice, wrong } = await locking(1, 0)
    const answers = [
      await login(mounted, { ...wrong, username: 'nobody' }),
      await login(mounted, wrong),
      await login(mounted, alice),
    ]
    const shown = answers.map(({ status, headers, text }) => ({
      status,
      headers: [...headers],
      text: text.replace(/"requestId":"[^"]+"/, ''),
    }))
    expect(shown[1]).toEqual(shown[0])
    expect(shown[2]).toEqual(shown[0])
  })
})

describe('disabling an identity', () => {
  it('ends its sessions at once and refuses new ones until the minutes are over', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const alice = await person(mounted, admin, 'alice')
    const { api } = await apisOf(mounted, alice)
    expectDone(await admin.post(`/identities/${alice.id}/disable`, { durationMinutes: 5 }))
    expect((await api.get('/current-identity')).status).toBe(401)
    expect((await login(mounted, alice)).status).toBe(401)
    const at = mounted.clock.now()
    expect(await read(admin, `/identities/${alice.id}`)).toMatchObject({
      disabled: true,
      disabledAt: new Date(at).toISOString(),
      disabledUntil: new Date(at + 5 * 60_000).toISOString(),
      hasApiSession: false,
    })
    mounted.clock.advance(5 * 60_000)
    expect((await login(mounted, alice)).status).toBe(200)
    expect((await api.get('/current-identity')).status).toBe(401)
  })

  it.each([0, -1])('for %d minutes lasts until it is enabled', async (durationMinutes) => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const alice = await person(mounted, admin, 'alice')
    expectDone(await admin.post(`/identities/${alice.id}/disable`, { durationMinutes }))
    expect(await read(admin, `/identities/${alice.id}`)).toMatchObject({ disabled: true, disabledUntil: null })
    mounted.clock.advance(20 * 60_000)
    expect((await login(mounted, alice)).status).toBe(401)
    expectDone(await admin.post(`/identities/${alice.id}/enable`))
    expect(await read(admin, `/identities/${alice.id}`)).toMatchObject({ disabled: false, disabledAt: null })
    expect((await login(mounted, alice)).status).toBe(200)
  })

  it('A9: is nothing that a delegate does to an admin', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const delegate = await person(mounted, admin, 'delegate', { permissions: ['identity.update'] })
    const boss = await person(mounted, admin, 'boss', { isAdmin: true })
    const other = await person(mounted, admin, 'other')
    const { management } = await apisOf(mounted, delegate)
    expectError(await management.post(`/identities/${boss.id}/disable`, { durationMinutes: 0 }), 'UNAUTHORIZED')
    expectDone(await management.post(`/identities/${other.id}/disable`, { durationMinutes: 0 }))
  })

  it('needs the minutes, and an identity that exists', async () => {
    const admin = await adminOf(await mount())
    expectFieldError(await admin.post('/identities/x/disable', {}), 'durationMinutes')
    expectError(await admin.post('/identities/x/disable', { durationMinutes: 1 }), 'NOT_FOUND')
    expectError(await admin.post('/identities/x/enable'), 'NOT_FOUND')
  })
})
