import { describe, expect, it } from 'vitest'
import { expectError } from '../contract/http/errors.ts'
import { create, read } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { enrolled, network } from '../contract/http/scenario.ts'
import { newKey, signingRequest } from '../contract/http/signing-request.ts'
import { completeMfa } from '../support/mfa-enrollment.ts'
import { mount } from '../support/mount.ts'
import { apisOf, person } from '../support/people.ts'

const CSR = signingRequest(newKey())

/** Things of somebody else that an identity may hold the id of. */
async function belongingsOf(mounted: MountedController) {
  const { admin, alice: bob, serviceId } = await network(mounted)
  const sessionId = await create(bob.api, '/sessions', { serviceId, type: 'Dial' })
  const certificateId = await create(bob.api, '/current-api-session/certificates', { csr: CSR })
  const [{ id: authenticatorId }] = (await bob.api.get('/current-identity/authenticators')).body.data
  const { id: apiSessionId } = await read(bob.api, '/current-api-session')
  return { admin, bob, ids: { sessionId, certificateId, authenticatorId, apiSessionId, serviceId, identityId: bob.id } }
}

describe('A7: what belongs to somebody else', () => {
  const PATHS: readonly [string, string, object?][] = [
    ['GET', '/current-identity/authenticators/{id}'],
    [
      'PUT',
      '/current-identity/authenticators/{id}',
      { username: 'stolen', password: 'stolen-1', currentPassword: 'stolen-1' },
    ],
    ['PATCH', '/current-identity/authenticators/{id}', { password: 'stolen-1', currentPassword: 'stolen-1' }],
    ['GET', '/current-api-session/certificates/{id}'],
    ['DELETE', '/current-api-session/certificates/{id}'],
    ['GET', '/sessions/{id}'],
    ['DELETE', '/sessions/{id}'],
    ['GET', '/sessions/{id}/route-path'],
    ['GET', '/services/{id}'],
    ['GET', '/services/{id}/edge-routers'],
    ['GET', '/services/{id}/terminators'],
  ]

  it('is not found by its id, by any route of a client, and stays as it is', async () => {
    const mounted = await mount()
    const { admin, bob, ids } = await belongingsOf(mounted)
    const mallory = await apisOf(mounted, await person(mounted, admin, 'mallory'))
    const looks = () =>
      Promise.all(
        [
          `/sessions/${ids.sessionId}`,
          `/current-api-session/certificates/${ids.certificateId}`,
          `/current-identity/authenticators/${ids.authenticatorId}`,
          '/current-identity',
        ].map((path) => read(bob.api, path)),
      )
    const before = await looks()
    for (const [method, path, body] of PATHS) {
      for (const [kind, id] of Object.entries(ids)) {
        const answer = await mallory.api.send(method, path.replace('{id}', id), { body })
        expect([404, 405], `${method} ${path} with ${kind}: ${answer.text}`).toContain(answer.status)
      }
    }
    expect(await looks()).toEqual(before)
  })

  it('is in no list', async () => {
    const mounted = await mount()
    const { admin, ids } = await belongingsOf(mounted)
    const mallory = await apisOf(mounted, await person(mounted, admin, 'mallory'))
    for (const path of [
      '/current-identity/authenticators',
      '/current-api-session/certificates',
      '/sessions',
      '/services',
    ]) {
      const { text } = await mallory.api.get(path)
      for (const id of Object.values(ids)) expect(text, path).not.toContain(`"${id}"`)
    }
  })

  it('is not extended, confirmed or released by a certificate, a code or a session of one’s own', async () => {
    const mounted = await mount()
    const { admin, ids } = await belongingsOf(mounted)
    const mallory = await enrolled(mounted, admin, { name: 'mallory' })
    const extend = `/current-identity/authenticators/${ids.authenticatorId}`
    for (const [path, body] of [
      [`${extend}/extend`, { clientCertCsr: CSR }],
      [`${extend}/extend-verify`, { clientCert: mallory.certificate.cert }],
    ] as const) {
      expect([401, 404]).toContain((await mallory.api.post(path, body)).status)
    }
    const victim = await completeMfa(mounted, await person(mounted, admin, 'victim'))
    expectError(
      await mallory.api.post('/authenticate/mfa', { code: victim.code() }),
      'MFA_NOT_ENROLLED',
      undefined,
      409,
    )
    expect((await mallory.api.get('/current-identity/mfa')).status).toBe(404)
  })
})
