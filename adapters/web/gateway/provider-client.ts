import { createHash } from 'node:crypto'
import { isMap, memberOf } from '../../../src/base/members.ts'
import type { ControllerFetch } from '../../../src/index.ts'
import type { SessionTokens } from '../../network/sdk/in-process-identity.ts'

/** Tokens of a login, with what they say of it. */
export interface ProvidedLogin extends SessionTokens {
  readonly apiSessionId: string
  /** The origin of the issuer, by which the controller knows its own tokens. */
  readonly origin: string
}

/** A login failed at the OpenID provider. The message is for operators: it says what the provider answered. */
export class LoginFailed extends Error {}

/** The public client of deployed SDKs. It keeps no secret: each login has a proof key. */
const CLIENT = 'openziti'
const FORM = 'application/x-www-form-urlencoded'

/** The OpenID provider of the controller of this process, as a gateway uses it. */
export class ProviderClient {
  readonly #fetch: ControllerFetch
  readonly #redirectUri: string
  readonly #issuer: string | undefined

  /** Without `issuer` it is the issuer at the address of the controller. */
  constructor(fetch: ControllerFetch, redirectUri: string, issuer: string | undefined) {
    this.#fetch = fetch
    this.#redirectUri = redirectUri
    this.#issuer = issuer
  }

  /** The address of the login page. Rejects with {@link LoginFailed} if the controller has no provider. */
  async loginUrl(
    state: string,
    { verifier, nonce }: { readonly verifier: string; readonly nonce: string },
  ): Promise<string> {
    const query = new URLSearchParams({
      ...{ client_id: CLIENT, response_type: 'code', scope: 'openid offline_access', redirect_uri: this.#redirectUri },
      ...{ state, nonce, code_challenge_method: 'S256', method: 'password' },
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    })
    return `${await this.issuer()}/authorize?${query}`
  }

  /** Exchanges the code of a login for its tokens. Rejects with {@link LoginFailed}. */
  async redeem(
    code: string,
    { verifier, nonce }: { readonly verifier: string; readonly nonce: string },
  ): Promise<ProvidedLogin> {
    const body = new URLSearchParams({
      ...{ grant_type: 'authorization_code', client_id: CLIENT, redirect_uri: this.#redirectUri },
      ...{ code, code_verifier: verifier },
    })
    const headers = { 'content-type': FORM, accept: 'application/json' }
    const issuer = await this.issuer()
    const answer = await this.#fetch(
      new Request(`${issuer}/oauth/token`, { method: 'POST', headers, body: body.toString() }),
      {},
    )
    const tokens = members(await answer.text())
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn, id_token: idToken } = tokens
    if (answer.status !== 200 || typeof accessToken !== 'string' || typeof idToken !== 'string') {
      throw new LoginFailed(`the provider answers ${answer.status} ${String(tokens.error_description ?? '')}`)
    }
    // The token came straight from the provider, so that its signature proves nothing further.
    if (claimsOf(idToken).nonce !== nonce) throw new LoginFailed('the id token is of another login')
    const { z_asid: apiSessionId } = claimsOf(accessToken)
    return {
      accessToken,
      refreshToken: typeof refreshToken === 'string' ? refreshToken : undefined,
      expiresIn: typeof expiresIn === 'number' ? expiresIn : 60,
      apiSessionId: typeof apiSessionId === 'string' ? apiSessionId : '',
      origin: new URL(issuer).origin,
    }
  }

  /** The issuer by whose name tokens are issued. Rejects with {@link LoginFailed} if the controller has no provider. */
  async issuer(): Promise<string> {
    if (this.#issuer !== undefined) return this.#issuer
    const answer = await this.#fetch(new Request('https://localhost/version'), {})
    const { data } = members(await answer.text())
    const path = ['apiVersions', 'edge-oidc', 'v1', 'apiBaseUrls', 0]
    const issuer = path.reduce<unknown>(memberOf, data)
    if (typeof issuer !== 'string') throw new LoginFailed('the controller has no OpenID provider')
    return issuer
  }
}

/** The members of a JSON object; none for any other text. */
function members(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isMap(value) ? value : {}
  } catch {
    return {}
  }
}

function claimsOf(token: string): Readonly<Record<string, unknown>> {
  return members(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
}
