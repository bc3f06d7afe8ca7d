import { describe, expect, it } from 'vitest'
import { adminOf, create, read } from '../contract/http/foreign-client.ts'
import { identityProvider } from '../support/jwks-server.ts'
import { mount } from '../support/mount.ts'
import { bearing, begin, claimsOf, codeOf, exchangeCode, proofKey, step, tokensIn } from '../support/openid.ts'
import { authPolicy, person } from '../support/people.ts'

async function scene() {
  const mounted = await mount({ allowPrivateJwks: true })
  const admin = await adminOf(mounted)
  const idp = await identityProvider()
  const fields = { name: 'idp', enabled: true, audience: 'network', jwksEndpoint: idp.endpoint }
  const signer = await create(admin, '/external-jwt-signers', { ...fields, issuer: idp.issuer })
  const who = await person(mounted, admin, 'ann', { externalId: 'ann@example' })
  const key = proofKey()
  const id = await begin(mounted, key, { method: 'ext-jwt' })
  const logIn = (authorization: string | undefined, headers: object = {}) =>
    step(mounted, id, 'ext-jwt', {}, { ...(authorization && { authorization }), ...headers })
  const own = () => idp.token(mounted.clock.now(), { sub: who.id })
  return { mounted, admin, idp, signer, who, key, id, logIn, own }
}

