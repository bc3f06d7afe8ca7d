import { expect } from 'vitest'
import { expectDone, expectError } from '../../contract/http/errors.ts'
import { adminOf, CLIENT, create, foreignClient, read } from '../../contract/http/foreign-client.ts'
import { enrolled } from '../../contract/http/scenario.ts'
import { newKey, signingRequest } from '../../contract/http/signing-request.ts'
import { clientOf, newAuthority, registered } from '../../support/third-party.ts'
import { after, aliceOf, certificateLogin, HOUR_MS, type Row, type Stage } from './stage.ts'

/** A router that has enrolled. */
async function routerOf({ mounted, admin }: Stage) {
  const id = await create(admin, '/edge-routers', { name: 'router' })
  const key = newKey()
  const csr = signingRequest(key, `/CN=${id}`)
  const anybody = foreignClient(mounted, CLIENT)
  const enroll = (token: string) => anybody.post('/enroll/erott', { token, clientCsr: csr, serverCsr: csr })
  const first = (await read(admin, `/edge-routers/${id}`)).enrollmentToken
  const { cert } = (await enroll(first)).body.data
  return { id, key, cert, csr, enroll }
}

/** The sources of credentials, and what they turn into: CAs, enrollments, authenticators, certificates. */
export const CREDENTIALS: readonly Row[] = [
  [
    'CA',
    'unverified',
    'verify with a certificate that it signed for its token',
    'verified',
    async (stage) => {
      const authority = await newAuthority('third party')
      const id = await registered(stage.admin, authority, {}, false)
      const anybody = await clientOf(authority, 'device')
      const enroll = () => foreignClient(stage.mounted, CLIENT, undefined, anybody).post('/enroll?method=ca')
      expect((await enroll()).status).not.toBe(200)
      const { verificationToken, isVerified } = await read(stage.admin, `/cas/${id}`)
      expect(isVerified).toBe(false)
      const verify = async (commonName: string) => {
        const { cert: body } = await clientOf(authority, commonName)
        return stage.admin.send('POST', `/cas/${id}/verify`, { body, headers: { 'content-type': 'text/plain' } })
      }
      expectError(await verify('another'), 'INVALID_COMMON_NAME')
      expectDone(await verify(verificationToken))
      expect((await read(stage.admin, `/cas/${id}`)).isVerified).toBe(true)
      expect((await enroll()).status).toBe(200)
      expect(await certificateLogin(stage, anybody)).toBe(200)
    },
  ],
  ...(['expired', 'unexpired'] as const).map(
    (state): Row => [
      'Enrollment',
      state,
      'refresh',
      'unexpired, with another token',
      async (stage) => {
        const body = { name: 'alice', type: 'User', isAdmin: false, enrollment: { ott: true } }
        const { ott } = (await read(stage.admin, `/identities/${await create(stage.admin, '/identities', body)}`))
          .enrollment
        if (state === 'expired') stage.mounted.clock.advance(4 * HOUR_MS)
        const admin = await adminOf(stage.mounted)
        const expiresAt = after(stage, HOUR_MS)
        expect((await admin.post(`/enrollments/${ott.id}/refresh`, { expiresAt })).status).toBe(200)
        const fresh = await read(admin, `/enrollments/${ott.id}`)
        expect(fresh.jwt).not.toBe(ott.jwt)
        const enroll = (token: string) =>
          foreignClient(stage.mounted, CLIENT).post('/enroll/ott', { token, clientCsr: signingRequest(newKey()) })
        expect((await enroll(ott.token)).status).toBe(400)
        expect((await enroll(fresh.token)).status).toBe(200)
      },
    ],
  ),
  [
    'Enrollment',
    'outstanding',
    'create another of the same method',
    'unchanged, 409',
    async (stage) => {
      const identityId = await create(stage.admin, '/identities', { name: 'alice', type: 'User', isAdmin: false })
      const body = { identityId, method: 'ott', expiresAt: after(stage, HOUR_MS) }
      const id = await create(stage.admin, '/enrollments', body)
      const before = await read(stage.admin, `/enrollments/${id}`)
      expect((await stage.admin.post('/enrollments', body)).status).toBe(409)
      expect(await read(stage.admin, `/enrollments/${id}`)).toEqual(before)
    },
  ],
  [
    'Edge router',
    'enrolled',
    're-enroll',
    'awaiting enrollment',
    async (stage) => {
      const { presence } = stage.mounted.controller
      const { id, enroll } = await routerOf(stage)
      const { fingerprint } = await read(stage.admin, `/edge-routers/${id}`)
      expect((await presence.routerConnected(id, fingerprint)).accepted).toBe(true)
      const released: string[] = []
      presence.onDisconnect((routerId) => void released.push(routerId))
      expectDone(await stage.admin.send('POST', `/edge-routers/${id}/re-enroll`))
      const waiting = await read(stage.admin, `/edge-routers/${id}`)
      expect(waiting).toMatchObject({ isVerified: false, enrollmentToken: expect.any(String) })
      expect(waiting.fingerprint ?? null).toBeNull()
      expect(released).toEqual([id])
      expect((await presence.routerConnected(id, fingerprint)).accepted).toBe(false)
      expectDone(await stage.admin.send('POST', `/edge-routers/${id}/re-enroll`))
      expect((await enroll(waiting.enrollmentToken)).status).toBe(400)
      const replaced = await read(stage.admin, `/edge-routers/${id}`)
      expect((await enroll(replaced.enrollmentToken)).status).toBe(200)
      expect((await read(stage.admin, `/edge-routers/${id}`)).isVerified).toBe(true)
    },
  ],
  ...(['updb', 'ott', 'ottca'] as const).map(
    (method): Row => [
      'Authenticator',
      'existing',
      'revert to enrollment',
      `removed, with an ${method} enrollment`,
      async (stage) => {
        const identityId = await {
          updb: async () => (await aliceOf(stage)).id,
          ott: async () => (await enrolled(stage.mounted, stage.admin, { name: 'device' })).id,
          ottca: async () => {
            const authority = await newAuthority('third party')
            await registered(stage.admin, authority)
            const device = foreignClient(stage.mounted, CLIENT, undefined, await clientOf(authority, 'device'))
            expect((await device.post('/enroll?method=ca')).status).toBe(200)
            const { identityId: id } = (await stage.admin.get('/authenticators?filter=method="cert"')).body.data[0]
            return id
          },
        }[method]()
        const [{ id }] = (await stage.admin.get(`/identities/${identityId}/authenticators`)).body.data
        const answer = await stage.admin.post(`/authenticators/${id}/re-enroll`, { expiresAt: after(stage, HOUR_MS) })
        expect(answer.status).toBe(201)
        expectError(await stage.admin.get(`/authenticators/${id}`), 'NOT_FOUND')
        expect(await read(stage.admin, `/enrollments/${answer.body.data.id}`)).toMatchObject({ identityId, method })
      },
    ],
  ),
  [
    'Client certificate',
    'current, then new returned',
    'extend, then extend-verify',
    'both good, then the new one alone',
    async (stage) => {
      const { api, certificate } = await enrolled(stage.mounted, stage.admin, { name: 'device' })
      const [{ id }] = (await api.get('/current-identity/authenticators')).body.data
      const path = `/current-identity/authenticators/${id}`
      const key = newKey()
      const extended = await api.post(`${path}/extend`, { clientCertCsr: signingRequest(key) })
      expect(extended.status).toBe(200)
      const { clientCert } = extended.body.data
      expect(await certificateLogin(stage, certificate)).toBe(200)
      expectDone(await api.post(`${path}/extend-verify`, { clientCert }))
      expect(await certificateLogin(stage, certificate)).toBe(401)
      expect(await certificateLogin(stage, { cert: clientCert, key })).toBe(200)
    },
  ],
  [
    'Router certificates',
    'current',
    'extend',
    'new, the previous one is void',
    async (stage) => {
      const { key, cert, csr } = await routerOf(stage)
      const requests = { certCsr: csr, serverCertCsr: csr }
      const extend = (pem: string) =>
        foreignClient(stage.mounted, CLIENT, undefined, { cert: pem, key }).post('/enroll/extend/router', requests)
      expectError(await foreignClient(stage.mounted, CLIENT).post('/enroll/extend/router', requests), 'UNAUTHORIZED')
      const next = await extend(cert)
      expect(next.status).toBe(200)
      expectError(await extend(cert), 'UNAUTHORIZED')
      expect((await extend(next.body.data.cert)).status).toBe(200)
    },
  ],
]
