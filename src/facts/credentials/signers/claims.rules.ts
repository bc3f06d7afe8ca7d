import { memberOf } from '../../../base/members.ts'
import type { Claims } from '../../../ports/credentials.ts'
/** The location of an identity's external id in a third-party certificate. */
export interface ExternalIdClaim {
  readonly location: 'COMMON_NAME' | 'SAN_URI' | 'SAN_EMAIL'
  readonly matcher: 'ALL' | 'PREFIX' | 'SUFFIX' | 'SCHEME'
  readonly matcherCriteria: string
  readonly parser: 'NONE' | 'SPLIT'
  readonly parserCriteria: string
  readonly index: number
}

/** The names of a certificate that a claim may read. */
export interface CertificateNames {
  readonly commonName: string
  readonly uris: readonly string[]
  readonly emails: readonly string[]
}

/** The external id in a certificate: the `index`-th of all values that match and are parsed, if it exists. */
export function externalIdOf(claim: ExternalIdClaim, names: CertificateNames): string | undefined {
  const parsed = valuesAt(claim.location, names)
    .flatMap((value) => matched(claim, value) ?? [])
    .flatMap((value) => (claim.parser === 'SPLIT' ? value.split(claim.parserCriteria) : value))
  return parsed[claim.index] || undefined
}

/** The stored form of a claim: absent criteria are empty. */
export function withCriteria<Claim extends Partial<ExternalIdClaim>>(claim: Claim): Claim {
  return { ...claim, matcherCriteria: claim.matcherCriteria ?? '', parserCriteria: claim.parserCriteria ?? '' }
}

/**
 * Finds the mistake in a claim, by its member; `undefined` for a usable claim. Absent members are mistakes too, except criteria that are
 * not needed.
 */
export function claimProblem(
  claim: Partial<ExternalIdClaim>,
): { readonly member: keyof ExternalIdClaim; readonly reason: string } | undefined {
  const members = ['location', 'matcher', 'parser', 'index'] as const
  const absent = members.find((member) => claim[member] === undefined || claim[member] === null)
  if (absent !== undefined) return { member: absent, reason: 'is required' }
  const { location, matcher, matcherCriteria, parser, parserCriteria, index } = withCriteria(claim)
  if ((matcher === 'SCHEME') !== (location === 'SAN_URI') && matcher !== 'ALL') {
    return { member: 'matcher', reason: `${matcher} is not supported for location ${location}` }
  }
  if (matcher !== 'ALL' && matcherCriteria === '') {
    return { member: 'matcherCriteria', reason: `is required for matcher ${matcher}` }
  }
  if (parser === 'SPLIT' && parserCriteria === '') {
    return { member: 'parserCriteria', reason: 'is required for parser SPLIT' }
  }
  if ((index ?? 0) < 0) return { member: 'index', reason: 'must not be negative' }
  return undefined
}

function valuesAt(location: ExternalIdClaim['location'], names: CertificateNames): readonly string[] {
  switch (location) {
    case 'COMMON_NAME':
      return names.commonName === '' ? [] : [names.commonName]
    case 'SAN_URI':
      return names.uris
    case 'SAN_EMAIL':
      return names.emails
  }
}

/** The remainder of a matching value; undefined for another value. */
function matched({ matcher, matcherCriteria: criteria }: ExternalIdClaim, value: string): string | undefined {
  switch (matcher) {
    case 'ALL':
      return value
    case 'PREFIX':
      return value.startsWith(criteria) ? value.slice(criteria.length) : undefined
    case 'SUFFIX':
      return value.endsWith(criteria) ? value.slice(0, value.length - criteria.length) : undefined
    case 'SCHEME':
      return value.slice(0, value.indexOf(':')).toLowerCase() === criteria.toLowerCase() ? value : undefined
  }
}

/** The value at a selector: a JSON pointer (RFC 6901) with an optional leading slash. */
function claimAt(claims: Claims, selector: string): unknown {
  const path = selector.replace(/^\//, '').split('/')
  return path.reduce<unknown>(
    (value, part) => memberOf(value, part.replaceAll('~1', '/').replaceAll('~0', '~')),
    claims,
  )
}

/** The non-empty text at a selector. */
export function textClaim(claims: Claims, selector: string): string | undefined {
  const value = claimAt(claims, selector)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The texts at a selector: a text or a list of texts; empty without a selector. Other values of a list are left out. */
export function textClaims(claims: Claims, selector: string | null): readonly string[] {
  const value = selector ? claimAt(claims, selector) : undefined
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.filter((one) => typeof one === 'string').filter((one) => one !== '')
}

/** The default name format for identities that a certificate authority enrolls automatically. */
export const DEFAULT_IDENTITY_NAME_FORMAT = '[caName]-[commonName]'

/** Values of the symbols of a name format. */
export interface NameSymbols {
  readonly caName: string
  readonly caId: string
  readonly commonName: string
  readonly requestedName: string
  readonly identityId: string
}

/** The name that a format makes; a symbol may occur more than once, and unknown symbols stay as they are. */
export function formatIdentityName(format: string, symbols: NameSymbols): string {
  const values = new Map(Object.entries(symbols))
  return format.replace(/\[([A-Za-z]{1,32})\]/g, (symbol, name: string) => values.get(name) ?? symbol)
}

/** The `attempt`-th name to try when the name itself (attempt 0) is taken: six digits are appended. */
export function numberedName(name: string, attempt: number): string {
  return attempt === 0 ? name : `${name}${String(attempt).padStart(6, '0')}`
}
