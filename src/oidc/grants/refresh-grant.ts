import type { Call } from '../../context/call.ts'
import { invalidGrant, invalidRequest, OAuthError } from '../../facts/oidc/oauth-error.rules.ts'
import { afterRotation, type Presentation, type Prover } from '../../facts/oidc/refresh-tokens.rules.ts'
import {
  type ReadToken,
  type SessionClaims,
  withCertificates,
  withScopes,
} from '../../facts/oidc/token-claims.rules.ts'
import { isBound, issueSessionCertificate, namedKey } from '../proof-of-possession.ts'
import type { ProviderContext, TokenIssue, TokenResponse } from '../token-issue.ts'
import { judgePresented, liveSession, renewSession } from '../token-sessions.ts'

/** A request of a client to refresh its tokens. */
export interface RefreshRequest {
  readonly issuer: string
  readonly clientId: string
  readonly refreshToken: string | undefined
  readonly scope: string | undefined
  readonly csrPem: string | undefined
}

/**
 * Renews tokens by a refresh token (RFC 6749 section 6). This uses the token up: the answer has the next one. A lost
 * answer is given again for a short time.
 */
export class RefreshGrant {
  readonly #context: ProviderContext
  readonly #issue: TokenIssue

  constructor(context: ProviderContext, issue: TokenIssue) {
    this.#context = context
    this.#issue = issue
  }

  /**
   * Errors: `invalid_request`, `invalid_grant` for a token that is no valid refresh token of this client,
   * `invalid_scope` beyond the granted scopes, and `access_denied` without the certificate that the token is bound to.
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
      isBearer: true,
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

/** The requested scopes, within the granted ones; all granted scopes when the request names none. Error: `invalid_scope`. */
export function narrowedScopes({ scopes = [] }: SessionClaims, scope: string | undefined): readonly string[] {
  const asked = (scope ?? '').split(' ').filter((word) => word !== '')
  if (asked.length === 0) return scopes
  if (asked.some((word) => !scopes.includes(word))) throw new OAuthError('invalid_scope')
  return [...new Set(asked)]
}

/**
 * The party that presents a token. Error: `access_denied` for a token that is bound to certificates when the connection
 * presents none of them.
 */
export async function proverOf(
  context: ProviderContext,
  token: ReadToken,
  call: Call,
  clientId: string,
): Promise<Prover> {
  const certificate = await namedKey(context, token, call.clientCertificates ?? [])
  if (certificate !== undefined) return { clientId, certificate }
  throw new OAuthError('access_denied', 'peer certificate fingerprint does not match token')
}

/** A refresh token as it is presented now. */
export function presentationOf({ clock, settings }: ProviderContext, { jti }: ReadToken, by: Prover): Presentation {
  return { jti, by, now: clock.now(), graceMs: settings.profile.refreshTokenGraceMs }
}

/** A further certificate of a session, and the change of claims by which it replaces the earlier one in the next tokens. */
export interface FurtherCertificate {
  readonly chainPem: string
  rebind(claims: SessionClaims): SessionClaims
}

/**
 * Issues another certificate for the session of a token, where the client asks for one and the token is bound to
 * certificates: a plain bearer token cannot become another client's proof. Error: `invalid_request`.
 */
export async function certifyAgain(
  context: ProviderContext,
  token: ReadToken,
  csrPem: string | undefined,
): Promise<FurtherCertificate | undefined> {
  if (!csrPem || !isBound(token)) return undefined
  const { sub, z_asid, z_acf } = token.session
  const { chainPem, fingerprint } = await issueSessionCertificate(context, sub, z_asid, csrPem)
  const kept = z_acf === undefined ? [] : [z_acf]
  return { chainPem, rebind: (claims) => withCertificates(claims, [...kept, fingerprint]) }
}
