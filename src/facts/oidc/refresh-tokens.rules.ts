/** The presenter of a token: the client, and the certificate (its fingerprint) where the token is bound to one. */
export interface Prover {
  readonly clientId: string
  readonly certificate: string | null
}

/** A refresh token that may still be presented, by its `jti`. */
export interface LiveToken {
  readonly jti: string
  /** The refresh token in whose place it was given; absent for one that no refreshing gave. */
  readonly after?: string | undefined
  /** Which of the answers to `after` it belongs to, by the first token of that answer. */
  readonly answer?: string | undefined
  /** When (epoch ms) and by whom it was first used up; absent before. */
  readonly used?: { readonly at: number; readonly by: Prover } | undefined
}

/** A refresh token that is presented at `now` (epoch ms), and how long (ms) one that was used up is still good. */
export interface Presentation {
  readonly jti: string
  readonly by: Prover
  readonly now: number
  readonly graceMs: number
}

/**
 * How many refresh tokens of one session are good at once: each exchange adds one, because SDKs exchange the same token
 * twice, and so does each answer that is given again. Those that were not used for the longest time go first.
 */
const MAX_LIVE = 16

/**
 * The refresh tokens of a session after `presented` was rotated; `undefined` when it was used up before.
 *
 * An answer may be lost. So within the grace the same prover gets another answer, and either may be gone on with, but one
 * alone: the first that is used shows which one arrived, and ends the grace as well. The others are used up with it, so that
 * of two who hold the same token one is found out as soon as both go on.
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
 * The refresh tokens of a session after `presented` was exchanged, with `next` beside it if one was issued; `undefined`
 * when it was used up before. The new one belongs to the answer that the presented one came with.
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

/** The presented token, unless it was used up longer ago than the grace, or by somebody else. */
function usable(live: readonly LiveToken[], { jti, by, now, graceMs }: Presentation): LiveToken | undefined {
  const token = live.find((one) => one.jti === jti)
  if (token?.used === undefined) return token
  const isSame = token.used.by.clientId === by.clientId && token.used.by.certificate === by.certificate
  // The clock of the process that used it up may be ahead.
  return isSame && Math.max(0, now - token.used.at) < graceMs ? token : undefined
}

/** The others that stay good when a token is used: not the one that it was given for, nor the other answers to that one. */
function others(live: readonly LiveToken[], { jti, after, answer }: LiveToken): readonly LiveToken[] {
  return live.filter((one) => {
    if (one.jti === jti) return false
    return after === undefined || (one.jti !== after && (one.after !== after || one.answer === answer))
  })
}

/** A revocation, as far as it says which tokens it concerns. Instants are epoch milliseconds. */
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
 * Reports whether one of the revocations takes a token back at `now` (epoch ms). That of an identity concerns the tokens
 * that were issued up to its second: tokens count in seconds, so those of the same second look alike.
 */
export function isRevoked(token: IssuedFor, revocations: readonly Revoked[], now: number): boolean {
  return revocations.some(({ id, type, updatedAt, expiresAt }) => {
    if (expiresAt <= now) return false
    if (type === 'IDENTITY') return id === token.identityId && token.issuedAt <= Math.floor(updatedAt / 1000)
    return id === (type === 'JTI' ? token.jti : token.apiSessionId)
  })
}
