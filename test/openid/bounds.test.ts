import { TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import type { MountedController } from '../contract/http/mount.ts'
import { mount } from '../support/mount.ts'
import { authorizeQuery, begin, callback, oauthError, proofKey, step } from '../support/openid.ts'
import { authRequests } from '../support/stored-records.ts'

/** Begins a login from an address. */
async function beginFrom({ controller, url }: MountedController, remoteAddress: string): Promise<string> {
  const request = new Request(`${url}/oidc/authorize?${authorizeQuery(proofKey())}`)
  const response = await controller.fetch(request, { remoteAddress })
  expect(response.status).toBe(302)
  return new URL(response.headers.get('location') ?? '', url).searchParams.get('authRequestID') ?? ''
}

const isThere = async (mounted: MountedController, id: string) =>
  (await mounted.fetch(`/oidc/login/auth-queries?id=${id}`)).status === 200

const stored = ({ controller }: MountedController) =>
  controller.storage.read(async (tx) => (await tx.collection(authRequests).find()).items)

describe('logins that were begun and not ended', () => {
  it('are a thousand from one network at most; those of others, and those on which somebody logged in, stay', async () => {
    const mounted = await mount()
    const others = await beginFrom(mounted, '192.0.2.7')
    const loggedIn = await beginFrom(mounted, '198.51.100.1')
    await step(mounted, loggedIn, 'password', TEST_ADMIN)
    const first = await beginFrom(mounted, '198.51.100.1')
    for (let count = 0; count < 1000; count += 1) await beginFrom(mounted, '198.51.100.1')
    expect(await isThere(mounted, first)).toBe(false)
    expect([await isThere(mounted, others), await isThere(mounted, loggedIn)]).toEqual([true, true])
    expect(await stored(mounted)).toHaveLength(1002)
  })

  it('hold so many bytes of one identity: signing requests do not pile up', async () => {
    const mounted = await mount({ limits: { loginBytesPerIdentity: 40_000 } })
    const ids: string[] = []
    for (let count = 0; count < 4; count += 1) {
      const id = await begin(mounted, proofKey())
      const answer = await step(mounted, id, 'password', { ...TEST_ADMIN, csrPem: 'x'.repeat(16_000) })
      expect(answer.status).toBe(302)
      mounted.clock.advance(1000)
      ids.push(id)
    }
    expect((await stored(mounted)).map(({ id }) => id).sort()).toEqual(ids.slice(2).sort())
    const one = await begin(mounted, proofKey())
    expect((await step(mounted, one, 'password', { ...TEST_ADMIN, csrPem: 'x'.repeat(16_385) })).status).toBe(400)
    const tight = await mount({ limits: { loginBytesPerIdentity: 10_000 } })
    const refused = await step(tight, await begin(tight, proofKey()), 'password', {
      ...TEST_ADMIN,
      csrPem: 'x'.repeat(16_000),
    })
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('loginBytesPerIdentity')])
    const narrow = await mount({ limits: { loginBytesPerNetwork: 100 } })
    const authorize = await narrow.fetch(`/oidc/authorize?${authorizeQuery(proofKey())}`)
    expect([authorize.status, await authorize.text()]).toEqual([400, expect.stringContaining('loginBytesPerNetwork')])
  })

  it('are fifty of one identity at most: somebody who goes on beginning ends its own', async () => {
    const mounted = await mount()
    const ids: string[] = []
    for (let count = 0; count < 52; count += 1) {
      const id = await begin(mounted, proofKey())
      await step(mounted, id, 'password', TEST_ADMIN)
      mounted.clock.advance(1000)
      ids.push(id)
    }
    expect(await stored(mounted)).toHaveLength(50)
    expect(await isThere(mounted, ids[0] ?? '')).toBe(false)
    expect((await callback(mounted, ids.at(-1) ?? '')).get('code')).toBeTruthy()
  })

  it('hold sixteen kilobytes each at most', async () => {
    const mounted = await mount()
    const names = Array.from({ length: 100 }, (_, index) => `${index}${'x'.repeat(250)}`)
    const many = names.map((name) => `&configTypes=${name}`).join('')
    const response = await mounted.fetch(`/oidc/authorize?${authorizeQuery(proofKey())}${many}`)
    expect(await oauthError(response)).toEqual([400, 'invalid_request', 'the request is longer than 16384 bytes'])
    for (const change of [{ state: '€'.repeat(4096) }, { nonce: 'x'.repeat(4096) }]) {
      const text = await mounted.fetch(`/oidc/authorize?${authorizeQuery(proofKey(), change)}`)
      expect(text.status).toBe(302)
    }
    const sizes = (await stored(mounted)).map((record) => JSON.stringify(record).length)
    expect(Math.max(...sizes)).toBeLessThan(20_000)
  })

  it('are gone from the store after ten minutes', async () => {
    const mounted = await mount()
    await begin(mounted, proofKey())
    await mounted.controller.elapse(10 * 60_000 + 1000)
    expect(await stored(mounted)).toEqual([])
  })
})
