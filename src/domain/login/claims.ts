/** Claims of a token whose signature was verified. */
export type Claims = Readonly<Record<string, unknown>>

/** The value that a selector names: a JSON pointer (RFC 6901), whose leading slash may be left out. */
function claimAt(claims: Claims, selector: string): unknown {
  const path = selector.replace(/^\//, '').split('/')
  return path.reduce<unknown>(
    (value, part) => memberOf(value, part.replaceAll('~1', '/').replaceAll('~0', '~')),
    claims,
  )
}

/** The non-empty text that a selector names. */
export function textClaim(claims: Claims, selector: string): string | undefined {
  const value = claimAt(claims, selector)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The texts that a selector names: one, or a list of which the rest is left out; none without a selector. */
export function textClaims(claims: Claims, selector: string | null): readonly string[] {
  const value = selector ? claimAt(claims, selector) : undefined
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.filter((one) => typeof one === 'string').filter((one) => one !== '')
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}
