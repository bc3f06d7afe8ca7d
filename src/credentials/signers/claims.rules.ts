/** Where in a third-party certificate the external id of an identity stands. */
export interface ExternalIdClaim {
  readonly location: 'COMMON_NAME' | 'SAN_URI' | 'SAN_EMAIL'
  readonly matcher: 'ALL' | 'PREFIX' | 'SUFFIX' | 'SCHEME'
  readonly matcherCriteria: string
  readonly parser: 'NONE' | 'SPLIT'
  readonly parserCriteria: string
  readonly index: number
}

/** The names of a certificate that a claim may look at. */
export interface CertificateNames {
  readonly commonName: string
  readonly uris: readonly string[]
  readonly emails: readonly string[]
}

/** The external id that a certificate claims: the `index`-th of all values that match and are parsed, if it is there. */
export function externalIdOf(claim: ExternalIdClaim, names: CertificateNames): string | undefined {
  const parsed = valuesAt(claim.location, names)
    .flatMap((value) => matched(claim, value) ?? [])
    .flatMap((value) => (claim.parser === 'SPLIT' ? value.split(claim.parserCriteria) : value))
  return parsed[claim.index] || undefined
}

/** A claim as it is kept: criteria that were left out are empty. */
export function withCriteria<Claim extends Partial<ExternalIdClaim>>(claim: Claim): Claim {
  return { ...claim, matcherCriteria: claim.matcherCriteria ?? '', parserCriteria: claim.parserCriteria ?? '' }
}

/**
 * What is wrong with a claim, by its member; `undefined` for one that can be used. Absent members are wrong too, but for
 * criteria that nothing asks for.
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

/** What remains of a value that matches. */
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
