import { X509Certificate } from 'node:crypto'
import { expect, it } from 'vitest'
import { adminOf, CLIENT, foreignClient } from '../contract/http/foreign-client.ts'
import type { ClientCertificate } from '../contract/http/mount.ts'
import { enroll } from '../contract/http/scenario.ts'
import { newKey, signingRequest } from '../contract/http/signing-request.ts'
import { mount } from '../support/mount.ts'
import {
  bearing,
  begin,
  claimsOf,
  codeOf,
  exchangeCode,
  oauthError,
  proofKey,
  refresh,
  step,
  tokensIn,
} from '../support/openid.ts'
import { person } from '../support/people.ts'

const DENIED = [400, 'access_denied', 'peer certificate fingerprint does not match token']

/** SHA-1 of a certificate's DER, as tokens name it. */
function fingerprintOf({ cert }: Pick<ClientCertificate, 'cert'>): string {
  return new X509Certificate(cert).fingerprint.replaceAll(':', '').toLowerCase()
}

async function open() {
  const mounted = await mount()
  const admin = await adminOf(mounted)
  const device = await enroll(mounted, admin, { name: 'device' })
  const other = await enroll(mounted, admin, { name: 'other' })
  return { mounted, admin, device, other }
}

it('13: tokens are bound to the certificate that logged in, not to one that was there before or besides', async () => {
  const { mounted, device, other } = await open()
  const key = proofKey()
  const id = await begin(mounted, key)
  expect((await step(mounted, id, 'cert', {}, {}, device.certificate)).status).toBe(302)
  expect((await step(mounted, id, 'cert', {}, {}, other.certificate)).status).toBe(302)
  const tokens = await tokensIn(await exchangeCode(mounted, await codeOf(mounted, id), key))
  const fingerprint = fingerprintOf(other.certificate)
  expect(claimsOf(tokens.access_token)).toMatchObject({
    sub: other.id,
    amr: ['cert'],
    z_cfs: [fingerprint],
    z_acf: fingerprint,
    z_ice: true,
    z_cae: true,
  })
})

it('a bound token is good with its certificate alone, for the APIs and for the token endpoint', async () => {
  const { mounted, device, other } = await open()
  const key = proofKey()
  const id = await begin(mounted, key)
  await step(mounted, id, 'cert', {}, {}, device.certificate)
  const tokens = await tokensIn(await exchangeCode(mounted, await codeOf(mounted, id), key))
  const ask = (certificate?: ClientCertificate) => bearing(mounted, tokens.access_token, undefined, {}, certificate)
  expect((await ask(device.certificate)).status).toBe(200)
  for (const certificate of [undefined, other.certificate]) {
    const refused = await ask(certificate)
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toContain('realm="openziti-oidc" error="invalid"')
    expect(await oauthError(await refresh(mounted, tokens.refresh_token, {}, certificate))).toEqual(DENIED)
  }
  expect((await refresh(mounted, tokens.refresh_token, {}, device.certificate)).status).toBe(200)
})

it('a signing request with the login binds the tokens to the certificate that comes with them', async () => {
  const { mounted, admin, device } = await open()
  const who = await person(mounted, admin, 'ann')
  const [key, own] = [proofKey(), newKey()]
  const id = await begin(mounted, key)
  const csrPem = signingRequest(own, '/CN=whatever')
  const { username, password } = who
  expect((await step(mounted, id, 'password', { username, password, csrPem })).status).toBe(302)
  const tokens = await tokensIn(await exchangeCode(mounted, await codeOf(mounted, id), key))
  const cert = String(tokens.session_cert)
  const { z_cfs, z_asid } = claimsOf(tokens.access_token)
  expect(z_cfs).toEqual([fingerprintOf({ cert })])
  const leaf = new X509Certificate(cert)
  expect(leaf.subject).toBe(`CN=${who.id}`)
  expect(leaf.subjectAltName).toContain(`/identity/${who.id}/apiSession/${z_asid}/apiSessionCertificate/`)
  expect((await bearing(mounted, tokens.access_token)).status).toBe(401)
  const held = { cert, key: own }
  expect((await bearing(mounted, tokens.access_token, undefined, {}, held)).status).toBe(200)

  const next = newKey()
  const csr_pem = signingRequest(next)
  const renewed = await tokensIn(await refresh(mounted, tokens.refresh_token, { csr_pem }, held))
  const further = { cert: String(renewed.session_cert), key: next }
  expect(claimsOf(renewed.access_token).z_cfs).toEqual([fingerprintOf(further)])
  // Every certificate that the network issued for the session proves it to the APIs, the named one alone to refresh.
  expect((await bearing(mounted, renewed.access_token, undefined, {}, further)).status).toBe(200)
  expect((await bearing(mounted, renewed.access_token, undefined, {}, held)).status).toBe(200)
  expect((await bearing(mounted, renewed.access_token, undefined, {}, device.certificate)).status).toBe(401)
  expect(await oauthError(await refresh(mounted, renewed.refresh_token, {}, held))).toEqual(DENIED)
})

it('a signing request that cannot be processed fails the exchange, and a plain bearer token gets no certificate', async () => {
  const { mounted, admin } = await open()
  const who = await person(mounted, admin, 'ann')
  const { username, password } = who
  const key = proofKey()
  const id = await begin(mounted, key)
  expect((await step(mounted, id, 'password', { username, password, csrPem: 'no request' })).status).toBe(302)
  const code = await codeOf(mounted, id)
  const [status, error, description] = await oauthError(await exchangeCode(mounted, code, key))
  expect([status, error]).toEqual([400, 'invalid_request'])
  expect(description).toContain('invalid CSR: COULD_NOT_PROCESS_CSR')
  const again = await begin(mounted, key)
  await step(mounted, again, 'password', { username, password })
  const tokens = await tokensIn(await exchangeCode(mounted, await codeOf(mounted, again), key))
  const plain = await tokensIn(await refresh(mounted, tokens.refresh_token, { csr_pem: signingRequest(newKey()) }))
  expect(plain).not.toHaveProperty('session_cert')
})

it('no certificate, or one that nobody trusts, logs nobody in', async () => {
  const { mounted } = await open()
  const id = await begin(mounted, proofKey())
  const refused = await step(mounted, id, 'cert')
  expect([refused.status, await refused.json()]).toMatchObject([401, { code: 'INVALID_AUTH' }])
  expect((await foreignClient(mounted, CLIENT).get('/current-identity')).status).toBe(401)
})
