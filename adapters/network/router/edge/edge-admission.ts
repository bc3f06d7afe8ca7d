import { createHash, X509Certificate } from 'node:crypto'
import {
  type PresentableSession,
  type PresentedCertificate,
  sessionRefusal,
} from '../../../../src/facts/data-plane/edge/session-admission.ts'
import type { RouterModel } from '../state/router-model.ts'
import type { EdgeClient } from './endpoint.ts'

/** The refusal of what may be announced a moment later: sessions and identities come by ways of their own. */
export const NOT_KNOWN_YET = 'the api session is not known'
/** Whom access tokens are for. */
const AUDIENCES = ['openziti', 'native']
/** How every access token begins; tokens of stored sessions are UUIDs. */
const JWT_START = 'ey'
const LONGEST_TOKEN = 16_384
/** A chain that is longer is of no authority. */
const LONGEST_CHAIN = 5
const IDENTITY_NAME = /^spiffe:\/\/[^/]+\/identity\/([^/]+)(?:\/apiSession\/([^/]+))?/

/** The certificates of a TLS handshake, as they are judged with every session that is presented over it. */
export function readCertificate(chain: readonly Uint8Array[], caPem: string): PresentedCertificate | undefined {
  const [leaf] = chain
  if (leaf === undefined) return undefined
  try {
    const certificate = new X509Certificate(leaf)
    return {
      fingerprint: createHash('sha1').update(leaf).digest('hex'),
      notAfter: Date.parse(certificate.validTo),
      issuedFor: isOfNetwork(certificate, chain.slice(1, LONGEST_CHAIN), caPem) ? namedIn(certificate) : undefined,
    }
  } catch {
    return undefined
  }
}

/** Judges whom a session and a certificate let in; a text is the reason why they let in nobody. `now` is epoch ms. */
export async function admitClient(
  model: RouterModel,
  token: string,
  certificate: EdgeClient['certificate'],
  now: number,
): Promise<EdgeClient | string> {
  const isBearer = token.startsWith(JWT_START)
  const session = isBearer ? await bearerSession(model, token, now) : storedSession(model, token)
  const refusal = sessionRefusal(session, certificate, now)
  if (refusal !== undefined || session === undefined) return refusal ?? NOT_KNOWN_YET
  const identity = model.get('identity', session.identityId)
  if (identity === undefined) return NOT_KNOWN_YET
  if (identity.disabled) return 'the identity is disabled'
  return { session, token, isBearer, certificate, name: identity.name }
}

/** Whether a client that was let in may stay. `now` is epoch ms. */
export function mayStay(model: RouterModel, { session, token, isBearer }: EdgeClient, now: number): boolean {
  const identity = model.get('identity', session.identityId)
  if (identity === undefined || identity.disabled) return false
  if (!isBearer) return model.session(token) !== undefined
  return now < (session.expiresAt ?? 0) && !isRevoked(model, session, claimsOf(token))
}

function storedSession(model: RouterModel, token: string): PresentableSession | undefined {
  const announced = model.session(token)
  if (announced === undefined) return undefined
  const { id, identityId, certFingerprints: fingerprints } = announced
  // The controller ends such sessions itself, and never for a certificate that expired.
  return { id, identityId, fingerprints, expiresAt: undefined, allowsExpiredCertificate: true }
}

async function bearerSession(model: RouterModel, token: string, now: number): Promise<PresentableSession | undefined> {
  const payload = await verifiedClaims(model, token, now, AUDIENCES)
  if (payload === undefined) return undefined
  const { sub, exp, z_t: type, z_asid: id, z_cfs: fingerprints, z_cae: allowsExpired } = payload
  if (type !== 'a' || typeof sub !== 'string' || typeof id !== 'string' || exp === undefined) return undefined
  const session = {
    id,
    identityId: sub,
    fingerprints: Array.isArray(fingerprints) ? fingerprints.map(String) : [],
    expiresAt: exp * 1000,
    allowsExpiredCertificate: allowsExpired === true,
  }
  return isRevoked(model, session, payload) ? undefined : session
}

/** The claims of a token that a controller of the network signed and that has not run out at `now` (epoch ms). */
export async function verifiedClaims(
  model: Pick<RouterModel, 'signingKey'>,
  token: string,
  now: number,
  audiences?: string[],
) {
  if (token.length > LONGEST_TOKEN) return undefined
  const { decodeProtectedHeader, jwtVerify } = await import('jose')
  try {
    const { kid = '', alg = '' } = decodeProtectedHeader(token)
    const key = model.signingKey(kid)?.publicKey
    if (key === undefined || alg.startsWith('HS')) return undefined
    const options = { currentDate: new Date(now), ...(audiences && { audience: audiences }) }
    return (await jwtVerify(token, key, options)).payload
  } catch {
    return undefined
  }
}

function isRevoked(
  model: RouterModel,
  { id, identityId }: PresentableSession,
  claims: Readonly<Record<string, unknown>>,
) {
  const { jti, iat } = claims
  for (const name of [id, identityId, String(jti)]) {
    const revocation = model.get('revocation', name)
    if (revocation === undefined) continue
    const { issuedBefore } = revocation
    if (issuedBefore === undefined || typeof iat !== 'number' || iat <= issuedBefore.seconds) return true
  }
  return false
}

/** A claim of a token that the controller verifies; empty for a token that has none. */
export function claimIn(token: string, name: 'jti' | 'sub'): string {
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

/** Whom the network says that a certificate of its own stands for. */
function namedIn({ subjectAltName = '' }: X509Certificate): PresentedCertificate['issuedFor'] {
  const names = subjectAltName.split(', ').map((name) => name.replace(/^URI:/, ''))
  const [, identityId, apiSessionId] =
    names.map((name) => IDENTITY_NAME.exec(name)).find((match) => match !== null) ?? []
  return identityId === undefined ? undefined : { identityId, apiSessionId }
}

/** Whether the network's own authority issued a certificate, by intermediates that its holder shows. */
function isOfNetwork(leaf: X509Certificate, shown: readonly Uint8Array[], caPem: string): boolean {
  const anchors = certificatesIn(caPem)
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

function certificatesIn(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new X509Certificate(block))
}