describe('an external JWT as primary login', () => {
  it('logs in, by form or JSON, and is told by the tokens', async () => {
    const { mounted, signer, who, key, id, logIn, own } = await scene()
    expect((await logIn(`Bearer ${await own()}`)).status).toBe(302)
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${await own()}` }
    const body = JSON.stringify({ sdkInfo: { type: 'an-sdk' }, envInfo: { os: 'linux' } })
    const json = await mounted.fetch(`/oidc/login/ext-jwt?id=${id}`, { method: 'POST', headers, body })
    expect(json.status).toBe(302)
    const { access_token, id_token } = await tokensIn(await exchangeCode(mounted, await codeOf(mounted, id), key))
    expect(claimsOf(access_token)).toMatchObject({
      sub: who.id,
      amr: ['ext-jwt'],
      z_authid: `extJwtId:${signer}`,
      z_eid: 'ann@example',
      z_cfs: null,
      z_sdk: { type: 'an-sdk' },
      z_env: { os: 'linux' },
    })
    expect(claimsOf(id_token)).toMatchObject({ sub: who.id, name: 'ann', z_eid: 'ann@example', z_ia: false })
    expect((await bearing(mounted, access_token)).status).toBe(200)
  })

  it('brings role attributes of its claims with the session, and takes them with it', async () => {
    const { mounted, admin, idp, signer, who, key, id, logIn } = await scene()
    await admin.send('PATCH', `/external-jwt-signers/${signer}`, { body: { attributeClaimsSelector: '/groups' } })
    const attributes = async () => (await read(admin, `/identities/${who.id}`)).claimAttributes
    await logIn(`Bearer ${await idp.token(mounted.clock.now(), { sub: who.id, groups: ['staff'] })}`)
    const code = await codeOf(mounted, id)
    expect(await attributes()).toBeUndefined()
    const { access_token } = await tokensIn(await exchangeCode(mounted, code, key))
    expect(await attributes()).toEqual(['staff'])
    const headers = { authorization: `Bearer ${access_token}` }
    await mounted.fetch('/edge/client/v1/current-api-session', { method: 'DELETE', headers })
    expect(await attributes()).toBeUndefined()
  })

  it('is refused with the challenge that says what was wrong', async () => {
    const { mounted, admin, idp, signer, who, logIn, own } = await scene()
    const now = mounted.clock.now()
    const seconds = Math.floor(now / 1000)
    const challenge = (error: string, text: string) =>
      `Bearer realm="openziti-primary-ext-jwt" error="${error}" error_description="${text}" id="${signer}" issuer="${idp.issuer}"`
    const missing = challenge('missing', 'no matching token was provided')
    const expired = challenge('expired', 'token expired')
    const invalid = challenge('invalid', 'token is invalid')
    const good = await own()
    const forbidden = authPolicy('forbidden', {}, {}, { allowed: false })
    const authPolicyId = await create(admin, '/auth-policies', forbidden)
    const other = await person(mounted, admin, 'ben', { authPolicyId })
    const rows: readonly (readonly [string, string | undefined, string])[] = [
      ['nothing', undefined, missing],
      ['Basic', 'Basic YTpi', missing],
      ['lower case', `bearer ${good}`, missing],
      ['no token', 'Bearer text', missing],
      ['an unknown issuer', `Bearer ${await idp.token(now, { iss: 'https://other.test', sub: who.id })}`, missing],
      ['nobody', `Bearer ${await idp.token(now, { sub: 'nobody' })}`, missing],
      ['a policy that forbids it', `Bearer ${await idp.token(now, { sub: other.id })}`, missing],
      ['an expired one', `Bearer ${await idp.token(now, { sub: who.id, exp: seconds - 1 })}`, expired],
      ['another audience', `Bearer ${await idp.token(now, { sub: who.id, aud: 'others' })}`, invalid],
      ['an unknown key', `Bearer ${await idp.token(now, { sub: who.id }, { kid: 'other' })}`, invalid],
      ['a bad signature', `Bearer ${good.slice(0, -6)}AAAAAA`, invalid],
    ]
    for (const [name, authorization, expected] of rows) {
      const response = await logIn(authorization)
      const { code } = (await response.json()) as { readonly code: string }
      expect([name, response.status, code, response.headers.get('www-authenticate')]).toEqual([
        name,
        401,
        'UNAUTHORIZED',
        expected,
      ])
    }
    expect((await logIn(`Bearer ${good}`)).status).toBe(302)
  })

  it('beside a pending factor is answered with what is missing, and the secondary challenge', async () => {
    const { mounted, admin, idp, own } = await scene()
    const second = await create(admin, '/external-jwt-signers', {
      name: 'second',
      enabled: true,
      issuer: 'https://second.test',
      audience: 'network',
      jwksEndpoint: idp.endpoint,
      clientId: 'cid1',
      externalAuthUrl: 'https://ext.test/auth',
      scopes: ['openid', 'email'],
    })
    const policy = authPolicy('both', {}, { requireTotp: true, requireExtJwtSigner: second })
    const authPolicyId = await create(admin, '/auth-policies', policy)
    const { username, password } = await person(mounted, admin, 'cay', { authPolicyId })
    const id = await begin(mounted, proofKey())
    const login = await step(mounted, id, 'password', { username, password })
    expect([login.status, login.headers.get('totp-required')]).toEqual([200, 'true'])
    expect(login.headers.get('www-authenticate')).toBe(
      `Bearer realm="openziti-secondary-ext-jwt" error="missing" error_description="no matching token was provided" id="${second}" issuer="https://second.test"`,
    )
    // Exactly these members, in this order, as deployed clients read them.
    const queries =
      '{"authQueries":[{"format":"numeric","httpMethod":"POST","httpUrl":"./oidc/login/totp","maxLength":8,"minLength":6,"provider":"ziti","scopes":null,"typeId":"TOTP"},' +
      `{"clientId":"cid1","httpUrl":"https://ext.test/auth","id":"${second}","provider":"url","scopes":["email","openid"],"typeId":"EXT-JWT"}]}`
    expect(await login.text()).toBe(queries)
    const listed = await mounted.fetch(`/oidc/login/auth-queries?id=${id}`)
    expect([listed.headers.get('totp-required'), listed.headers.get('www-authenticate')]).toEqual(['true', null])
    expect((await listed.text()).trim()).toBe(queries)
    // A token of the primary signer proves nothing here.
    const other = await step(
      mounted,
      id,
      'password',
      { username, password },
      { authorization: `Bearer ${await own()}` },
    )
    expect(other.headers.get('www-authenticate')).toContain('error="missing"')
  })
})
