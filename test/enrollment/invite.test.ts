import { createTestController, type TestController } from 'portcullis/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newKey, signingRequest } from '../contract/http/signing-request.ts'
import { withSharedPki } from '../support/shared-pki.ts'

const DAY_MS = 86_400_000

let net: TestController
beforeEach(async () => {
  net = await createTestController(await withSharedPki())
})
afterEach(() => net.close())

/** Redeems a token as a device does. */
async function enroll(jwt: string): Promise<void> {
  const { jti } = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
  await net.client().call('POST /enroll/ott', { body: { token: jti, clientCsr: signingRequest(newKey()) } })
}

describe('controller.invite', () => {
  it('makes an identity whose token is good for enrolling', async () => {
    const { id, name, jwt, expiresAt } = await net.invite('laptop', { roleAttributes: ['staff'] })
    const { data } = await net.admin.call('GET /identities/{id}', { params: { id } })
    expect(data).toMatchObject({ name, roleAttributes: ['staff'], isAdmin: false, typeId: 'Device' })
    expect(Date.parse(expiresAt)).toBeGreaterThan(net.clock.now())
    await enroll(jwt)
    await expect(net.invite('laptop')).rejects.toMatchObject({ code: 'ENROLLMENT_IDENTITY_ALREADY_ENROLLED' })
  })

  it('gives the token out again while it is good, and a new one when it has run out', async () => {
    const first = await net.invite('laptop')
    expect(await net.invite('laptop', { roleAttributes: ['staff'] })).toEqual(first)
    await net.elapse(30 * DAY_MS)
    const second = await net.invite('laptop')
    expect(second.jwt).not.toBe(first.jwt)
    await enroll(second.jwt)
  })

  it('invites one that has enrolled again where that is said: its certificate of before stays good beside the new one', async () => {
    const { id, jwt } = await net.invite('laptop')
    await enroll(jwt)
    const again = await net.invite('laptop', { again: true })
    expect(again).toMatchObject({ id, name: 'laptop' })
    await enroll(again.jwt)
    const { data } = await net.admin.call('GET /authenticators', { query: { filter: `identity = "${id}"` } })
    expect(data.map(({ method }) => method)).toEqual(['cert', 'cert'])
    // One that has not enrolled yet is invited as without it.
    expect(await net.invite('phone', { again: true })).toEqual(await net.invite('phone'))
  })

  it('invites a router again, whose certificate is void then', async () => {
    const { id, jwt } = await net.inviteRouter('r1')
    const token = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()).jti
    const csr = signingRequest(newKey(), `/CN=${id}`)
    await net.client().call('POST /enroll/erott', { body: { token, clientCsr: csr, serverCsr: csr } })
    await expect(net.inviteRouter('r1')).rejects.toMatchObject({ code: 'ENROLLMENT_IDENTITY_ALREADY_ENROLLED' })
    const again = await net.inviteRouter('r1', { again: true })
    expect([again.id, again.jwt === jwt]).toEqual([id, false])
    expect((await net.admin.call('GET /edge-routers/{id}', { params: { id } })).data.isVerified).toBe(false)
  })

  it('is good for as long as the option says, for an identity that was there before too', async () => {
    const enrollmentDurationMs = 30 * 60_000
    await using brief = await createTestController(await withSharedPki({ enrollmentDurationMs }))
    await brief.admin.call('POST /identities', { body: { name: 'known', type: 'Device', isAdmin: false } })
    const due = async (name: string) => Date.parse((await brief.invite(name)).expiresAt) - brief.clock.now()
    expect([await due('new'), await due('known')]).toEqual([enrollmentDurationMs, enrollmentDurationMs])
    await brief.elapse(DAY_MS)
    expect([await due('new'), await due('known')]).toEqual([enrollmentDurationMs, enrollmentDurationMs])
  })

  it('invites a router, with a configuration where it is said how it is reached', async () => {
    const { id, jwt, config } = await net.inviteRouter('r 1', { advertise: 'r1.example.org:3022' })
    expect(config).toContain('advertise: "r1.example.org:3022"')
    expect(config).toContain('sans: { dns: ["r1.example.org"] }')
    const { data } = await net.admin.call('GET /edge-routers/{id}', { params: { id } })
    expect(data).toMatchObject({ name: 'r 1', enrollmentJwt: jwt, isTunnelerEnabled: false })
    expect(await net.inviteRouter('r 1')).not.toHaveProperty('config')
    await net.elapse(30 * DAY_MS)
    expect((await net.inviteRouter('r 1')).jwt).not.toBe(jwt)
  })

  it.each([
    [{ roleAttribute: ['staff'] }, 'roleAttribute is no option of invite; roleAttributes is one'],
    [{ attributes: ['staff'] }, 'attributes is no option of invite; it takes '],
    [{ isAdmin: 'no' }, "invite: isAdmin takes a boolean, not 'no'"],
    [{ type: 'Router' }, "invite: type takes 'Device' or 'User' or 'Service', not 'Router'"],
  ])('tells a mistake in options: %j', async (options, message) => {
    await expect(net.invite('laptop', options as never)).rejects.toThrow(message)
    expect((await net.admin.call('GET /identities', { query: { filter: 'name = "laptop"' } })).data).toEqual([])
  })

  it('makes nothing of a name or an address that cannot be', async () => {
    await expect(net.invite('')).rejects.toMatchObject({ code: 'COULD_NOT_VALIDATE' })
    await expect(net.inviteRouter('r1', { advertise: 'r1' })).rejects.toThrow('host:port')
    expect((await net.admin.call('GET /edge-routers')).data).toEqual([])
  })
})
