const MAX_TOKENS = 3

/** The bearer tokens of a request: of its `Authorization` headers, which arrive joined by commas, the first three. */
export function bearerTokens(headers: Headers): readonly string[] {
  const header = headers.get('authorization')
  if (header === null) return []
  return header
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value.startsWith('Bearer '))
    .slice(0, MAX_TOKENS)
    .map((value) => value.slice('Bearer '.length))
}
