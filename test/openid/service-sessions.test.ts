import { decodeProtectedHeader } from 'jose'
import { openControlListener } from 'portcullis/fabric'
import { TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { adminOf, CLIENT, create, MANAGEMENT } from '../contract/http/foreign-client.ts'
import { completeMfa } from '../support/mfa-enrollment.ts'
import { mount } from '../support/mount.ts'
import {
  bearing,
  begin,
  claimsOf,
  codeOf,
  exchangeCode,
  openIdTokens,
  proofKey,
  step,
  tokensIn,
} from '../support/openid.ts'
import { login, type Person, person } from '../support/people.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** Somebody who may dial a service; with routers that judge posture, or without. */
async function scene(hasRouters: boolean) {
  const mounted = await mount()
  if (hasRouters) await openControlListener(mounted.controller, { addresses: ['tls:controller.test:6262'] })
  const admin = await adminOf(mounted)
  const who = await person(mounted, admin, 'ann')
  const serviceId = await create(admin, '/services', { name: 'web', encryptionRequired: true })
  const other = await create(admin, '/services', { name: 'other', encryptionRequired: true })
  const policy = { name: 'dial', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#all'] }
  await create(admin, '/service-policies', { ...policy, serviceRoles: [`@${serviceId}`] })
  await create(admin, '/edge-routers', { name: 'router' })
  const meet = { name: 'meet', semantic: 'AnyOf', edgeRouterRoles: ['#all'] }
  await create(admin, '/edge-router-policies', { ...meet, identityRoles: ['#all'] })
  await create(admin, '/service-edge-router-policies', { ...meet, serviceRoles: ['#all'] })
  const tokens = await openIdTokens(mounted, who)
  const call = async (method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const request = { method, headers: { ...JSON_TYPE, ...headers }, ...sent }
    const response = await bearing(mounted, tokens.access_token, path, request)
    const text = await response.text()
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind.
    return { status: response.status, data: (text === '' ? {} : JSON.parse(text)).data as any }
  }
  const ask = (type: string, service = serviceId) => call('POST', `${CLIENT}/sessions`, { serviceId: service, type })
  return { mounted, admin, who, serviceId, other, tokens, call, ask }
}

describe('a service session of a bearer session, where routers judge it', () => {
  it('is a token and nothing that is stored', async () => {
    const { mounted, admin, who, serviceId, tokens, call, ask } = await scene(true)
    const { status, data } = await ask('Dial')
    const { z_asid } = claimsOf(tokens.access_token)
    expect([status, data]).toMatchObject([
      201,
      { serviceId, type: 'Dial', apiSessionId: z_asid, identityId: who.id, token: expect.stringMatching(/^ey/) },
    ])
    const claims = claimsOf(data.token)
    const issuedAt = Math.floor(mounted.clock.now() / 1000)
    expect(claims).toEqual({
      iss: 'https://controller.test:1280',
      sub: serviceId,
      aud: ['openziti'],
      iat: issuedAt,
      exp: issuedAt + 365 * 24 * 60 * 60,
      jti: data.id,
      z_asid,
      z_iid: who.id,
      z_t: 's',
      z_st: 'Dial',
      z_leg: false,
    })
    expect(decodeProtectedHeader(data.token)).toEqual(decodeProtectedHeader(tokens.access_token))
    expect((await call('GET', `${CLIENT}/sessions`)).data).toEqual([])
    expect((await admin.get('/sessions')).body.data).toEqual([])
    for (const method of ['GET', 'DELETE']) {
      expect((await call(method, `${CLIENT}/sessions/${data.id}`)).status).toBe(404)
      expect((await admin.send(method, `/sessions/${data.id}`)).status).toBe(404)
    }
    const routers = await call('GET', `${CLIENT}/services/${serviceId}/edge-routers`, undefined, {
      'session-token': data.token,
    })
    expect(routers.status).toBe(200)
  })

  it('is refused for what no policy allows, in the other direction, and after a revocation', async () => {
    const { mounted, admin, serviceId, other, call, ask } = await scene(true)
    expect((await ask('Dial', other)).status).toBe(404)
    expect((await ask('Bind')).status).toBe(400)
    const { data } = await ask('Dial')
    const revoked = await admin.post('/revocations', { id: data.id, type: 'JTI' })
    expect(revoked.status).toBe(201)
    const headers = { 'session-token': data.token }
    expect((await call('GET', `${CLIENT}/services/${serviceId}/edge-routers`, undefined, headers)).status).toBe(401)
    // Of another API session it is worth nothing.
    const { data: next } = await ask('Dial')
    const { access_token } = await openIdTokens(mounted)
    const path = `${CLIENT}/services/${serviceId}/edge-routers`
    expect((await bearing(mounted, access_token, path, { headers: { 'session-token': next.token } })).status).toBe(401)
  })
})

it('where the host runs a data plane of its own, it is judged and stored as any other, and ends with its session', async () => {
  const { admin, tokens, mounted, call, ask } = await scene(false)
  const { status, data } = await ask('Dial')
  expect(status).toBe(201)
  expect((await call('GET', `${CLIENT}/sessions/${data.id}`)).status).toBe(200)
  expect((await admin.get('/sessions')).body.data).toMatchObject([{ id: data.id }])
  const path = `${MANAGEMENT}/current-api-session`
  expect((await bearing(mounted, tokens.access_token, path, { method: 'DELETE' })).status).toBe(200)
  expect((await admin.get('/sessions')).body.data).toEqual([])
})

describe('the token that proves a one-time password to routers', () => {
  const PATH = `${CLIENT}/current-api-session/totp-token`

  /** A bearer session that passed TOTP, and the app. */
  async function withTotp() {
    const mounted = await mount()
    const who = await person(mounted, await adminOf(mounted), 'anna')
    const app = await completeMfa(mounted, who)
    const key = proofKey()
    const id = await begin(mounted, key)
    const { username, password }: Person = who
    await step(mounted, id, 'password', { username, password })
    await step(mounted, id, 'totp', { code: app.code() })
    const { access_token } = await tokensIn(await exchangeCode(mounted, await codeOf(mounted, id), key))
    mounted.clock.advance(30_000)
    const ask = (code: string) =>
      bearing(mounted, access_token, PATH, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ code }) })
    return { mounted, who, app, access_token, ask }
  }

  it('is signed for the session, and asks for a right and fresh code', async () => {
    const { mounted, who, app, access_token, ask } = await withTotp()
    expect((await ask('000000')).status).toBe(400)
    const code = app.code()
    const response = await ask(code)
    const { data } = (await response.json()) as { data: { token: string; issuedAt: string } }
    expect([response.status, Date.parse(data.issuedAt)]).toEqual([200, mounted.clock.now()])
    expect(claimsOf(data.token)).toEqual({
      iss: 'https://controller.test:1280',
      sub: who.id,
      aud: ['openziti'],
      iat: Math.floor(mounted.clock.now() / 1000),
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      z_asid: claimsOf(access_token).z_asid,
      z_t: 't',
    })
    expect((await ask(code)).status).toBe(400)
  })

  it('is for nobody without a second factor, nor for sessions of zt-session', async () => {
    const mounted = await mount()
    const { access_token } = await openIdTokens(mounted)
    const request = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ code: '000000' }) }
    const refused = await bearing(mounted, access_token, PATH, request)
    expect([refused.status, await refused.json()]).toMatchObject([409, { error: { code: 'MFA_NOT_ENROLLED' } }])
    const { token } = (await login(mounted, TEST_ADMIN)).body.data
    const older = await mounted.fetch(PATH, { ...request, headers: { ...JSON_TYPE, 'zt-session': token } })
    expect([older.status, await older.json()]).toMatchObject([400, { error: { code: 'INVALID_BACKING_TOKEN_TYPE' } }])
  })
})
