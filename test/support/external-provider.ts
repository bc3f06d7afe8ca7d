import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { identityProvider } from './jwks-server.ts'

interface Grant {
  readonly challenge: string
  readonly redirectUri: string
  readonly clientId: string
  readonly nonce: string
}

/**
 * An OpenID provider of somebody else, at which people are logged in already: a real HTTP server that holds clients to
 * proof key, redirect URI and client id. `answers` changes what its token endpoint says.
 */
export async function externalProvider(now: () => number) {
  const idp = await identityProvider()
  const base = new URL(idp.endpoint).origin
  const grants = new Map<string, Grant>()
  const state = {
    /** Who is logged in there. */
    subject: 'nobody',
    redeemed: 0,
    claims: {} as Record<string, unknown>,
    /** The `iss` that is told with a code. */
    tellsIssuer: true,
  }

  const authorize = (url: URL): string => {
    const asked = (name: string) => url.searchParams.get(name) ?? ''
    if (asked('code_challenge_method') !== 'S256' || asked('response_type') !== 'code') throw new Error('refused')
    const code = randomUUID()
    const redirectUri = asked('redirect_uri')
    const grant = { challenge: asked('code_challenge'), redirectUri, clientId: asked('client_id') }
    grants.set(code, { ...grant, nonce: asked('nonce') })
    const issuer: Record<string, string> = state.tellsIssuer ? { iss: base } : {}
    return `${redirectUri}?${new URLSearchParams({ code, state: asked('state'), ...issuer })}`
  }

  const redeem = async (form: URLSearchParams): Promise<object | undefined> => {
    const grant = grants.get(form.get('code') ?? '')
    grants.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isGood = grant?.challenge === challenge && grant.redirectUri === form.get('redirect_uri')
    if (!isGood || grant.clientId !== form.get('client_id')) return undefined
    const claims = { sub: state.subject, ...state.claims }
    return {
      token_type: 'Bearer',
      access_token: await idp.token(now(), claims),
      id_token: await idp.token(now(), { nonce: grant.nonce, ...claims }),
    }
  }

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '', base)
    const json = (body: object, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (url.pathname === '/authorize') return void response.writeHead(302, { location: authorize(url) }).end()
    if (url.pathname === '/keys') return json({ keys: idp.keys })
    if (url.pathname !== '/token') {
      return json({ issuer: base, authorization_endpoint: `${base}/authorize`, token_endpoint: `${base}/token` })
    }
    state.redeemed += 1
    const tokens = await redeem(new URLSearchParams(await text(request)))
    return tokens === undefined ? json({ error: 'invalid_grant' }, 400) : json(tokens)
  }
  idp.state.answer = (request, response) => void answer(request, response)

  return {
    idp,
    state,
    base,
    /** Follows a redirect there and answers the way back. */
    visit: (location: string) => authorize(new URL(location)),
    /** The signer that an administrator enters for it. */
    signer: {
      name: 'Corporate login',
      enabled: true,
      issuer: idp.issuer,
      audience: 'network',
      jwksEndpoint: idp.endpoint,
      claimsProperty: 'sub',
      externalAuthUrl: base,
      clientId: 'portcullis',
      scopes: ['email'],
    },
  }
}
