import { basisEnds } from './login-basis.ts'

/** How an API session ends by time. Instants are epoch milliseconds. */
interface Ending {
  /** Null for a session that is not made of tokens: it ends when nobody uses it. */
  readonly tokensExpireAt: number | null
  readonly lastActivityAt: number
}

/**
 * When (epoch ms) an API session ends by itself: with its last token where it is made of tokens, otherwise after
 * `apiSessionTimeoutMs` milliseconds without use.
 */
export function endOf(session: Ending, { apiSessionTimeoutMs }: { readonly apiSessionTimeoutMs: number }): number {
  return session.tokensExpireAt ?? session.lastActivityAt + apiSessionTimeoutMs
}

/** When (epoch ms) an API session is looked at next: at its end, or before, when a certificate that its login stands on runs out. */
export function dueAtOf(
  session: Ending & Parameters<typeof basisEnds>[0],
  settings: Parameters<typeof endOf>[1],
  now: number,
): number {
  // Where the auth policy takes expired certificates, the session goes on, and that instant is behind it.
  const expiries = basisEnds(session).filter((expiry) => expiry >= now)
  return Math.min(endOf(session, settings), ...expiries.map((expiry) => expiry + 1))
}

/** Clocks of processes over one store may differ by this (ms); a session from further ahead is not believed. */
const CLOCK_DIFFERENCE_MS = 60_000

/** Whether an API session is underway at `now` (epoch ms), is over, or is from the future of a clock that went back. */
export function standingOf(
  session: Ending & { readonly createdAt: number },
  now: number,
  settings: Parameters<typeof endOf>[1],
): 'underway' | 'over' | 'future' {
  if (Math.max(session.createdAt, session.lastActivityAt) > now + CLOCK_DIFFERENCE_MS) return 'future'
  return now < endOf(session, settings) ? 'underway' : 'over'
}
