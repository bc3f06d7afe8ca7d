import { createPkiMaterial, type PkiMaterial } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectUnknown } from '../contract/http/errors.ts'
import { adminOf, CLIENT, create, type ForeignClient, foreignClient, read } from '../contract/http/foreign-client.ts'
import { completeMfa, pendingMfa } from '../support/mfa-enrollment.ts'
import { mount } from '../support/mount.ts'
import { network } from '../support/network.ts'
import { apisOf, authPolicy, login, person } from '../support/people.ts'
import { STEP_MS, totp } from '../support/totp.ts'

const wrong = (right: string) => String((Number(right) + 1) % 1_000_000).padStart(6, '0')

describe('an MFA enrollment', () => {
  it('begins pending, with a URL, a QR code and 20 recovery codes, and shows none of them when it is complete', async () => {
    const { mounted, admin, alice } = await network({ people: { alice: {} } })
    const { api } = await apisOf(mounted, alice)
    expectError(await api.get('/current-identity/mfa'), 'NOT_FOUND')
    expectError(await api.get('/current-identity/mfa/qr-code'), 'NOT_FOUND')
    const { provisioningUrl, recoveryCodes, code } = await pendingMfa(mounted, alice)
    expect(provisioningUrl).toMatch(/^otpauth:\/\/totp\/openziti\.io:alice\?/)
    expect(new Set(recoveryCodes).size).toBe(20)
    for (const one of recoveryCodes) expect(one).toMatch(/^[A-Z2-7]{10}$/)
    expectError(await api.post('/current-identity/mfa'), 'MFA_EXISTS', undefined, 409)
    expectError(await api.post('/current-identity/mfa/verify', { code: wrong(code()) }), 'MFA_INVALID_TOKEN')
    expectDone(await api.post('/current-identity/mfa/verify', { code: code() }))
    const { data } = (await api.get('/current-identity/mfa')).body
    expect(data).toMatchObject({ isVerified: true, recoveryCodes: null })
    expect(data).not.toHaveProperty('provisioningUrl')
    expect(Object.keys(data._links).sort()).toEqual(['current-identity', 'recovery-codes', 'self'])
    expectError(await api.get('/current-identity/mfa/qr-code'), 'NOT_FOUND')
    expectError(await api.post('/current-identity/mfa/verify', { code: code() }), 'NOT_FOUND')
    expect((await read(admin, `/identities/${alice.id}`)).isMfaEnabled).toBe(true)
    expect(await read(api, '/current-api-session')).toMatchObject({ isMfaRequired: true, isMfaComplete: true })
  })

  it('has a QR code that is a PNG of 256 pixels', async () => {
    const { mounted, alice } = await network({ people: { alice: {} } })
    const { api, token } = { ...(await pendingMfa(mounted, alice)), token: '' }
    const response = await mounted.fetch(`${CLIENT}/current-identity/mfa/qr-code`, {
      headers: { 'zt-session': api.token ?? token },
    })
    expect(response.headers.get('content-type')).toBe('image/png')
    const png = Buffer.from(await response.arrayBuffer())
    expect([png.subarray(1, 4).toString(), png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual(['PNG', 256, 256])
  })

  it('outlives a restart with the same certificates, by a key that follows from them', async () => {
    const pki = await createPkiMaterial({ hosts: ['localhost'], trustDomain: 'restart.test', now: Date.now() })
    const storage = memoryStorage()
    const mounted = await mount({ storage, pki, now: Date.now() })
    const alice = await person(mounted, await adminOf(mounted), 'alice')
    const { api, code, recoveryCodes } = await completeMfa(mounted, alice)
    const codesShownBy = async (certificates: PkiMaterial) => {
      const restarted = await mount({ storage: storage.fork(), pki: certificates, now: mounted.clock.now() })
      const sent = { headers: { 'mfa-validation-code': code() } }
      return foreignClient(restarted, CLIENT, api.token).send('GET', '/current-identity/mfa/recovery-codes', sent)
    }
    expect((await codesShownBy(pki)).body.data.recoveryCodes).toEqual(recoveryCodes)
    const others = await createPkiMaterial({ hosts: ['localhost'], trustDomain: 'restart.test', now: Date.now() })
    expect((await codesShownBy(others)).status).toBe(500)
  })

  it('is begun by one of many at once', async () => {
    const { mounted, alice } = await network({ people: { alice: {} } })
    const { api } = await apisOf(mounted, alice)
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => api.post('/current-identity/mfa')))).map(
      ({ status }) => status,
    )
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(19)
  })

  it('that is pending ends without a code', async () => {
    const { mounted, alice } = await network({ people: { alice: {} } })
    const { api } = await pendingMfa(mounted, alice)
    expectDone(await api.delete('/current-identity/mfa'))
    expectError(await api.get('/current-identity/mfa'), 'NOT_FOUND')
    expectError(await api.delete('/current-identity/mfa'), 'NOT_FOUND')
  })

  it.each(['code', 'recovery code'])('that is complete ends with a %s, and not without', async (kind) => {
    const { mounted, alice } = await network({ people: { alice: {} } })
    const { api, code, recoveryCodes } = await completeMfa(mounted, alice)
    expectError(await api.delete('/current-identity/mfa'), 'MFA_INVALID_TOKEN')
    const proof = kind === 'code' ? code() : recoveryCodes[0]
    expectDone(await api.send('DELETE', '/current-identity/mfa', { headers: { 'mfa-validation-code': proof } }))
    expect((await login(mounted, alice)).body.data).toMatchObject({ isMfaRequired: false, authQueries: [] })
  })

  it('is ended by an admin, but not by a delegate for an admin', async () => {
    const { mounted, admin, alice } = await network({ people: { alice: { isAdmin: true } } })
    await completeMfa(mounted, alice)
    const delegate = await person(mounted, admin, 'delegate', { permissions: ['identity'] })
    const { management } = await apisOf(mounted, delegate)
    expectError(await management.delete(`/identities/${alice.id}/mfa`), 'UNAUTHORIZED')
    expectDone(await admin.delete(`/identities/${alice.id}/mfa`))
    expectDone(await admin.delete(`/identities/${alice.id}/mfa`))
    expectUnknown(await admin.delete('/identities/nobody/mfa'), 'identity', 'nobody')
    expect((await read(admin, `/identities/${alice.id}`)).isMfaEnabled).toBe(false)
  })
})

