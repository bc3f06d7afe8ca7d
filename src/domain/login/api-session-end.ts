/**
 * When (epoch ms) an API session ends by itself: with its last token where it is made of tokens, otherwise after so many
 * milliseconds without use.
 */
export function endOf(
  session: { readonly tokensExpireAt: number | null; readonly lastActivityAt: number },
  { apiSessionTimeoutMs }: { readonly apiSessionTimeoutMs: number },
): number {
  return session.tokensExpireAt ?? session.lastActivityAt + apiSessionTimeoutMs
}

/** Clocks of processes over one store may differ by so much (ms). */
const CLOCK_DIFFERENCE_MS = 60_000

/** Whether an API session is underway at `now` (epoch ms), is over, or is from the future of a clock that went back. */
export function standingOf(
  session: Parameters<typeof endOf>[0] & { readonly createdAt: number },
  now: number,
  settings: Parameters<typeof endOf>[1],
): 'underway' | 'over' | 'future' {
  if (Math.max(session.createdAt, session.lastActivityAt) > now + CLOCK_DIFFERENCE_MS) return 'future'
  return now < endOf(session, settings) ? 'underway' : 'over'
}
