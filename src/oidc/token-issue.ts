import type { EngineContext } from '../context/context.ts'
import { leftHalf } from '../facts/oidc/auth-request.rules.ts'
import {
  type IdTokenFacts,
  type Issue,
  idTokenClaims,
  type SessionClaims,
  tokenClaims,
} from '../facts/oidc/token-claims.rules.ts'

/** The receiver of tokens, and their issuer. */
export interface IssuedTo {
  readonly issuer: string
  readonly clientId: string
  readonly audience: readonly string[]
}

/** A signed access or refresh token. */
export interface IssuedToken {
  readonly text: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** Signs the tokens of sessions. Signing is slow: none of it belongs inside a write. */
export class TokenIssue {
  readonly #context: ProviderContext

  constructor(context: ProviderContext) {
    this.#context = context
  }

  /** When (epoch ms) a refresh token that is issued now expires; an access token where there is no refresh token. */
  lastExpiry(hasRefreshToken: boolean): number {
    const { clock, provider, settings } = this.#context
    const lifetimeMs = hasRefreshToken ? provider.refreshTokenLifetimeMs : settings.accessTokenLifetimeMs
    return (Math.floor(clock.now() / 1000) + Math.floor(lifetimeMs / 1000)) * 1000
  }

  /** An access token, which ends no later than at `until` (epoch ms). */
  access(session: SessionClaims, to: IssuedTo, until = Number.POSITIVE_INFINITY): Promise<IssuedToken> {
    const { clock, random, settings } = this.#context
    const lifetimeMs = Math.min(settings.accessTokenLifetimeMs, until - Math.floor(clock.now() / 1000) * 1000)
    return this.#sign((issue) => tokenClaims(session, 'a', random.uuid(), issue), to, lifetimeMs)
  }

  refresh(session: SessionClaims, jti: string, to: IssuedTo): Promise<IssuedToken> {
    const { refreshTokenLifetimeMs } = this.#context.provider
    return this.#sign((issue) => tokenClaims(session, 'r', jti, issue), to, refreshTokenLifetimeMs)
  }

  /** An id token, with hashes of the tokens issued with it where the algorithm of the key is one of SHA-256. */
  async id(
    session: SessionClaims,
    facts: Pick<IdTokenFacts, 'name' | 'nonce'> & { readonly accessToken?: string; readonly code?: string },
    to: IssuedTo,
  ): Promise<string> {
    const { name, nonce, accessToken, code } = facts
    const hashed = { name, nonce, at_hash: this.#hash(accessToken), c_hash: this.#hash(code) }
    const { idTokenLifetimeMs } = this.#context.provider
    const { text } = await this.#sign((issue) => idTokenClaims(session, hashed, issue), to, idTokenLifetimeMs)
    return text
  }

  async #sign(
    claims: (issue: Issue) => Readonly<Record<string, unknown>>,
    to: IssuedTo,
    lifetimeMs: number,
  ): Promise<IssuedToken> {
    const issuedAt = Math.floor(this.#context.clock.now() / 1000)
    const lifetimeSeconds = Math.floor(lifetimeMs / 1000)
    const text = await this.#context.tokens.sign(claims({ ...to, issuedAt, lifetimeSeconds }))
    return { text, expiresAt: (issuedAt + lifetimeSeconds) * 1000 }
  }

  #hash(text: string | undefined): string | undefined {
    const { digest, tokens } = this.#context
    return text === undefined || !tokens.algorithm.endsWith('256') ? undefined : leftHalf(digest.sha256(text))
  }
}

/** The answer of the token endpoint, member by member in this order. Seconds are those left. */
export interface TokenResponse {
  readonly access_token: string
  readonly issued_token_type?: string
  readonly token_type: 'Bearer' | 'N_A'
  readonly refresh_token?: string
  readonly expires_in?: number
  readonly id_token?: string
  readonly scope?: string
  /** The certificate that was asked for and its intermediates, PEM. */
  readonly session_cert?: string
}

/** Settings of the provider that a host decides. */
export interface ProviderSettings {
  /** Every issuer that tokens are issued and accepted by; the first is that of the current advertised address. */
  readonly issuers: readonly string[]
  /** Origins beside the provider's own whose pages may log people in, such as those of `cors`. */
  readonly origins: readonly string[]
  /** Milliseconds for which tokens are valid; for access tokens see `EngineSettings`. */
  readonly idTokenLifetimeMs: number
  readonly refreshTokenLifetimeMs: number
}

/** The context that the services of the provider work in. */
export interface ProviderContext extends EngineContext {
  readonly provider: ProviderSettings
}
