import { expect, it } from 'vitest'
import { adminOf } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'
import { bearing, oauthError, openIdTokens, refresh } from '../support/openid.ts'
import { person } from '../support/people.ts'

const MINUTE_MS = 60_000

async function ann() {
  const mounted = await mount()
  const admin = await adminOf(mounted)
  const who = await person(mounted, admin, 'ann')
  const isGood = async (token: string) => (await bearing(mounted, token)).status === 200
  return { mounted, admin, who, isGood }
}

it('an identity is revoked as often as somebody asks, each time with all that was issued until then', async () => {
  const { mounted, admin, who, isGood } = await ann()
  const issued = []
  for (let round = 0; round < 3; round += 1) {
    const { access_token: token } = await openIdTokens(mounted, who)
    issued.push(token)
    expect(await isGood(token)).toBe(true)
    mounted.clock.advance(MINUTE_MS)
    expect((await admin.post('/revocations', { id: who.id, type: 'IDENTITY' })).status).toBe(201)
    mounted.clock.advance(MINUTE_MS)
    expect(await Promise.all(issued.map(isGood))).toEqual(issued.map(() => false))
  }
})

it('tokens of an identity that was disabled stay refused when it is enabled again', async () => {
  const { mounted, admin, who, isGood } = await ann()
  const before = await openIdTokens(mounted, who)
  mounted.clock.advance(MINUTE_MS)
  expect((await admin.post(`/identities/${who.id}/disable`, { durationMinutes: 5 })).status).toBe(200)
  mounted.clock.advance(MINUTE_MS)
  expect((await admin.post(`/identities/${who.id}/enable`)).status).toBe(200)
  expect(await isGood(before.access_token)).toBe(false)
  expect(await oauthError(await refresh(mounted, before.refresh_token))).toEqual([
    400,
    'invalid_grant',
    'refresh token revoked',
  ])
  mounted.clock.advance(MINUTE_MS)
  expect(await isGood((await openIdTokens(mounted, who)).access_token)).toBe(true)
})
