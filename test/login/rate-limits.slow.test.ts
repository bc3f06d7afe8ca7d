import type { RateLimitOptions } from 'portcullis'
import { TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { expectError } from '../contract/http/errors.ts'
import { adminOf, CLIENT, foreignClient, MANAGEMENT } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'
import { apisOf, login, person } from '../support/people.ts'

const once = { limit: 1, windowMs: 60_000 }
const twice = { limit: 2, windowMs: 60_000 }

function open(rateLimits: RateLimitOptions | false) {
  return mount({ rateLimits })
}

describe('rate limits', () => {
  it('answer 429 with the seconds to wait, and forget', async () => {
    const mounted = await open({ anonymous: twice })
    const anybody = foreignClient(mounted, CLIENT)
    expect((await anybody.get('/version')).status).toBe(200)
    mounted.clock.advance(20_500)
    expect((await anybody.get('/version')).status).toBe(200)
    const answer = await anybody.get('/version')
    expectError(answer, 'SERVER_TOO_MANY_REQUESTS', null, 429)
    expect(answer.headers.get('retry-after')).toBe('40')
    mounted.clock.advance(39_500)
    expect((await anybody.get('/version')).status).toBe(200)
  })

  it('of open operations are counted by address', async () => {
    const { controller } = await open({ anonymous: once })
    const statusFrom = async (remoteAddress: string | undefined) => {
      const request = new Request('https://controller.test/version')
      return (await controller.fetch(request, remoteAddress === undefined ? {} : { remoteAddress })).status
    }
    expect(await statusFrom('192.0.2.1')).toBe(200)
    expect(await statusFrom('192.0.2.2')).toBe(200)
    expect(await statusFrom('192.0.2.1')).toBe(429)
    expect(await statusFrom('2001:db8::1')).toBe(200)
    expect(await statusFrom('2001:db8::2')).toBe(429)
    for (let count = 0; count < 5; count += 1) expect(await statusFrom(undefined)).toBe(200)
  })

  it('of API sessions are counted by identity, whatever the session', async () => {
    const mounted = await open({ identity: once })
    const [first, second] = [await adminOf(mounted), await adminOf(mounted)]
    expect((await first.get('/services')).status).toBe(200)
    expectError(await second.get('/services'), 'SERVER_TOO_MANY_REQUESTS', null, 429)
    expectError(await first.delete('/services/x'), 'SERVER_TOO_MANY_REQUESTS', null, 429)
  })

  it('of tokens that are not good are counted by address', async () => {
    const mounted = await open({ anonymous: twice })
    const statusWith = async (token: string) =>
      (await foreignClient(mounted, MANAGEMENT, token).get('/services')).status
    expect(await statusWith('guess-1')).toBe(401)
    expect(await statusWith('guess-2')).toBe(401)
    expect(await statusWith('guess-3')).toBe(429)
  })

  it('of logins are counted by username, known or not, before the password is looked at', async () => {
    const mounted = await open({ passwordsByUsername: twice })
    const admin = await adminOf(mounted)
    await person(mounted, admin, 'alice')
    for (const username of ['alice', 'nobody']) {
      const wrong = { username, password: 'wrong-password' }
      expect((await login(mounted, wrong)).status).toBe(401)
      expect((await login(mounted, wrong)).status).toBe(401)
      expectError(await login(mounted, wrong), 'SERVER_TOO_MANY_REQUESTS', null, 429)
    }
    expect((await login(mounted, { username: 'alice', password: 'Correct-Horse-1' })).status).toBe(429)
    expect((await login(mounted, TEST_ADMIN)).status).toBe(200)
    mounted.clock.advance(60_000)
    expect((await login(mounted, { username: 'alice', password: 'Correct-Horse-1' })).status).toBe(200)
  })

  it('of logins are counted by address over all usernames', async () => {
    const mounted = await open({ passwordsByAddress: twice })
    const attempt = (username: string) => login(mounted, { username, password: 'wrong-password' })
    expect((await attempt('alice')).status).toBe(401)
    expect((await attempt('bobby')).status).toBe(401)
    expect((await attempt('carol')).status).toBe(429)
  })

  it('of logins count the current password too, which who has a stolen session would guess', async () => {
    const mounted = await open({ passwordsByUsername: { limit: 3, windowMs: 60_000 } })
    const { api } = await apisOf(mounted, await person(mounted, await adminOf(mounted), 'alice'))
    const [own] = (await api.get('/current-identity/authenticators')).body.data
    const guess = (currentPassword: string) =>
      api.patch(`/current-identity/authenticators/${own.id}`, { currentPassword, password: 'another-password' })
    expectError(await guess('wrong-1'), 'UNAUTHORIZED', { field: 'currentPassword' })
    expectError(await guess('wrong-2'), 'UNAUTHORIZED', { field: 'currentPassword' })
    expectError(await guess('Correct-Horse-1'), 'SERVER_TOO_MANY_REQUESTS', null, 429)
    const replace = { currentPassword: 'Correct-Horse-1', password: 'another-password', username: 'alice' }
    const replaced = await api.put(`/current-identity/authenticators/${own.id}`, replace)
    expectError(replaced, 'SERVER_TOO_MANY_REQUESTS', null, 429)
    // As many at the door: they are the same guesses.
    expect((await login(mounted, { username: 'alice', password: 'Correct-Horse-1' })).status).toBe(429)
    mounted.clock.advance(60_000)
    expect((await guess('Correct-Horse-1')).status).toBe(200)
  })

  it('of logins by address count it too', async () => {
    const mounted = await open({ passwordsByAddress: { limit: 3, windowMs: 60_000 } })
    const { api } = await apisOf(mounted, await person(mounted, await adminOf(mounted), 'alice'))
    const [own] = (await api.get('/current-identity/authenticators')).body.data
    const guess = () =>
      api.patch(`/current-identity/authenticators/${own.id}`, { currentPassword: 'wrong', password: 'another' })
    expectError(await guess(), 'UNAUTHORIZED', { field: 'currentPassword' })
    expectError(await guess(), 'SERVER_TOO_MANY_REQUESTS', null, 429)
  })

  it('are generous by default, and tighter for logins', async () => {
    const mounted = await open({})
    const statuses: number[] = []
    for (let count = 0; count <= 1_200; count += 1) statuses.push((await login(mounted)).status)
    expect(statuses).toEqual([...Array.from({ length: 1_200 }, () => 200), 429])
    const anybody = foreignClient(mounted, CLIENT)
    for (let count = 0; count < 1_000; count += 1) expect((await anybody.get('/version')).status).toBe(200)
  })

  it('may be switched off, one or all, or be of the host', async () => {
    const off = await open(false)
    for (let count = 0; count < 40; count += 1) expect((await login(off)).status).toBe(200)
    const keys: string[] = []
    const recording = {
      take: async (key: string) => {
        keys.push(key)
        return { allowed: true } as const
      },
    }
    const own = await open({ anonymous: recording, passwordsByUsername: false })
    for (let count = 0; count < 40; count += 1) expect((await login(own)).status).toBe(200)
    expect(keys).toEqual(Array.from({ length: 40 }, () => '127.0.0.1'))
  })
})
