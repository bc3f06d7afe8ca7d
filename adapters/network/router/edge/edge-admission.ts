import { createHash, X509Certificate } from 'node:crypto'
import {
  EDGE_ERROR,
  type EdgeRefusal,
  isAccessToken,
  type PresentableSession,
  type PresentedCertificate,
  sessionRefusal,
} from '../../../../src/data-plane.ts'
import { textIn } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { certificatesIn } from '../../enrollment/created-requests.ts'
import type { RouterModel } from '../state/router-model.ts'
import type { EdgeClient } from './endpoint.ts'

/** The refusal of a session that may be announced a moment later: sessions, identities and keys arrive separately. */
export const NOT_KNOWN_YET = 'the api session is not known'
const NO_CERTIFICATE = 'no client certificate was shown'
const INVALID_TOKEN = 'the access token is invalid'
const EXPIRED_TOKEN = 'the access token has expired'
/** Refusals that no announcement changes. */
const FINAL: ReadonlySet<string> = new Set([NO_CERTIFICATE, INVALID_TOKEN, EXPIRED_TOKEN])
/** The audiences of access tokens. */
const AUDIENCES = ['openziti', 'native']
/** Characters of a token; controllers issue shorter ones. */
export const LONGEST_TOKEN = 16_384
/** The most certificates of a chain; no authority issues a longer chain. */
const LONGEST_CHAIN = 5
/** Seconds by which the clock of a controller may be ahead. */
const CLOCK_TOLERANCE = 5
type Claims = Readonly<Record<string, unknown>>
const IDENTITY_NAME = /^spiffe:\/\/[^/]+\/identity\/([^/]+)(?:\/apiSession\/([^/]+))?/

/**
 * The certificate of a TLS handshake, which is judged with every session that is presented over it. Its chain is verified once, and only
 * for a session that does not name the certificate.
 */
export function readCertificate(chain: readonly Uint8Array[], caPem: string): PresentedCertificate | undefined {
  const [leaf] = chain
  if (leaf === undefined) return undefined
  try {
    const certificate = new X509Certificate(leaf)
    let issuedFor: { readonly known: PresentedCertificate['issuedFor'] } | undefined
    return {
      fingerprint: createHash('sha1').update(leaf).digest('hex'),
      notAfter: Date.parse(certificate.validTo),
      get issuedFor() {
        issuedFor ??= { known: issuedByNetwork(certificate, chain.slice(1, LONGEST_CHAIN), caPem) }
        return issuedFor.known
      },
    }
  } catch {
    return undefined
  }
}

/** The refusal of a session whose token is longer than any. It is not passed on: a controller would get it as a header. */
export const NO_TOKEN: EdgeRefusal = { text: 'the session is invalid', code: EDGE_ERROR['invalid-session'] }

/** Whether a refusal holds for all later announcements. */
export function isFinal(refusal: string): boolean {
  return FINAL.has(refusal)
}

/**
 * Judges the client of a token and a certificate anew for each question, because facts may be announced meanwhile. The signature of the
 * token is verified once.
 */
export class Admission {
  readonly #model: RouterModel
  readonly #token: string
  readonly #certificate: EdgeClient['certificate']
  #claims: Claims | undefined

  constructor(model: RouterModel, token: string, certificate: EdgeClient['certificate']) {
    this.#model = model
    this.#token = token
    this.#certificate = certificate
  }

