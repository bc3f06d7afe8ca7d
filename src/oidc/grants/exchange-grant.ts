import type { Call } from '../../context/call.ts'
import { CLIENT_IDS } from '../../facts/oidc/auth-request.rules.ts'
import { invalidRequest, OAuthError } from '../../facts/oidc/oauth-error.rules.ts'
import { afterExchange, type Prover } from '../../facts/oidc/refresh-tokens.rules.ts'
import { type ReadToken, withScopes } from '../../facts/oidc/token-claims.rules.ts'
import type { ProviderContext, TokenIssue, TokenResponse } from '../token-issue.ts'
import { judgePresented, type LiveSession, type NotRenewed, type Renewal, renewSession } from '../token-sessions.ts'
import { certifyAgain, narrowedScopes, presentationOf, proverOf } from './refresh-grant.ts'

/** A request of a client to exchange a token for another one. */
export interface ExchangeRequest {
  readonly issuer: string
  readonly clientId: string
  readonly subjectToken: string | undefined
  readonly subjectTokenType: string | undefined
  readonly requestedTokenType: string | undefined
  readonly audience: string | undefined
  readonly scope: string | undefined
  readonly csrPem: string | undefined
}

const TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:'
const KINDS = ['access_token', 'refresh_token', 'id_token'] as const
type Kind = (typeof KINDS)[number]

/**
 * Exchanges a token for another one of the same session (RFC 8693). The presented refresh token stays valid, because
 * SDKs exchange one twice. The new tokens describe the session as it is, so that no proven factor gets lost. An access token that comes
 * from another access token ends with that one.
 */
export class ExchangeGrant {
  readonly #context: ProviderContext
  readonly #issue: TokenIssue

  constructor(context: ProviderContext, issue: TokenIssue) {
    this.#context = context
    this.#issue = issue
  }

  /** Errors: `invalid_request`, `invalid_scope`, and `access_denied` without the certificate that the token is bound to. */
  async exchange(call: Call, asked: ExchangeRequest): Promise<TokenResponse> {
    if (!asked.subjectToken) throw invalidRequest('subject_token missing')
    if (!asked.subjectTokenType) throw invalidRequest('subject_token_type missing')
    const given = kindOf(asked.subjectTokenType, 'subject_token_type is not supported')
    if (given === 'id_token') throw invalidRequest('exchanging id_token for any token type is not supported')
    const requested = asked.requestedTokenType || `${TOKEN_TYPE}access_token`
    const wanted = kindOf(requested, 'requested_token_type is invalid')
    if (asked.audience && !CLIENT_IDS.includes(asked.audience)) throw invalidRequest('invalid audience requested')
    const token = await this.#subject(asked.subjectToken, given)
    if (wanted === 'refresh_token' && token.type === 'a') throw invalidRequest('requested_token_type is invalid')
    const scopes = narrowedScopes(token.session, asked.scope)
    const by = await proverOf(this.#context, token, call, asked.clientId)
    const certificate = await certifyAgain(this.#context, token, asked.csrPem)
    const next = wanted === 'refresh_token' ? this.#context.random.uuid() : undefined
    const live = await this.#renew(call, token, by, next)
    if (typeof live === 'string') throw invalidRequest('subject_token is invalid')
    const session = withScopes(certificate?.rebind(live.claims) ?? live.claims, scopes)
    const to = { issuer: asked.issuer, clientId: asked.clientId, audience: [asked.audience || asked.clientId] }
    const further = {
      ...(asked.scope !== undefined && { scope: asked.scope === '' ? '' : scopes.join(' ') }),
      ...(certificate !== undefined && { session_cert: certificate.chainPem }),
    }
    if (wanted === 'id_token') {
      const text = await this.#issue.id(session, { name: live.identity.name }, to)
      return { access_token: text, issued_token_type: requested, token_type: 'N_A', ...further }
    }
    // A stolen access token would otherwise be good for ever: its holder would exchange it before it expires, again and again.
    const until = token.type === 'a' ? token.expiresAt * 1000 : undefined
    const access = await this.#issue.access(session, to, until)
    return {
      access_token: access.text,
      issued_token_type: requested,
      token_type: 'Bearer',
      expires_in: Math.floor((access.expiresAt - this.#context.clock.now()) / 1000),
      ...(next !== undefined && { refresh_token: (await this.#issue.refresh(session, next, to)).text }),
      ...further,
    }
  }

  async #subject(text: string, given: Kind): Promise<ReadToken> {
    const presented = await judgePresented(this.#context, text, this.#context.clock.now())
    if (presented.outcome !== 'valid') throw invalidRequest('subject_token is invalid')
    const { token } = presented
    // A client may call a refresh token an access token, but an access token cannot refresh.
    if (given === 'refresh_token' && token.type !== 'r') throw invalidRequest('subject_token is invalid')
    return token
  }

  #renew(call: Call, token: ReadToken, by: Prover, next: string | undefined): Promise<LiveSession | NotRenewed> {
    if (token.type === 'r') {
      const renewal: Renewal = (live) => afterExchange(live, presentationOf(this.#context, token, by), next)
      return renewSession(this.#context, call, token, renewal, this.#issue.lastExpiry(next !== undefined))
    }
    return renewSession(this.#context, call, token, (live) => live, token.expiresAt * 1000)
  }
}

function kindOf(type: string, problem: string): Kind {
  const kind = KINDS.find((one) => `${TOKEN_TYPE}${one}` === type)
  if (kind === undefined) throw new OAuthError('invalid_request', problem)
  return kind
}
