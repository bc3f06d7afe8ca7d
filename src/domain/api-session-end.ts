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