describe('a session of an identity with MFA', () => {
  const OPEN = ['/current-api-session', '/current-identity/mfa']
  const CLOSED = [
    '/current-identity',
    '/services',
    '/sessions',
    '/current-identity/authenticators',
    '/current-identity/mfa/recovery-codes',
  ]

  it('A20: is asked for a code, and may do next to nothing before', async () => {
    const { mounted, alice } = await network({ people: { alice: { permissions: ['admin_readonly'] } } })
    const { code } = await completeMfa(mounted, alice)
    const { data } = (await login(mounted, alice)).body
    expect(data).toMatchObject({ isMfaRequired: true, isMfaComplete: false })
    expect(data.authQueries).toEqual([
      {
        typeId: 'MFA',
        provider: 'ziti',
        format: 'numeric',
        httpMethod: 'POST',
        httpUrl: './authenticate/mfa',
        minLength: 4,
        maxLength: 6,
        scopes: null,
        isTotpEnrolled: true,
      },
    ])
    const api = foreignClient(mounted, CLIENT, data.token)
    const management = foreignClient(mounted, '/edge/management/v1', data.token)
    for (const path of OPEN) expect((await api.get(path)).status, path).toBe(200)
    for (const path of CLOSED) expectError(await api.get(path), 'UNAUTHORIZED')
    for (const path of ['/identities', '/services']) expectError(await management.get(path), 'UNAUTHORIZED')
    expectError(await api.post('/authenticate/mfa', { code: wrong(code()) }), 'MFA_INVALID_TOKEN')
    expectDone(await api.post('/authenticate/mfa', { code: code() }))
    expect(await read(api, '/current-api-session')).toMatchObject({ isMfaComplete: true, authQueries: [] })
    for (const path of CLOSED.slice(0, 4)) expect((await api.get(path)).status, path).toBe(200)
  })

  it('without MFA has nothing to complete', async () => {
    const { mounted, alice } = await network({ people: { alice: {} } })
    const { api } = await apisOf(mounted, alice)
    expectError(await api.post('/authenticate/mfa', { code: '123456' }), 'MFA_NOT_ENROLLED', undefined, 409)
  })

  it('A18: accepts a code once, of 100 at once and afterwards', async () => {
    const { mounted, alice } = await network({ people: { alice: {} } })
    const { code, api } = await completeMfa(mounted, alice)
    const right = code()
    const statuses = (
      await Promise.all(Array.from({ length: 100 }, () => api.post('/authenticate/mfa', { code: right })))
    ).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect((await api.post('/authenticate/mfa', { code: right })).status).not.toBe(200)
  })

  it('A19: accepts a recovery code once, of 100 at once and afterwards', async () => {
    const { mounted, alice } = await network({ people: { alice: {} } })
    const { api, recoveryCodes } = await completeMfa(mounted, alice)
    const [code] = recoveryCodes
    const statuses = (
      await Promise.all(Array.from({ length: 100 }, () => api.post('/authenticate/mfa', { code })))
    ).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
  })

  it.each([
    [-3, 'MFA_INVALID_TOKEN'],
    [-2, undefined],
    [2, undefined],
    [3, 'MFA_INVALID_TOKEN'],
  ])('accepts the code of %d steps away: %s', async (steps, refusal) => {
    const { mounted, alice } = await network({ people: { alice: {} } })
    const { api, secret } = await completeMfa(mounted, alice)
    mounted.clock.advance(5 * STEP_MS)
    const answer = await api.post('/authenticate/mfa', { code: totp(secret, mounted.clock.now() + steps * STEP_MS) })
    if (refusal === undefined) expectDone(answer)
    else expectError(answer, refusal)
  })

  it('A17: is not guessed: 10 wrong codes in five minutes and 50 in a day, then no code is looked at', async () => {
    const { mounted, alice } = await network({ people: { alice: {} } })
    const { api, code, secret } = await completeMfa(mounted, alice)
    const fail = async (times: number, to: ForeignClient) => {
      for (let failure = 0; failure < times; failure += 1) {
        expectError(
          await to.post('/authenticate/mfa', { code: wrong(totp(secret, mounted.clock.now())) }),
          'MFA_INVALID_TOKEN',
        )
      }
    }
    await fail(10, api)
    const limited = await api.post('/authenticate/mfa', { code: code() })
    expectError(limited, 'RATE_LIMITED', undefined, 429)
    expect(limited.headers.get('retry-after')).toBe('300')
    for (let round = 1; round < 5; round += 1) {
      mounted.clock.advance(300_000)
      await fail(10, api)
    }
    mounted.clock.advance(300_000)
    const daily = await api.post('/authenticate/mfa', { code: code() })
    expect([daily.status, Number(daily.headers.get('retry-after'))]).toEqual([429, 86_400 - 1500])
  })

  it('of a policy that requires TOTP can enroll it, and only that, before it goes on', async () => {
    const { mounted, admin, alice } = await network({ people: { alice: {} } })
    const authPolicyId = await create(admin, '/auth-policies', authPolicy('totp', {}, { requireTotp: true }))
    expectDone(await admin.patch(`/identities/${alice.id}`, { authPolicyId }))
    const { data } = (await login(mounted, alice)).body
    expect(data).toMatchObject({ isMfaRequired: false, authQueries: [{ typeId: 'MFA', isTotpEnrolled: false }] })
    const api = foreignClient(mounted, CLIENT, data.token)
    expectError(await api.get('/services'), 'UNAUTHORIZED')
    expect((await api.post('/current-identity/mfa')).status).toBe(201)
    const { provisioningUrl } = await read(api, '/current-identity/mfa')
    const secret = new URL(provisioningUrl).searchParams.get('secret') ?? ''
    expectDone(await api.post('/current-identity/mfa/verify', { code: totp(secret, mounted.clock.now()) }))
    expect((await api.get('/services')).status).toBe(200)
  })

  it('A21: needs a factor anew when an admin removed the one it had passed, if its policy asks for one', async () => {
    const { mounted, admin, alice } = await network({ people: { alice: {} } })
    const authPolicyId = await create(admin, '/auth-policies', authPolicy('totp', {}, { requireTotp: true }))
    const { api } = await completeMfa(mounted, alice)
    expectDone(await admin.patch(`/identities/${alice.id}`, { authPolicyId }))
    expect((await api.get('/services')).status).toBe(200)
    expectDone(await admin.delete(`/identities/${alice.id}/mfa`))
    expectError(await api.get('/services'), 'UNAUTHORIZED')
  })
})

