/** The clients that deployed SDKs call themselves: public, without secret, and both alike. */
export const CLIENT_IDS: readonly string[] = ['openziti', 'native']

/** Scopes that are kept; any other word is dropped. */
const SCOPES: readonly string[] = ['openid', 'profile', 'email', 'phone', 'address', 'offline_access']

/** The known words of a scope parameter, each once, in the order in which they were asked for. */
export function scopesOf(scope: string): readonly string[] {
  const words = scope.split(' ').filter((word) => SCOPES.includes(word))
  return [...new Set(words)]
}

/** Every scope that a client may ask for. */
export function allScopes(): readonly string[] {
  return SCOPES
}