  /** The client that they admit at `now` (epoch ms); a text is the reason for a refusal. */
  async judge(now: number): Promise<EdgeClient | string> {
    if (this.#certificate === undefined) return NO_CERTIFICATE
    const isBearer = isAccessToken(this.#token)
    const session = isBearer ? await this.#bearerSession(now) : storedSession(this.#model, this.#token)
    if (typeof session === 'string') return session
    const refusal = sessionRefusal(session, this.#certificate, now)
    if (refusal !== undefined || session === undefined) return refusal ?? NOT_KNOWN_YET
    const identity = this.#model.get('identity', session.identityId)
    if (identity === undefined) return NOT_KNOWN_YET
    if (identity.disabled) return 'the identity is disabled'
    const issued = issuedIn(this.#claims ?? {})
    return { session, token: this.#token, isBearer, issued, certificate: this.#certificate, name: identity.name }
  }

  async #bearerSession(now: number): Promise<PresentableSession | string> {
    const claims = this.#claims ?? (await verifiedClaims(this.#model, this.#token, now, AUDIENCES))
    if (typeof claims === 'string') return claims
    this.#claims = claims
    const session = sessionIn(claims)
    if (session === undefined) return INVALID_TOKEN
    return isRevoked(this.#model, session, issuedIn(claims)) ? 'the api session is revoked' : session
  }
}

/** Whether an admitted client may stay. `now` is epoch ms. */
export function mayStay(model: RouterModel, { session, token, isBearer, issued }: EdgeClient, now: number): boolean {
  const identity = model.get('identity', session.identityId)
  if (identity === undefined || identity.disabled) return false
  if (!isBearer) return model.session(token) !== undefined
  return now < (session.expiresAt ?? 0) && !isRevoked(model, session, issued)
}

function storedSession(model: RouterModel, token: string): PresentableSession | undefined {
  const announced = model.session(token)
  if (announced === undefined) return undefined
  const { id, identityId, certFingerprints: fingerprints } = announced
  // The controller ends such sessions itself, and never for a certificate that expired.
  return { id, identityId, fingerprints, expiresAt: undefined, allowsExpiredCertificate: true }
}

/** The session of the claims of an access token; undefined for claims of another kind of token. */
function sessionIn(claims: Claims): PresentableSession | undefined {
  const { sub, exp, z_t: type, z_asid: id, z_cfs: fingerprints, z_cae: allowsExpired } = claims
  if (type !== 'a' || typeof sub !== 'string' || typeof id !== 'string' || typeof exp !== 'number') return undefined
  return {
    id,
    identityId: sub,
    fingerprints: Array.isArray(fingerprints) ? fingerprints.map(String) : [],
    expiresAt: exp * 1000,
    allowsExpiredCertificate: allowsExpired === true,
  }
}

/**
 * The claims of a token that a controller of the network signed and that has not run out at `now` (epoch ms). A text is the reason for a
 * refusal: the key of the signer may be announced later.
 */
export async function verifiedClaims(
  model: Pick<RouterModel, 'signingKey'>,
  token: string,
  now: number,
  audiences?: string[],
): Promise<Claims | string> {
  if (token.length > LONGEST_TOKEN) return INVALID_TOKEN
  const { decodeProtectedHeader, errors, jwtVerify } = await import('jose')
  try {
    const { kid = '', alg = '' } = decodeProtectedHeader(token)
    if (alg.startsWith('HS')) return INVALID_TOKEN
    const key = model.signingKey(kid)?.publicKey
    if (key === undefined) return NOT_KNOWN_YET
    const times = { currentDate: new Date(now), clockTolerance: CLOCK_TOLERANCE }
    return (await jwtVerify(token, key, { ...times, ...(audiences && { audience: audiences }) })).payload
  } catch (error) {
    return error instanceof errors.JWTExpired ? EXPIRED_TOKEN : INVALID_TOKEN
  }
}

function issuedIn({ jti, iat }: Claims): EdgeClient['issued'] {
  return { tokenId: typeof jti === 'string' ? jti : '', at: typeof iat === 'number' ? iat : undefined }
}

function isRevoked(
  model: RouterModel,
  { id, identityId }: PresentableSession,
  { tokenId, at }: EdgeClient['issued'],
): boolean {
  for (const name of [id, identityId, tokenId]) {
    const revocation = model.get('revocation', name)
    if (revocation === undefined) continue
    const { issuedBefore } = revocation
    if (issuedBefore === undefined || at === undefined || at <= issuedBefore.seconds) return true
  }
  return false
}

/** A claim of a token that the controller verifies; empty where the claim is absent. */
export function claimIn(token: string, name: 'jti' | 'sub' | 'z_asid' | 'z_st'): string {
  if (token.length > LONGEST_TOKEN) return ''
  try {
    const claim = claimsOf(token)[name]
    return typeof claim === 'string' ? claim : ''
  } catch {
    return ''
  }
}

/** The claims of a token whose signature was verified before, or is to be. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const [, claims = ''] = token.split('.')
  return JSON.parse(Buffer.from(claims, 'base64url').toString())
}

/** The identity for which the network issued a certificate; undefined for a certificate of another authority. */
function issuedByNetwork(
  certificate: X509Certificate,
  shown: readonly Uint8Array[],
  caPem: string,
): PresentedCertificate['issuedFor'] {
  try {
    return isOfNetwork(certificate, shown, caPem) ? namedIn(certificate) : undefined
  } catch {
    return undefined
  }
}

/** The identity that a certificate of the network names. */
function namedIn({ subjectAltName = '' }: X509Certificate): PresentedCertificate['issuedFor'] {
  const names = subjectAltName.split(', ').map((name) => name.replace(/^URI:/, ''))
  const [, identityId, apiSessionId] =
    names.map((name) => IDENTITY_NAME.exec(name)).find((match) => match !== null) ?? []
  return identityId === undefined ? undefined : { identityId, apiSessionId }
}

/** Whether the network's own authority issued a certificate, by intermediates that its holder shows. */
function isOfNetwork(leaf: X509Certificate, shown: readonly Uint8Array[], caPem: string): boolean {
  const anchors = certificatesIn(caPem).map((der) => new X509Certificate(der))
  const intermediates = shown.map((der) => new X509Certificate(der))
  let subject = leaf
  for (let depth = 0; depth < LONGEST_CHAIN; depth += 1) {
    if (anchors.some((anchor) => signed(anchor, subject))) return true
    const issuer = intermediates.find((candidate) => candidate.ca && signed(candidate, subject))
    if (issuer === undefined) return false
    subject = issuer
  }
  return false
}

function signed(issuer: X509Certificate, subject: X509Certificate): boolean {
  return issuer.ca && subject.checkIssued(issuer) && subject.verify(issuer.publicKey)
}

/** The reason for which a token cannot be used to bind, by its own claims: its controller judges the rest a moment later. */
export function sessionObjection({ session }: EdgeClient, message: Frame): EdgeRefusal | undefined {
  const token = textIn(message)
  if (token.length > LONGEST_TOKEN) return NO_TOKEN
  const [type, apiSessionId] = [claimIn(token, 'z_st'), claimIn(token, 'z_asid')]
  if (type !== '' && type !== 'Bind')
    return { text: 'the session is not for binding', code: EDGE_ERROR['wrong-session-type'] }
  if (apiSessionId === '' || apiSessionId === session.id) return undefined
  return { text: 'the session is of another api session', code: EDGE_ERROR['invalid-session'] }
}
