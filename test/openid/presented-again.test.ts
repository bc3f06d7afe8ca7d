import { TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { adminOf } from '../contract/http/foreign-client.ts'
import type { ClientCertificate, MountedController } from '../contract/http/mount.ts'
import { enroll } from '../contract/http/scenario.ts'
import { newKey, signingRequest } from '../contract/http/signing-request.ts'
import { mount } from '../support/mount.ts'
import {
  bearing,
  begin,
  claimsOf,
  codeOf,
  exchange,
  exchangeCode,
  oauthError,
  openIdTokens,
  proofKey,
  refresh,
  step,
  type Tokens,
  tokensIn,
} from '../support/openid.ts'

const REUSED = [400, 'invalid_grant', 'refresh token revoked']

/** The tokens of a session whose refresh token was used up, and those that came for it. */
async function refreshed() {
  const mounted = await mount()
  const before = await openIdTokens(mounted)
  const after = await tokensIn(await refresh(mounted, before.refresh_token))
  return { mounted, before, after }
}

async function expectOver(mounted: MountedController, all: readonly Tokens[], client?: ClientCertificate) {
  for (const { access_token, refresh_token } of all) {
    expect((await bearing(mounted, access_token, undefined, {}, client)).status).toBe(401)
    expect(await oauthError(await refresh(mounted, refresh_token, {}, client))).toEqual(REUSED)
  }
}

describe('a refresh token that is presented again within ten seconds', () => {
  it('gets tokens of the same session again, as often as the answer is lost', async () => {
    const { mounted, before } = await refreshed()
    let last: Tokens | undefined
    for (let lost = 0; lost < 5; lost += 1) {
      mounted.clock.advance(1900)
      const answer = await refresh(mounted, before.refresh_token)
      expect(answer.status).toBe(200)
      last = await tokensIn(answer)
    }
    expect(claimsOf(last?.access_token ?? '').z_asid).toBe(claimsOf(before.access_token).z_asid)
    expect((await bearing(mounted, last?.access_token ?? '')).status).toBe(200)
    mounted.clock.advance(60_000)
    expect((await refresh(mounted, last?.refresh_token ?? '')).status).toBe(200)
  })

  it('gets an access token by an exchange as well', async () => {
    const { mounted, before } = await refreshed()
    const answer = await tokensIn(await exchange(mounted, before.refresh_token, 'refresh_token', 'refresh_token'))
    expect((await refresh(mounted, answer.refresh_token)).status).toBe(200)
  })

  it('ends the session after that time, with every token of it', async () => {
    const { mounted, before, after } = await refreshed()
    mounted.clock.advance(10_000)
    expect(await oauthError(await refresh(mounted, before.refresh_token))).toEqual(REUSED)
    await expectOver(mounted, [before, after])
  })

  it('ends the session as soon as its answer was gone on with', async () => {
    const { mounted, before, after } = await refreshed()
    const next = await tokensIn(await refresh(mounted, after.refresh_token))
    expect(await oauthError(await refresh(mounted, before.refresh_token))).toEqual(REUSED)
    await expectOver(mounted, [after, next])
  })

  it('ends the session when another client exchanges it', async () => {
    const { mounted, before, after } = await refreshed()
    const other = { client_id: 'native' }
    const answer = await exchange(mounted, before.refresh_token, 'refresh_token', 'access_token', other)
    expect((await oauthError(answer)).slice(0, 2)).toEqual([400, 'invalid_request'])
    await expectOver(mounted, [after])
  })
})

describe('of two answers to one refresh token', () => {
  it('either may be gone on with, and whoever comes with the other one ends the session', async () => {
    for (const first of [0, 1]) {
      const { mounted, before, after } = await refreshed()
      const answers = [after, await tokensIn(await refresh(mounted, before.refresh_token))]
      const [used, left] = first === 0 ? answers : answers.toReversed()
      const next = await tokensIn(await refresh(mounted, used?.refresh_token ?? ''))
      expect((await bearing(mounted, next.access_token)).status).toBe(200)
      expect(await oauthError(await refresh(mounted, left?.refresh_token ?? ''))).toEqual(REUSED)
      await expectOver(mounted, [...answers, next])
    }
  })

  it('the other one cannot be saved by exchanging it first', async () => {
    const { mounted, before, after } = await refreshed()
    const stolen = await tokensIn(await refresh(mounted, before.refresh_token))
    const saved = await tokensIn(await exchange(mounted, stolen.refresh_token, 'refresh_token', 'refresh_token'))
    expect(await oauthError(await refresh(mounted, after.refresh_token))).toEqual(REUSED)
    await expectOver(mounted, [saved, stolen])
  })
})

it('a bound refresh token is answered again for the certificate that used it up alone', async () => {
  const mounted = await mount()
  const device = await enroll(mounted, await adminOf(mounted), { name: 'device' })
  const open = async () => {
    const [key, own] = [proofKey(), newKey()]
    const id = await begin(mounted, key)
    await step(mounted, id, 'cert', { csrPem: signingRequest(own) }, {}, device.certificate)
    const tokens = await tokensIn(await exchangeCode(mounted, await codeOf(mounted, id), key))
    return { tokens, further: { cert: String(tokens.session_cert), key: own } }
  }
  const { tokens, further } = await open()
  expect(claimsOf(tokens.refresh_token).z_cfs).toHaveLength(2)
  expect((await refresh(mounted, tokens.refresh_token, {}, further)).status).toBe(200)
  const again = await refresh(mounted, tokens.refresh_token, {}, further)
  expect(again.status).toBe(200)
  // Without the certificate it is nobody's proof of a theft.
  expect((await refresh(mounted, tokens.refresh_token)).status).toBe(400)
  const kept = await tokensIn(again)
  expect((await bearing(mounted, kept.access_token, undefined, {}, further)).status).toBe(200)
  expect(await oauthError(await refresh(mounted, tokens.refresh_token, {}, device.certificate))).toEqual(REUSED)
  await expectOver(mounted, [kept], further)
})

describe('an authorization code that comes again', () => {
  async function redeemed() {
    const mounted = await mount()
    const key = proofKey()
    const id = await begin(mounted, key)
    await step(mounted, id, 'password', TEST_ADMIN)
    const code = await codeOf(mounted, id)
    const tokens = await tokensIn(await exchangeCode(mounted, code, key))
    return { mounted, key, id, code, tokens }
  }

  it.each([
    ['as it was sent before', {}],
    ['without the proof key of whoever began the login', { code_verifier: proofKey().verifier }],
    ['from another client', { client_id: 'native' }],
    ['for another page', { redirect_uri: 'openziti://auth/callback' }],
  ])('ends the tokens and the session of the first exchange: %s', async (_how, change) => {
    const { mounted, key, code, tokens } = await redeemed()
    const next = await tokensIn(await refresh(mounted, tokens.refresh_token))
    expect(await oauthError(await exchangeCode(mounted, code, key, change))).toEqual([
      400,
      'invalid_grant',
      'invalid code',
    ])
    await expectOver(mounted, [tokens, next])
    const admin = await adminOf(mounted)
    const { z_asid } = claimsOf(tokens.access_token)
    expect((await admin.get(`/api-sessions/${z_asid}`)).status).toBe(404)
    // Routers judge access tokens by themselves.
    expect((await admin.get(`/revocations/${z_asid}`)).body.data).toMatchObject({ type: 'API_SESSION' })
  })

  it('does so long after its time', async () => {
    const { mounted, key, code, tokens } = await redeemed()
    await mounted.controller.elapse(20 * 60_000)
    expect((await bearing(mounted, tokens.access_token)).status).toBe(200)
    expect((await exchangeCode(mounted, code, key)).status).toBe(400)
    await expectOver(mounted, [tokens])
  })

  it('and one that is made up, of the same login too, ends nothing', async () => {
    const { mounted, key, id, code, tokens } = await redeemed()
    const { z_asid } = claimsOf(tokens.access_token)
    for (const guess of [id, `${id}.`, `${id}.${crypto.randomUUID()}`, `${code} `, z_asid, '.', 'x'.repeat(5000)]) {
      expect((await exchangeCode(mounted, guess, key)).status).toBe(400)
    }
    expect((await bearing(mounted, tokens.access_token)).status).toBe(200)
  })
})
