/** What a host decides about logins by OpenID Connect. */
export interface OpenIdOptions {
  /**
   * By whose names tokens are issued and taken, such as `https://ctrl.example:1280/oidc`: every address under which clients
   * reach the controller. A request's `Host` only chooses among them. Default: `address`, and the names of the server
   * certificate, at its port and at `ports`.
   */
  readonly issuers?: readonly string[]
  /** Further ports under which clients reach the controller, beside that of `address`. */
  readonly ports?: readonly number[]
  /** Milliseconds for which an access token is good, a minute at least. Default: 30 minutes. */
  readonly accessTokenLifetimeMs?: number
  /** Milliseconds for which an id token is good, a minute at least. Default: 30 minutes. */
  readonly idTokenLifetimeMs?: number
  /** Milliseconds for which a refresh token is good, a minute more than an access token at least. Default: 24 hours. */
  readonly refreshTokenLifetimeMs?: number
  /**
   * Where clients may be sent after a login: exactly these URIs; `*` may stand for the port of `localhost`, `127.0.0.1` or
   * `[::1]`. Default: `openziti://auth/callback`, and `/auth/callback` of `localhost` and `127.0.0.1` at any port.
   * `/controller-settings` changes it while the controller runs.
   */
  readonly redirectUris?: readonly string[]
  /** Where clients may be sent after a logout, literally. Default: as `redirectUris`, with `/auth/logout`. */
  readonly postLogoutUris?: readonly string[]
}
