import { describe, expect, it } from 'vitest'
import { adminOf, CLIENT, create, foreignClient, read } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { externalProvider } from '../support/external-provider.ts'
import { mount } from '../support/mount.ts'
import { begin, callback, claimsOf, codeOf, exchangeCode, proofKey, step, tokensIn } from '../support/openid.ts'
import { apisOf, authPolicy, person } from '../support/people.ts'

const PAGE = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

/** A controller with a signer at which people log in by a browser, and somebody who is known by it. */
async function scene(change: Readonly<Record<string, unknown>> = {}) {
  const mounted = await mount({ allowPrivateJwks: true })
  const admin = await adminOf(mounted)
  const external = await externalProvider(() => mounted.clock.now())
  const signer = await create(admin, '/external-jwt-signers', { ...external.signer, ...change })
  const who = await person(mounted, admin, 'ann')
  external.state.subject = who.id
  return { mounted, admin, external, signer, who }
}

/** Follows the link to a signer; answers where the browser is sent, and the cookie that it keeps. */
async function leave(mounted: MountedController, id: string, signer: string) {
  const response = await mounted.fetch(`/oidc/login/signer?authRequestID=${id}&signer=${signer}`)
  expect(response.status).toBe(302)
  const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  return { location: response.headers.get('location') ?? '', cookie, response }
}

function comeBack(mounted: MountedController, back: string, cookie: string): Promise<Response> {
  const { pathname, search } = new URL(back)
  return mounted.fetch(`${pathname}${search}`, { headers: { cookie } })
}

/** The id of the auth request with which a browser goes on. */
const idIn = (response: Response) => new URL(response.headers.get('location') ?? '').searchParams.get('id') ?? ''
const problemIn = async (response: Response) => /role="alert">([^<]+)</.exec(await response.text())?.[1]

