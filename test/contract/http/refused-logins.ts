import { createPkiMaterial } from 'portcullis'
import { TEST_ADMIN } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { disable, useAuthPolicy } from '../../support/identity-state.ts'
import { type Answer, adminOf, CLIENT, foreignClient } from './foreign-client.ts'
import type { Mount, MountedController } from './mount.ts'
import { enroll } from './scenario.ts'
import { newKey, selfSigned } from './signing-request.ts'

type Attempt = (mounted: MountedController) => Promise<Answer>

const YEAR_MS = 366 * 86_400_000

const byPassword: (change?: { username?: string; password?: string }) => Attempt = (change) => (mounted) =>
  foreignClient(mounted, CLIENT).post('/authenticate?method=password', { ...TEST_ADMIN, ...change })

const byCertificate = (mounted: MountedController, certificate?: { cert: string; key: string }) =>
  foreignClient(mounted, CLIENT, undefined, certificate).post('/authenticate?method=cert', {})

async function adminId(mounted: MountedController): Promise<string> {
  return (await (await adminOf(mounted)).get('/identities')).body.data[0].id
}

async function alice(mounted: MountedController) {
  return enroll(mounted, await adminOf(mounted), { name: 'alice' })
}

/** Every way to fail, whatever was wrong. */
const REFUSED: readonly [string, Attempt][] = [
  ['an unknown username', byPassword({ username: 'nobody' })],
  ['a username in another case', byPassword({ username: TEST_ADMIN.username.toUpperCase() })],
  ['a wrong password', byPassword({ password: `${TEST_ADMIN.password}!` })],
  ['a password in another case', byPassword({ password: TEST_ADMIN.password.toUpperCase() })],
  ['the name of a member that every object has', byPassword({ username: '__proto__' })],
  [
    'the password of a disabled identity',
    async (mounted) => {
      await disable(mounted.controller, await adminId(mounted))
      return byPassword()(mounted)
    },
  ],
  [
    'a password where the auth policy allows none',
    async (mounted) => {
      await useAuthPolicy(mounted.controller, await adminId(mounted), { primary: { updb: { allowed: false } } })
      return byPassword()(mounted)
    },
  ],
  ['no certificate', (mounted) => byCertificate(mounted)],
  [
    'a certificate that signed itself',
    (mounted) => {
      const key = newKey()
      return byCertificate(mounted, { key, cert: selfSigned(key) })
    },
  ],
  [
    'the certificate of a disabled identity',
    async (mounted) => {
      const { id, certificate } = await alice(mounted)
      await disable(mounted.controller, id)
      return byCertificate(mounted, certificate)
    },
  ],
  [
    'the certificate of a deleted identity',
    async (mounted) => {
      const { id, certificate } = await alice(mounted)
      expect((await (await adminOf(mounted)).delete(`/identities/${id}`)).status).toBe(200)
      return byCertificate(mounted, certificate)
    },
  ],
  [
    'a certificate where the auth policy allows none',
    async (mounted) => {
      const { id, certificate } = await alice(mounted)
      await useAuthPolicy(mounted.controller, id, { primary: { cert: { allowed: false } } })
      return byCertificate(mounted, certificate)
    },
  ],
  [
    'an expired certificate where the auth policy allows none',
    async (mounted) => {
      const { id, certificate } = await alice(mounted)
      await useAuthPolicy(mounted.controller, id, { primary: { cert: { allowExpiredCerts: false } } })
      expect((await byCertificate(mounted, certificate)).status).toBe(200)
      mounted.clock.advance(YEAR_MS)
      return byCertificate(mounted, certificate)
    },
  ],
]

/** Attacks A3 and A4: nobody learns from a refusal what was wrong. */
export function describeRefusedLogins(open: Mount): void {
  const expected = {
    error: {
      code: 'INVALID_AUTH',
      message: 'The authentication request failed',
      requestId: 'x',
    },
    meta: { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' },
  }

  it.each(REFUSED)('%s is refused like every other', async (_what, attempt) => {
    const answer = await attempt(await open())
    expect(answer.status).toBe(401)
    expect(answer.text.replace(/"requestId":"[^"]+"/, '"requestId":"x"')).toBe(`${JSON.stringify(expected)}\n`)
    const names = [...answer.headers.keys()].filter((name) => !HOP_HEADERS.has(name))
    expect(names).toEqual(['cache-control', 'content-type', 'server', 'x-content-type-options', 'ziti-instance-id'])
  })

  it('the certificate of another network is refused, though the identity has the same id', async () => {
    const here = await open()
    const request = { hosts: ['127.0.0.1'], trustDomain: 'portcullis.internal', now: here.clock.now() }
    const there = await open({ pki: await createPkiMaterial(request) })
    expect(there.controller.caPem).not.toBe(here.controller.caPem)
    const [mine, theirs] = [await alice(here), await alice(there)]
    expect(theirs.id).toBe(mine.id)
    expect((await byCertificate(here, mine.certificate)).status).toBe(200)
    expect((await byCertificate(here, theirs.certificate)).body.error.code).toBe('INVALID_AUTH')
  })

  it('an expired certificate is good where the auth policy allows it', async () => {
    const mounted = await open()
    const { certificate } = await alice(mounted)
    mounted.clock.advance(YEAR_MS)
    expect((await byCertificate(mounted, certificate)).status).toBe(200)
  })

  it('a certificate in a header is not looked at', async () => {
    const mounted = await open()
    const { certificate } = await alice(mounted)
    const header = Buffer.from(certificate.cert).toString('base64')
    const headers = {
      'x-client-certpem': header,
      'x-edge-router-proxy-request': '1',
      'x-forwarded-client-cert': header,
    }
    const answer = await foreignClient(mounted, CLIENT).send('POST', '/authenticate?method=cert', { body: {}, headers })
    expect(answer.body.error.code).toBe('INVALID_AUTH')
  })
}

/** Headers that a server adds for the connection, not for the answer. */
const HOP_HEADERS: ReadonlySet<string> = new Set(['connection', 'content-length', 'date', 'keep-alive'])
