import type { ReadToken, SessionClaims } from '../../../domain/oidc/claims.ts'
import { invalidGrant, invalidRequest, OAuthError } from '../../../domain/oidc/oauth-error.ts'
import { afterRotation } from '../../../domain/oidc/refresh-tokens.ts'
import { withScopes } from '../../../domain/oidc/session-claims.ts'
import type { Call } from '../../context/call.ts'
import { judgePresented } from '../tokens/presented-token.ts'
import type { ProviderContext } from '../tokens/provider-context.ts'
import type { TokenIssue } from '../tokens/token-issue.ts'
import type { TokenResponse } from '../tokens/token-response.ts'
import { liveSession, renewSession } from '../tokens/token-sessions.ts'
import { certifyAgain, presentationOf, proverOf } from './rebinding.ts'

/** What a client sends to refresh its tokens. */
export interface RefreshRequest {
  readonly issuer: string
  readonly clientId: string
  readonly refreshToken: string | undefined
  readonly scope: string | undefined
  readonly csrPem: string | undefined
}

/**
 * Renews tokens by a refresh token (RFC 6749 section 6), which is used up by it: the answer has the next one. An answer that
 * was lost is given again for a short time.
 */
export class RefreshGrant {
  readonly #context: ProviderContext
  readonly #issue: TokenIssue

  constructor(context: ProviderContext, issue: TokenIssue) {
    this.#context = context
    this.#issue = issue
  }

  /**
   * Errors: `invalid_request`, `invalid_grant` for a token that is no good refresh token of this client, `invalid_scope`
   * beyond what was granted, `access_denied` without the certificate to which the token is bound.
   */
  async refresh(call: Call, asked: RefreshRequest): Promise<TokenResponse> {
    const token = await this.#presented(asked)
    const scopes = narrowedScopes(token.session, asked.scope)
    const by = await proverOf(this.#context, token, call, asked.clientId)
    const certificate = await certifyAgain(this.#context, token, asked.csrPem)
    const next = this.#context.random.uuid()
    const renewed = await renewSession(
      this.#context,
      call,
      token,
      (live) => afterRotation(live, presentationOf(this.#context, token, by), next),
      this.#issue.lastExpiry(true),
    )
    if (typeof renewed === 'string') throw invalidGrant('refresh token revoked')
    const { identity, apiSession } = renewed
    this.#context.events.emit('api-session.refreshed', {
      apiSessionId: apiSession.id,
      identityId: identity.id,
      at: this.#context.clock.now(),
    })
    const session = withScopes(certificate?.rebind(renewed.claims) ?? renewed.claims, scopes)
    const to = { issuer: asked.issuer, clientId: asked.clientId, audience: [session.z_aid] }
    const access = await this.#issue.access(session, to)
    const refresh = await this.#issue.refresh(session, next, to)
    return {
      access_token: access.text,
      token_type: 'Bearer',
      refresh_token: refresh.text,
      expires_in: Math.floor((access.expiresAt - this.#context.clock.now()) / 1000),
      id_token: await this.#issue.id(session, { name: identity.name, accessToken: access.text }, to),
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      ...(certificate !== undefined && { session_cert: certificate.chainPem }),
    }
  }

  async #presented({ refreshToken, clientId }: RefreshRequest): Promise<ReadToken> {
    if (!refreshToken) throw invalidRequest('refresh_token missing')
    const presented = await judgePresented(this.#context, refreshToken, this.#context.clock.now())
    if (presented.outcome === 'foreign') throw invalidGrant('invalid token type, expected refresh')
    if (presented.outcome === 'invalid') throw invalidGrant('failed to parse refresh token')
    const { token, outcome } = presented
    if (token.type !== 'r') throw invalidGrant('invalid token type, expected refresh')
    if (outcome === 'expired') throw invalidGrant('refresh token expired')
    if (token.clientId !== clientId) throw invalidGrant('client_id does not match original grant')
    const live = await this.#context.storage.read((tx) => liveSession(this.#context, tx, token))
    if (live === undefined) throw invalidGrant('refresh token revoked')
    return token
  }
}

/** The scopes that are asked for, within those that were granted; all of them when none is. Error: `invalid_scope`. */
export function narrowedScopes({ scopes = [] }: SessionClaims, scope: string | undefined): readonly string[] {
  const asked = (scope ?? '').split(' ').filter((word) => word !== '')
  if (asked.length === 0) return scopes
  if (asked.some((word) => !scopes.includes(word))) throw new OAuthError('invalid_scope')
  return [...new Set(asked)]
}