describe('external JWT signers on the login page', () => {
  it('offers those that people can log in at by a browser, by name', async () => {
    const { mounted, admin, external, signer } = await scene()
    const other = (name: string, change: object) =>
      create(admin, '/external-jwt-signers', { ...external.signer, name, issuer: `https://${name}.test`, ...change })
    const named = await create(admin, '/external-jwt-signers', {
      ...external.signer,
      name: '<b>Another</b>',
      issuer: 'https://another.test',
    })
    const alike = await create(admin, '/external-jwt-signers', {
      ...external.signer,
      name: 'Corporate login\u200b\u202e',
      issuer: 'https://alike.test',
    })
    await other('off', { enabled: false })
    await other('no-address', { externalAuthUrl: null })
    await other('no-client', { clientId: null })
    const id = await begin(mounted, proofKey())
    const page = await (await mounted.fetch(`/oidc/login/username?authRequestID=${id}`)).text()
    const links = [...page.matchAll(/<a class="button other" href="([^"]+)">([^<]+)<\/a>/g)]
    expect(links.map(([, href, text]) => [href, text])).toEqual([
      [`/oidc/login/signer?authRequestID=${id}&amp;signer=${named}`, 'Log in with &lt;b&gt;Another&lt;/b&gt;'],
      [`/oidc/login/signer?authRequestID=${id}&amp;signer=${signer}`, 'Log in with Corporate login'],
      [`/oidc/login/signer?authRequestID=${id}&amp;signer=${alike}`, 'Log in with Corporate login\\u200b\\u202e'],
    ])
  })

  it('shows those that administrators trust, and some of each delegate, however many one delegate makes', async () => {
    const { mounted, admin, external, signer } = await scene()
    const makerOf = async (name: string) => {
      const who = await person(mounted, admin, name, { permissions: ['external-jwt-signer'] })
      const { management } = await apisOf(mounted, who)
      return (signerName: string) =>
        create(management, '/external-jwt-signers', {
          ...external.signer,
          name: signerName,
          issuer: `https://${signerName}.test/${'x'.repeat(500)}`,
        })
    }
    const [crowd, other] = [await makerOf('crowd'), await makerOf('other')]
    for (let n = 0; n < 25; n += 1) await crowd(`AAA-${n}`)
    const late = await other('AAA-other')
    const id = await begin(mounted, proofKey())
    const page = await (await mounted.fetch(`/oidc/login/username?authRequestID=${id}`)).text()
    const named = [...page.matchAll(/>Log in with ([^<]+)<\/a>/g)].map(([, name]) => name)
    expect(named).toEqual(['Corporate login', 'AAA-0', 'AAA-1', 'AAA-2', 'AAA-other'])

    const anybody = foreignClient(mounted, CLIENT)
    const [first] = await read(anybody, '/external-jwt-signers')
    expect(first.id).toBe(signer)
    const refused = await anybody.post('/authenticate?method=ext-jwt', {})
    const challenge = refused.headers.get('www-authenticate') ?? ''
    expect(challenge).toContain(signer)
    expect(challenge).toContain(late)
    expect(challenge.length).toBeLessThan(8192)

    // One that a delegate changed is its own from then on; one that an administrator changed is nobody's.
    const crowding = await read(anybody, '/external-jwt-signers?limit=500&filter=name%20contains%20%22AAA-24%22')
    expect((await admin.patch(`/external-jwt-signers/${crowding[0].id}`, { audience: 'changed' })).status).toBe(200)
    const again = await (await mounted.fetch(`/oidc/login/username?authRequestID=${id}`)).text()
    expect(again).toContain('Log in with AAA-24')
  })

  it.each(['ACCESS', 'ID'])('logs in by the %s token of the signer, there and back', async (targetToken) => {
    const { mounted, external, signer, who } = await scene({ targetToken })
    const key = proofKey()
    const id = await begin(mounted, key)
    const { location, cookie, response } = await leave(mounted, id, signer)
    expect(Object.fromEntries(new URL(location).searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'portcullis',
      redirect_uri: `https://controller.test:1280/oidc/login/signer/${signer}`,
      scope: 'openid email',
      code_challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      code_challenge_method: 'S256',
      nonce: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect(location.startsWith(`${external.base}/authorize?`)).toBe(true)
    expect(response.headers.get('set-cookie')).toMatch(
      /^__Host-portcullis-login=[0-9a-f-]{36}; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/,
    )
    const back = await comeBack(mounted, external.visit(location), cookie)
    expect(back.status).toBe(302)
    const tokens = await tokensIn(await exchangeCode(mounted, await codeOf(mounted, idIn(back)), key))
    expect(claimsOf(tokens.access_token)).toMatchObject({
      sub: who.id,
      amr: ['ext-jwt'],
      z_authid: `extJwtId:${signer}`,
    })
  })

  it('asks for the token that the auth policy demands beside a password, and takes it for nobody else', async () => {
    const { mounted, admin, external, signer } = await scene()
    const policy = authPolicy('signed', {}, { requireExtJwtSigner: signer })
    const who = await person(mounted, admin, 'ben', {
      authPolicyId: await create(admin, '/auth-policies', policy),
    })
    const key = proofKey()
    const id = await begin(mounted, key)
    const { username, password } = who
    const pending = await (await step(mounted, id, 'username', { username, password }, PAGE)).text()
    const link = /href="\/oidc\/login\/signer\?authRequestID=([0-9a-f-]+)&amp;signer=/.exec(pending)
    expect(pending).toContain('>Continue with Corporate login</a>')
    const current = link?.[1] ?? ''
    expect(current).not.toBe(id)
    // Somebody else is logged in at the signer.
    const first = await leave(mounted, current, signer)
    const refused = await comeBack(mounted, external.visit(first.location), first.cookie)
    expect(refused.status).toBe(401)
    expect(await problemIn(refused)).toBe('No person with that login may log in here.')
    expect((await callback(mounted, current)).get('error')).toBe('interaction_required')
    external.state.subject = who.id
    const again = await leave(mounted, current, signer)
    const back = await comeBack(mounted, external.visit(again.location), again.cookie)
    const tokens = await tokensIn(await exchangeCode(mounted, await codeOf(mounted, idIn(back)), key))
    expect(claimsOf(tokens.access_token)).toMatchObject({ sub: who.id, amr: ['password', `ejs:${signer}`] })
  })

  it('tells people that a signer without an address cannot be asked by the page', async () => {
    const { mounted, admin, signer } = await scene({ externalAuthUrl: null })
    const policy = authPolicy('signed', {}, { requireExtJwtSigner: signer })
    const authPolicyId = await create(admin, '/auth-policies', policy)
    const { username, password } = await person(mounted, admin, 'ben', { authPolicyId })
    const id = await begin(mounted, proofKey())
    const page = await (await step(mounted, id, 'username', { username, password }, PAGE)).text()
    expect(page).toContain('which this page cannot get for you. Log in by an application that can.')
  })
})

describe('a login at a signer is refused', () => {
  const OVER = 'This login is over, or was begun in another browser. Go back to the application and log in again.'
  const REFUSED = 'Corporate login did not log you in here.'

  it('for another browser, another signer, another answer, and the second time', async () => {
    const { mounted, admin, external, signer } = await scene()
    const other = await create(admin, '/external-jwt-signers', {
      ...external.signer,
      name: 'Another',
      issuer: 'https://another.test',
    })
    const id = await begin(mounted, proofKey())
    const { location, cookie } = await leave(mounted, id, signer)
    const back = external.visit(location)
    const bad: readonly (readonly [string, string])[] = [
      [back, ''],
      [back, '__Host-portcullis-login=00000000-0000-4000-8000-000000000000'],
      // A mix-up: the answer of one signer arrives as that of another one.
      [back.replace(`/signer/${signer}?`, `/signer/${other}?`), cookie],
      [back.replace(/state=[^&]+/, `state=${id}.guessed`), cookie],
      [back.replace(/state=[^&]+/, 'state='), cookie],
    ]
    for (const [url, sent] of bad) {
      const response = await comeBack(mounted, url, sent)
      expect([response.status, await problemIn(response)]).toEqual([400, OVER])
    }
    expect(external.state.redeemed).toBe(0)
    expect((await comeBack(mounted, back, cookie)).status).toBe(302)
    expect((await comeBack(mounted, back, cookie)).status).toBe(400)
    expect(external.state.redeemed).toBe(1)
  })

  it.each<readonly [string, (back: string) => string]>([
    ['a code of nobody', (back) => back.replace(/code=[^&]+/, 'code=unknown')],
    ['the code of another login', (back) => back],
    ['an error instead of a code', (back) => back.replace(/code=[^&]+/, 'error=access_denied')],
    ['the name of another issuer', (back) => back.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.test')],
  ])('with %s', async (what, changed) => {
    const { mounted, external, signer } = await scene()
    const id = await begin(mounted, proofKey())
    const { location, cookie } = await leave(mounted, id, signer)
    const own = external.visit(location)
    const elsewhere = external.visit(location.replace(/code_challenge=[^&]+/, `code_challenge=${'A'.repeat(43)}`))
    const code = new URL(elsewhere).searchParams.get('code') ?? ''
    const back = what === 'the code of another login' ? own.replace(/code=[^&]+/, `code=${code}`) : own
    const response = await comeBack(mounted, changed(back), cookie)
    expect([response.status, await problemIn(response)]).toEqual([401, REFUSED])
    expect((await callback(mounted, id)).get('error')).toBe('interaction_required')
  })

  it.each<readonly [string, object, object, string]>([
    ['a token of another issuer', {}, { iss: 'https://evil.test' }, REFUSED],
    ['a token for another audience', {}, { aud: 'others' }, REFUSED],
    ['an ID token that answers another request', { targetToken: 'ID' }, { nonce: 'another' }, REFUSED],
    ['somebody whom nobody knows', {}, { sub: 'stranger' }, 'No person with that login may log in here.'],
  ])('with %s', async (_what, change, claims, problem) => {
    const { mounted, external, signer } = await scene({ ...change })
    external.state.claims = { ...claims }
    const { location, cookie } = await leave(mounted, await begin(mounted, proofKey()), signer)
    const response = await comeBack(mounted, external.visit(location), cookie)
    expect([response.status, await problemIn(response)]).toEqual([401, problem])
  })

  it('where it cannot be reached, is off, or would lead into the own network', async () => {
    const { mounted, admin, external, signer } = await scene({ externalAuthUrl: 'http://127.0.0.1:1' })
    const id = await begin(mounted, proofKey())
    const ask = (of: string) => mounted.fetch(`/oidc/login/signer?authRequestID=${id}&signer=${of}`)
    const gone = await ask(signer)
    expect([gone.status, await problemIn(gone)]).toEqual([
      502,
      'Corporate login cannot be reached now. Try again later, or log in another way.',
    ])
    await admin.patch(`/external-jwt-signers/${signer}`, { enabled: false })
    for (const of of [signer, 'unknown', '']) expect((await ask(of)).status).toBe(401)
    expect((await mounted.fetch(`/oidc/login/signer?authRequestID=unknown&signer=${signer}`)).status).toBe(401)

    const guarded = await mount()
    const guardedAdmin = await adminOf(guarded)
    const { jwksEndpoint: _internal, ...fields } = external.signer
    const jwksEndpoint = 'https://keys.example.com/keys'
    const internal = await create(guardedAdmin, '/external-jwt-signers', { ...fields, jwksEndpoint })
    const fetches = external.idp.state.fetches
    const request = await begin(guarded, proofKey())
    const response = await guarded.fetch(`/oidc/login/signer?authRequestID=${request}&signer=${internal}`)
    expect(response.status).toBe(502)
    expect(external.idp.state.fetches).toBe(fetches)
  })
})
