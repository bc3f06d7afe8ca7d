import { TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { adminOf, type ForeignClient } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { mount } from '../support/mount.ts'
import {
  bearing,
  begin,
  codeOf,
  exchange,
  exchangeCode,
  oauthError,
  openIdTokens,
  postForm,
  proofKey,
  refresh,
  step,
  tokensIn,
} from '../support/openid.ts'
import { apisOf, person } from '../support/people.ts'

const count = async (admin: ForeignClient): Promise<number> =>
  (await admin.get('/revocations?limit=1')).body.meta.pagination.totalCount

const revoke = (mounted: MountedController, token: string) =>
  postForm(mounted, '/oidc/revoke', { client_id: 'openziti', token })

/** Logs in as far as the code, and exchanges it. */
async function logIn(mounted: MountedController, who: { readonly username: string; readonly password: string }) {
  const key = proofKey()
  const id = await begin(mounted, key)
  const { username, password } = who
  expect((await step(mounted, id, 'password', { username, password })).status).toBe(302)
  return exchangeCode(mounted, await codeOf(mounted, id), key)
}

describe('one caller cannot make revocations grow', () => {
  it('by exchanging a token and taking the product back: after sixteen the session ends, and one revocation stands for all', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const { access_token, refresh_token } = await openIdTokens(mounted)
    for (let taken = 1; taken <= 16; taken += 1) {
      const { access_token: product } = await tokensIn(
        await exchange(mounted, access_token, 'access_token', 'access_token'),
      )
      for (const again of [product, product]) expect((await revoke(mounted, again)).status).toBe(200)
      expect((await bearing(mounted, product)).status).toBe(401)
      expect(await count(admin)).toBe(taken)
    }
    expect((await bearing(mounted, access_token)).status).toBe(200)
    const last = await tokensIn(await exchange(mounted, access_token, 'access_token', 'access_token'))
    const kept = await tokensIn(await exchange(mounted, access_token, 'access_token', 'access_token'))
    expect((await revoke(mounted, last.access_token)).status).toBe(200)
    for (const token of [last.access_token, access_token, kept.access_token]) {
      expect((await bearing(mounted, token)).status).toBe(401)
      // A token of a session that is revoked adds nothing.
      expect((await revoke(mounted, token)).status).toBe(200)
    }
    expect((await refresh(mounted, refresh_token)).status).toBe(400)
    expect(await count(admin)).toBe(1)
  })

  it('by refreshing again and again, and exchanging', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    let { refresh_token } = await openIdTokens(mounted)
    for (let round = 0; round < 30; round += 1) {
      for (let lost = 0; lost < 3; lost += 1) await refresh(mounted, refresh_token)
      refresh_token = (await tokensIn(await refresh(mounted, refresh_token))).refresh_token
      await exchange(mounted, refresh_token, 'refresh_token', 'refresh_token')
    }
    expect(await count(admin)).toBe(0)
  })

  it('by logging in and out: beyond the limit it logs in again when the tokens of the first session have expired', async () => {
    const mounted = await mount({ limits: { revocationsPerIdentity: 20 } })
    const admin = await adminOf(mounted)
    const ann = await person(mounted, admin, 'annie')
    for (let times = 0; times < 20; times += 1) {
      const { refresh_token } = await tokensIn(await logIn(mounted, ann))
      await revoke(mounted, refresh_token)
    }
    const refused = await oauthError(await logIn(mounted, ann))
    expect(refused).toEqual([400, 'invalid_request', expect.any(String)])
    expect(await count(admin)).toBe(20)
    // Others are not concerned, nor is she by another kind of session.
    expect((await logIn(mounted, TEST_ADMIN)).status).toBe(200)
    expect((await (await apisOf(mounted, ann)).api.get('/current-identity')).status).toBe(200)
    await mounted.controller.elapse(31 * 60_000)
    expect((await logIn(mounted, ann)).status).toBe(200)
  })

  it('by asking for them, as another administrator may', async () => {
    const mounted = await mount({ limits: { revocationsPerIdentity: 20 } })
    const admin = await adminOf(mounted)
    const { management: other } = await apisOf(mounted, await person(mounted, admin, 'deputy', { isAdmin: true }))
    const ids = Array.from({ length: 21 }, () => crypto.randomUUID())
    const statuses: number[] = []
    for (const id of ids) statuses.push((await other.post('/revocations', { id, type: 'JTI' })).status)
    expect([statuses.slice(0, 20).every((status) => status === 201), statuses[20]]).toEqual([true, 400])
    const refused = await other.post('/revocations', { id: ids[20], type: 'API_SESSION' })
    expect(refused.text).toContain('revocationsPerIdentity')
    // The same once more is none more, and somebody else's are somebody else's.
    expect((await other.post('/revocations', { id: ids[0], type: 'JTI' })).status).toBe(201)
    expect((await admin.post('/revocations', { id: ids[20], type: 'JTI' })).status).toBe(201)
    expect(await count(admin)).toBe(21)
  })
})