describe('recovery codes', () => {
  it('are shown for a one-time password, and not for a recovery code', async () => {
    const { mounted, alice } = await network({ people: { alice: {} } })
    const { api, code, recoveryCodes } = await completeMfa(mounted, alice)
    const view = (proof: string) =>
      api.send('GET', '/current-identity/mfa/recovery-codes', { headers: { 'mfa-validation-code': proof } })
    expectError(await view(recoveryCodes[3]), 'MFA_INVALID_TOKEN')
    expect((await view(code())).body.data.recoveryCodes).toEqual(recoveryCodes)
  })

  it('are replaced, all of them', async () => {
    const { mounted, alice } = await network({ people: { alice: {} } })
    const { api, code, recoveryCodes } = await completeMfa(mounted, alice)
    expectDone(await api.post('/current-identity/mfa/recovery-codes', { code: recoveryCodes[0] }))
    expectError(await api.post('/authenticate/mfa', { code: recoveryCodes[1] }), 'MFA_INVALID_TOKEN')
    const headers = { 'mfa-validation-code': code() }
    const { recoveryCodes: renewed } = (await api.send('GET', '/current-identity/mfa/recovery-codes', { headers })).body
      .data
    expect(renewed).toHaveLength(20)
    expect(renewed.filter((one: string) => recoveryCodes.includes(one))).toEqual([])
  })

  it('A19: and secrets are not readable in the store', async () => {
    const { mounted, alice } = await network({ people: { alice: {} } })
    const { secret, recoveryCodes } = await completeMfa(mounted, alice)
    const { mfas } = await import('../support/stored-records.ts')
    const { items } = await mounted.controller.storage.read((tx) => tx.collection(mfas).find())
    const stored = JSON.stringify(items)
    for (const plain of [secret, ...recoveryCodes]) expect(stored).not.toContain(plain)
  })

  it('are nobody else’s to see while there is no enrollment', async () => {
    const { mounted, alice } = await network({ people: { alice: {} } })
    const { api } = await pendingMfa(mounted, alice)
    expectError(await api.get('/current-identity/mfa/recovery-codes'), 'NOT_FOUND')
    expectError(await api.post('/current-identity/mfa/recovery-codes', { code: '123456' }), 'NOT_FOUND')
  })
})
