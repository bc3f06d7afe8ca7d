/** The presenter of a token: the client, and the fingerprint of its certificate for a bound token. */
export interface Prover {
  readonly clientId: string
  readonly certificate: string | null
}

/** A refresh token that may still be presented, by its `jti`. */
export interface LiveToken {
  readonly jti: string
  /** The refresh token that it replaced; absent for the first token of a login. */
  readonly after?: string | undefined
  /** The answer to `after` that it belongs to, by the first token of that answer. */
  readonly answer?: string | undefined
  /** The instant (epoch ms) and the presenter of its first use; absent before. */
  readonly used?: { readonly at: number; readonly by: Prover } | undefined
}

/** A refresh token that is presented at `now` (epoch ms), and the grace (ms) of used tokens. */
export interface Presentation {
  readonly jti: string
  readonly by: Prover
  readonly now: number
  readonly graceMs: number
}

/**
 * The most valid refresh tokens of one session. Each exchange adds a token, because SDKs exchange the same token twice, and so does each
 * repeated answer. The least recently used tokens are dropped first.
 */
const MAX_LIVE = 16

/**
 * The refresh tokens of a session after `presented` was rotated; `undefined` for a token that was already used up.
 *
 * An answer may be lost. Within the grace, the same prover therefore gets another answer, and may continue with either answer, but only
 * with one: the first use shows which answer arrived, and ends the grace. The other answers are then used up too, so that a stolen token is
 * detected as soon as both holders continue.
 */
export function afterRotation(
  live: readonly LiveToken[],
  presented: Presentation,
  next: string,
): readonly LiveToken[] | undefined {
  const token = usable(live, presented)
  if (token === undefined) return undefined
  const used = token.used ?? { at: presented.now, by: presented.by }
  return [...others(live, token), { ...token, used }, answerTo(token, next)].slice(-MAX_LIVE)
}

/**
 * The refresh tokens of a session after `presented` was exchanged, with `next` if a token was issued; `undefined` for a token that was
 * already used up. The new token belongs to the same answer as the presented token.
 */
export function afterExchange(
  live: readonly LiveToken[],
  presented: Presentation,
  next: string | undefined,
): readonly LiveToken[] | undefined {
  const token = usable(live, presented)
  if (token === undefined) return undefined
  const { after, answer, used } = token
  const beside = next === undefined ? [] : [used === undefined ? { jti: next, after, answer } : answerTo(token, next)]
  return [...others(live, token), token, ...beside].slice(-MAX_LIVE)
}

function answerTo({ jti }: LiveToken, next: string): LiveToken {
  return { jti: next, after: jti, answer: next }
}

/** The presented token, unless it was used up before the grace, or by another prover. */
function usable(live: readonly LiveToken[], { jti, by, now, graceMs }: Presentation): LiveToken | undefined {
  const token = live.find((one) => one.jti === jti)
  if (token?.used === undefined) return token
  const isSame = token.used.by.clientId === by.clientId && token.used.by.certificate === by.certificate
  // The clock of the process that recorded the use may be ahead.
  return isSame && Math.max(0, now - token.used.at) < graceMs ? token : undefined
}

/** The other tokens that stay valid when a token is used: neither the token that it replaced, nor the other answers to that token. */
function others(live: readonly LiveToken[], { jti, after, answer }: LiveToken): readonly LiveToken[] {
  return live.filter((one) => {
    if (one.jti === jti) return false
    return after === undefined || (one.jti !== after && (one.after !== after || one.answer === answer))
  })
}

/** The parts of a revocation that decide which tokens it concerns. Instants are epoch milliseconds. */
export interface Revoked {
  readonly id: string
  readonly type: 'JTI' | 'IDENTITY' | 'API_SESSION'
  readonly updatedAt: number
  readonly expiresAt: number
}

/** The ids and the time by which revocations concern a token. */
export interface IssuedFor {
  readonly jti: string
  readonly apiSessionId: string
  readonly identityId: string
  /** Seconds since the Unix epoch. */
  readonly issuedAt: number
}

/**
 * Reports whether a revocation revokes a token at `now` (epoch ms). The revocation of an identity concerns the tokens that were issued up
 * to its second: tokens count in seconds, so tokens of the same second cannot be distinguished.
 */
export function isRevoked(token: IssuedFor, revocations: readonly Revoked[], now: number): boolean {
  return revocations.some(({ id, type, updatedAt, expiresAt }) => {
    if (expiresAt <= now) return false
    if (type === 'IDENTITY') return id === token.identityId && token.issuedAt <= Math.floor(updatedAt / 1000)
    return id === (type === 'JTI' ? token.jti : token.apiSessionId)
  })
}
