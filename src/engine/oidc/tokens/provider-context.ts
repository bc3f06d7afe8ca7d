import type { EngineContext } from '../../context/context.ts'

/** What a host decides about the provider. */
export interface ProviderSettings {
  /** Every issuer by which tokens are issued and taken; the first one is that of the advertised address, of now. */
  readonly issuers: readonly string[]
  /** Origins beside the own ones whose pages may log people in, as those of `cors`. */
  readonly origins: readonly string[]
  /** Milliseconds for which tokens are good; for access tokens see `EngineSettings`. */
  readonly idTokenLifetimeMs: number
  readonly refreshTokenLifetimeMs: number
}

/** What the provider's services work with. */
export interface ProviderContext extends EngineContext {
  readonly provider: ProviderSettings
}
