import { BoundedMap } from '../../../domain/bounded-map.ts'
import type { ReadToken } from '../../../domain/oidc/claims.ts'

/** How many access tokens are remembered, some two thousand characters each. */
const MAX_REMEMBERED = 10_000

/** Access tokens whose signature was verified, by their digest: of those in use, most requests need no cryptography. */
export class VerifiedTokens {
  readonly #tokens = new BoundedMap<string, ReadToken>(MAX_REMEMBERED)

  /** A token that was verified, unless it has expired at `now` (epoch ms) since. */
  get(digest: string, now: number): ReadToken | undefined {
    const known = this.#tokens.get(digest)
    if (known === undefined) return undefined
    this.#tokens.delete(digest)
    if (known.expiresAt * 1000 <= now) return undefined
    this.#tokens.set(digest, known)
    return known
  }

  add(digest: string, token: ReadToken): void {
    this.#tokens.set(digest, token)
  }

  /** The token is refused from now on, whoever said so: its signature tells nothing any more. */
  delete(digest: string): void {
    this.#tokens.delete(digest)
  }
}
