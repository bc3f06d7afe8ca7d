import type { Claims } from '../../ports/credentials.ts'

/** The claims that all tokens of a session share; refreshes and exchanges carry them over. */
export interface SessionClaims {
  readonly sub: string
  readonly amr: readonly string[]
  readonly auth_time: number
  readonly scopes?: readonly string[]
  readonly z_aid: string
  readonly z_asid: string
  readonly z_authid: string
  readonly z_ia?: true
  readonly z_eid?: string
  readonly z_ct?: readonly string[]
  /** Fingerprints of the certificates that may present the tokens; null for plain bearer tokens. */
  readonly z_cfs: readonly string[] | null
  readonly z_acf?: string
  readonly z_sdk: object | null
  readonly z_env: object | null
  readonly z_ra: string
  readonly z_ice: boolean
  readonly z_cer: boolean
  readonly z_ckrr: boolean
  readonly z_iccc: boolean
  readonly z_cae?: true
}

/** The issuer of a token, its client, and its instant of issue (seconds since the Unix epoch). */
export interface Issue {
  readonly issuer: string
  readonly clientId: string
  readonly audience: readonly string[]
  readonly issuedAt: number
  readonly lifetimeSeconds: number
}

/** The claims of an access token (`a`) or a refresh token (`r`). */
export function tokenClaims(session: SessionClaims, type: 'a' | 'r', jti: string, issue: Issue): Claims {
  const { issuer, clientId, audience, issuedAt, lifetimeSeconds } = issue
  return {
    iss: issuer,
    aud: audience,
    exp: issuedAt + lifetimeSeconds,
    iat: issuedAt,
    nbf: issuedAt,
    jti,
    client_id: clientId,
    ...session,
    z_t: type,
  }
}

/** The claims of an id token in addition to the session's: hashes of the tokens that were issued with it, and the client's nonce. */
export interface IdTokenFacts {
  readonly name: string
  readonly nonce?: string | undefined
  readonly at_hash?: string | undefined
  readonly c_hash?: string | undefined
}

/** The claims of an id token. It always names the identity and the session, so that a logout ends only that session. */
export function idTokenClaims(session: SessionClaims, facts: IdTokenFacts, issue: Issue): Claims {
  const { issuer, clientId, audience, issuedAt, lifetimeSeconds } = issue
  const { sub, amr, auth_time, scopes = [], z_asid, z_ia = false, z_eid } = session
  const { name, nonce, at_hash, c_hash } = facts
  return {
    iss: issuer,
    aud: audience,
    azp: clientId,
    client_id: clientId,
    exp: issuedAt + lifetimeSeconds,
    iat: issuedAt,
    auth_time,
    amr,
    sub,
    z_asid,
    ...(scopes.includes('openid') && { name, z_ia, ...(z_eid !== undefined && { z_eid }) }),
    ...(nonce && { nonce }),
    ...(at_hash !== undefined && { at_hash }),
    ...(c_hash !== undefined && { c_hash }),
  }
}

/** A verified access or refresh token of ours: its claims about its session, and about itself. */
export interface ReadToken {
  readonly session: SessionClaims
  readonly type: 'a' | 'r'
  readonly jti: string
  readonly clientId: string
  readonly issuer: string
  /** Seconds since the Unix epoch. */
  readonly issuedAt: number
  readonly expiresAt: number
}

/** Reads the claims of a verified token; `undefined` for a token of another type than access or refresh. */
export function readToken(claims: Claims): ReadToken | undefined {
  const { z_t: type, jti, sub, z_asid, client_id: clientId, iss: issuer, iat: issuedAt, exp: expiresAt } = claims
  if (type !== 'a' && type !== 'r') return undefined
  if (typeof jti !== 'string' || typeof sub !== 'string' || typeof z_asid !== 'string') return undefined
  if (typeof clientId !== 'string' || typeof issuer !== 'string') return undefined
  if (typeof issuedAt !== 'number' || typeof expiresAt !== 'number') return undefined
  const session = sessionClaimsOf(claims)
  return session && { session, type, jti, clientId, issuer, issuedAt, expiresAt }
}

/** Claims of a single token, which do not belong to its session. */
const OF_ONE_TOKEN = ['iss', 'aud', 'exp', 'iat', 'nbf', 'jti', 'client_id', 'z_t']

/** The check of each claim of a session. It is needed because the signing key is the TLS server's, which other software holds too. */
const SHAPES: Readonly<Record<keyof SessionClaims, (value: unknown) => boolean>> = {
  sub: isText,
  amr: isTexts,
  auth_time: (value) => typeof value === 'number',
  scopes: orAbsent(isTexts),
  z_aid: isText,
  z_asid: isText,
  z_authid: isText,
  z_ia: orAbsent((value) => value === true),
  z_eid: orAbsent(isText),
  z_ct: orAbsent(isTexts),
  z_cfs: (value) => value === null || isTexts(value),
  z_acf: orAbsent(isText),
  z_sdk: isObjectOrNull,
  z_env: isObjectOrNull,
  z_ra: isText,
  z_ice: isBoolean,
  z_cer: isBoolean,
  z_ckrr: isBoolean,
  z_iccc: isBoolean,
  z_cae: orAbsent((value) => value === true),
}

function sessionClaimsOf(claims: Claims): SessionClaims | undefined {
  if (!Object.entries(SHAPES).every(([name, isRight]) => isRight(claims[name]))) return undefined
  const carried = Object.entries(claims).filter(([name]) => !OF_ONE_TOKEN.includes(name))
  // Each member has been checked.
  return Object.fromEntries(carried) as unknown as SessionClaims
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}

function isObjectOrNull(value: unknown): boolean {
  return typeof value === 'object' && !Array.isArray(value)
}

function orAbsent(isRight: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === undefined || isRight(value)
}

const TOTP = 'totp'

/** The methods of an authentication after TOTP was passed in the session, or withdrawn. */
function methodsWithTotp(amr: readonly string[], isPassed: boolean): readonly string[] {
  const others = amr.filter((method) => method !== TOTP)
  return isPassed ? [...others, TOTP] : others
}

/** The current facts of an identity, whatever an earlier token says. */
export interface CurrentFacts {
  readonly isAdmin: boolean
  readonly externalId: string | null
  readonly hasPassedTotp: boolean
}

/** The claims of a session, updated for new tokens. */
export function refreshedClaims(session: SessionClaims, now: CurrentFacts): SessionClaims {
  const { z_ia: _wasAdmin, z_eid: _hadExternalId, ...kept } = session
  return {
    ...kept,
    amr: methodsWithTotp(session.amr, now.hasPassedTotp),
    ...(now.isAdmin && { z_ia: true }),
    ...(now.externalId && { z_eid: now.externalId }),
  }
}

/** The claims with another set of scopes; without scopes for an empty set. */
export function withScopes(session: SessionClaims, scopes: readonly string[]): SessionClaims {
  const { scopes: _before, ...kept } = session
  return scopes.length === 0 ? kept : { ...kept, scopes }
}

/** The claims with the fingerprints of the certificates that may present the tokens. */
export function withCertificates(session: SessionClaims, fingerprints: readonly string[]): SessionClaims {
  return { ...session, z_cfs: fingerprints.length === 0 ? null : fingerprints }
}
