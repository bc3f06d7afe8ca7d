import * as oauth from 'oauth4webapi'
import { serve } from 'portcullis/node'
import { TEST_ADMIN } from 'portcullis/testing'
import { expect, it, onTestFinished } from 'vitest'
import type { MountedController, RawRequest } from '../contract/http/mount.ts'
import { freePort } from '../support/free-port.ts'
import { CALLBACK, encoded, FORM } from '../support/openid.ts'
import { socketMount } from '../support/socket-mount.ts'

const CLIENT: oauth.Client = { client_id: 'openziti' }
const NO_SECRET = oauth.None()

/** A controller on a socket of this machine, and what its provider tells an independent client of itself. */
async function provider() {
  const port = await freePort()
  const mount = socketMount((controller) => serve(controller, { port }))
  const mounted = await mount({ address: `127.0.0.1:${port}` })
  onTestFinished(() => mounted.dispose())
  const options = { [oauth.customFetch]: fetchOf(mounted) }
  const issuer = new URL(`${mounted.url}/oidc`)
  const answer = await oauth.discoveryRequest(issuer, options)
  return { mounted, options, server: await oauth.processDiscoveryResponse(issuer, answer) }
}

/** The request of the client, through a client that verifies the server's certificate. */
function fetchOf(mounted: MountedController) {
  return async (url: string, request: Pick<RawRequest, 'method' | 'headers'> & { readonly body?: unknown }) => {
    const { pathname, search } = new URL(url)
    const { method = 'GET', headers = {}, body } = request
    const sent = body instanceof URLSearchParams ? body.toString() : undefined
    const content = sent === undefined ? {} : { body: sent }
    return mounted.fetch(`${pathname}${search}`, { method, headers: { ...FORM, ...headers }, ...content })
  }
}

/** Logs in as the admin and answers the tokens, which the client has verified in every way that it knows. */
async function logIn({ mounted, options, server }: Awaited<ReturnType<typeof provider>>, scope: string) {
  const verifier = oauth.generateRandomCodeVerifier()
  const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()]
  const url = new URL(server.authorization_endpoint ?? '')
  url.search = encoded({
    client_id: CLIENT.client_id,
    response_type: 'code',
    redirect_uri: CALLBACK,
    scope,
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  const begun = await mounted.fetch(`${url.pathname}${url.search}`)
  const page = begun.headers.get('location') ?? ''
  const id = (await mounted.fetch(page)).headers.get('auth-request-id') ?? ''
  const body = encoded({ id, ...TEST_ADMIN })
  const loggedIn = await mounted.fetch('/oidc/login/password', { method: 'POST', headers: FORM, body })
  const { pathname, search } = new URL(loggedIn.headers.get('location') ?? '')
  const called = await mounted.fetch(`${pathname}${search}`)
  const parameters = oauth.validateAuthResponse(server, CLIENT, new URL(called.headers.get('location') ?? ''), state)
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    CLIENT,
    NO_SECRET,
    parameters,
    CALLBACK,
    verifier,
    options,
  )
  const tokens = await oauth.processAuthorizationCodeResponse(server, CLIENT, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  })
  await oauth.validateApplicationLevelSignature(server, response, options)
  return tokens
}

it('an independent client completes each flow over HTTPS', async () => {
  const known = await provider()
  const { mounted, options, server } = known
  expect(server.issuer).toBe(`${mounted.url}/oidc`)
  const tokens = await logIn(known, 'openid offline_access')
  const { sub = '' } = oauth.getValidatedIdTokenClaims(tokens) ?? {}
  const jwt = await oauth
    .validateJwtAccessToken(
      server,
      new Request(`${mounted.url}/edge/client/v1/services`, {
        headers: { authorization: `Bearer ${tokens.access_token}` },
      }),
      'openziti',
      options,
    )
    .catch((error: Error) => error.message)
  // Deployed routers and SDKs ask for `typ: JWT`; RFC 9068 would have another.
  expect(jwt).toContain('typ')

  const info = await oauth.userInfoRequest(server, CLIENT, tokens.access_token, options)
  expect(await oauth.processUserInfoResponse(server, CLIENT, sub, info)).toMatchObject({ sub, name: 'Default Admin' })

  const answer = await oauth.refreshTokenGrantRequest(server, CLIENT, NO_SECRET, tokens.refresh_token ?? '', options)
  const refreshed = await oauth.processRefreshTokenResponse(server, CLIENT, answer)
  expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)

  const exchange = new URLSearchParams({
    subject_token: refreshed.refresh_token ?? '',
    subject_token_type: 'urn:ietf:params:oauth:token-type:refresh_token',
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  })
  const grant = 'urn:ietf:params:oauth:grant-type:token-exchange'
  const exchanged = await oauth.processGenericTokenEndpointResponse(
    server,
    CLIENT,
    await oauth.genericTokenEndpointRequest(server, CLIENT, NO_SECRET, grant, exchange, options),
  )
  const url = new URL(`${mounted.url}/edge/client/v1/current-identity`)
  const ask = () => oauth.protectedResourceRequest(exchanged.access_token, 'GET', url, undefined, undefined, options)
  expect((await ask()).status).toBe(200)

  const revoked = await oauth.revocationRequest(server, CLIENT, NO_SECRET, refreshed.refresh_token ?? '', options)
  expect(await oauth.processRevocationResponse(revoked)).toBeUndefined()
  // The client raises what the challenge says.
  await expect(ask()).rejects.toThrow(oauth.WWWAuthenticateChallengeError)
})

it('an independent client understands errors', async () => {
  const known = await provider()
  const { options, server } = known
  const answer = await oauth.refreshTokenGrantRequest(server, CLIENT, NO_SECRET, 'no-token', options)
  await expect(oauth.processRefreshTokenResponse(server, CLIENT, answer)).rejects.toMatchObject({
    error: 'invalid_grant',
    error_description: 'failed to parse refresh token',
  })
})
