/** A refresh token that is still good, by its `jti`. */
export interface LiveToken {
  readonly jti: string
}

/**
 * How many refresh tokens of one session are good at once: each exchange adds one, because SDKs exchange the same token
 * twice. Those that were not used for the longest time go first.
 */
const MAX_LIVE = 16

/** The refresh tokens of a session after `presented` was rotated; `undefined` when it was used up before. */
export function afterRotation(
  live: readonly LiveToken[],
  presented: string,
  next: string,
): readonly LiveToken[] | undefined {
  const others = live.filter(({ jti }) => jti !== presented)
  return others.length === live.length ? undefined : [...others, { jti: next }]
}

/**
 * The refresh tokens of a session after `presented` was exchanged, with `next` beside it if one was issued; `undefined`
 * when it was used up before.
 */
export function afterExchange(
  live: readonly LiveToken[],
  presented: string,
  next: string | undefined,
): readonly LiveToken[] | undefined {
  const used = live.find(({ jti }) => jti === presented)
  if (used === undefined) return undefined
  const others = live.filter((token) => token !== used)
  return [...others, used, ...(next === undefined ? [] : [{ jti: next }])].slice(-MAX_LIVE)
}
