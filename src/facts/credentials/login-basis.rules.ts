import { isYetToCome } from '../../base/time.ts'
import { hasRights, type RightsHolder } from '../authority/authority.rules.ts'

/** A certificate that logged somebody in. */
interface BasisCertificate {
  /** SHA-1, 40 lower-case hex digits. */
  readonly fingerprint: string
  /** Epoch milliseconds; the certificate is good until then, and after it where the auth policy says so. */
  readonly notAfter: number
}

/** A certificate authority or external signer that named who logged in. */
export interface Voucher {
  /** A digest of what decided whom it lets in. */
  readonly trust: string
  /** The external id by which it named the identity; null where an authenticator or the identity's own id did. */
  readonly externalId: string | null
  /** Epoch milliseconds until which its pinned key is good; null, or not there, where none is pinned. */
  readonly notAfter?: number | null
}

/** A token of an external signer that proved a second factor. */
export interface SignerProof extends Voucher {
  readonly signerId: string
}

/** The credentials of a login, as far as they have to hold for as long as something that follows from the login does. */
export interface LoginBasis {
  /** Null for other methods than `cert`. */
  readonly certificate: BasisCertificate | null
  /** Null where no third party was asked. */
  readonly voucher: Voucher | null
}

/** A login, by the credentials that let somebody in. */
export interface LetIn {
  readonly method: 'password' | 'cert' | 'ext-jwt'
  /** The authenticator's id, or what stands for one that is not stored. */
  readonly authenticatorId: string
  /** The id of the third party that vouched for the identity: a certificate authority or an external signer. */
  readonly trustAnchorId: string | null
  /** Null for logins of versions that did not keep it. */
  readonly basis: LoginBasis | null
}

/** The `authenticatorId` of a login without a stored authenticator: by an external id, or by the host of the controller. */
export const NO_AUTHENTICATOR = 'internal'

/** A login that the host of the controller vouches for by means of its own. */
export function byHost(): LetIn {
  return { method: 'ext-jwt', authenticatorId: NO_AUTHENTICATOR, trustAnchorId: null, basis: null }
}

/** A third party as it is now. */
export interface CurrentVoucher {
  /** Whether anybody is let in by it: it is enabled, verified, and has not run out. */
  readonly isInForce: boolean
  readonly mayAuthenticateAdmins: boolean
  readonly trust: string
}

/** The facts that decide whether credentials still let in. A record that is gone is `undefined`. */
export interface BasisFacts {
  readonly identity: RightsHolder & { readonly id: string; readonly externalId: string | null }
  readonly primary: {
    readonly updb: { readonly allowed: boolean }
    readonly cert: { readonly allowed: boolean; readonly allowExpiredCerts: boolean }
    readonly extJwt: { readonly allowed: boolean; readonly allowedSigners: readonly string[] }
  }
  readonly authenticator:
    | { readonly identityId: string; readonly fingerprint: string | null; readonly caId: string | null }
    | undefined
  /** Whether the authority of the network that issued the certificate has ended. */
  readonly isIssuerOver: boolean
  readonly voucher: CurrentVoucher | undefined
}

/** Begins the `authenticatorId` of a login by a token of an external signer, whose id follows. */
const SIGNER_PREFIX = 'extJwtId:'

/** The `authenticatorId` of a login by a token of an external signer. */
export function authenticatorIdOfSigner(signerId: string): string {
  return `${SIGNER_PREFIX}${signerId}`
}

/** The third party behind a login. Logins of versions that did not keep it go by their authenticator. */
export function trustAnchorOf(
  { authenticatorId, trustAnchorId }: Pick<LetIn, 'authenticatorId' | 'trustAnchorId'>,
  authenticator: BasisFacts['authenticator'],
): string | null {
  if (trustAnchorId !== null) return trustAnchorId
  if (authenticatorId.startsWith(SIGNER_PREFIX)) return authenticatorId.slice(SIGNER_PREFIX.length)
  return authenticator?.caId ?? null
}

/**
 * Why the credentials of a login would not let the identity in at `now` (epoch ms) any more; `undefined` while they would.
 * This is the one place that says so: a login under way, its code, an API session, its tokens and circuits ask it.
 */
export function lostBasis(login: LetIn, facts: BasisFacts, now: number): string | undefined {
  switch (login.method) {
    case 'password':
      if (!facts.primary.updb.allowed) return 'auth policy forbids passwords'
      return hasAuthenticator(login, facts) ? undefined : 'the password is gone'
    case 'cert':
      return lostCertificate(login, facts, now) ?? lostVoucher(login, facts)
    case 'ext-jwt': {
      // The host lets in whom it wants.
      if (login.authenticatorId === NO_AUTHENTICATOR) return undefined
      const { allowed, allowedSigners } = facts.primary.extJwt
      if (!allowed) return 'auth policy forbids tokens of external signers'
      const isAllowed = allowedSigners.length === 0 || allowedSigners.includes(trustAnchorOf(login, undefined) ?? '')
      return isAllowed ? lostVoucher(login, facts) : 'auth policy forbids the signer'
    }
  }
}

/**
 * The instants (epoch ms) at which something of a login runs out: its certificate, or that of a signer who vouched for the
 * identity or proved a second factor.
 */
export function basisEnds({
  basis,
  signerProof,
}: Pick<LetIn, 'basis'> & { readonly signerProof?: SignerProof | null }): readonly number[] {
  return [basis?.certificate?.notAfter, basis?.voucher?.notAfter, signerProof?.notAfter].filter((end) => end != null)
}

function lostCertificate(login: LetIn, facts: BasisFacts, now: number): string | undefined {
  const { cert } = facts.primary
  if (!cert.allowed) return 'auth policy forbids certificates'
  const known = login.basis?.certificate
  if (!cert.allowExpiredCerts && known && known.notAfter < now) return 'client certificate is not valid now'
  // Where an external id tells who it is, the authority alone stands for the certificate.
  if (login.authenticatorId === NO_AUTHENTICATOR && login.trustAnchorId !== null) return undefined
  if (!hasAuthenticator(login, facts)) return 'the certificate is gone'
  if (facts.isIssuerOver) return 'the authority of the client certificate has ended'
  const isSame = known === undefined || known === null || facts.authenticator?.fingerprint === known.fingerprint
  return isSame ? undefined : 'client certificate was replaced'
}

function hasAuthenticator({ authenticatorId }: LetIn, { authenticator, identity }: BasisFacts): boolean {
  return authenticatorId !== NO_AUTHENTICATOR && authenticator?.identityId === identity.id
}

function lostVoucher(login: LetIn, { identity, authenticator, voucher }: BasisFacts): string | undefined {
  if (trustAnchorOf(login, authenticator) === null) return undefined
  return lostWord(login.basis?.voucher, identity, voucher)
}

/** Tells why a third party may not vouch for an identity, whatever it says of it; `undefined` while it may. */
export function lostTrust(
  identity: RightsHolder,
  voucher: Pick<CurrentVoucher, 'isInForce' | 'mayAuthenticateAdmins'> | undefined,
): string | undefined {
  if (!voucher?.isInForce) return 'the third party lets nobody in any more'
  if (hasRights(identity) && !voucher.mayAuthenticateAdmins)
    return 'the third party may not let in identities with rights'
  return undefined
}

/**
 * Tells why the word of a third party counts no more for an identity; `undefined` while it does. Without `known` the third
 * party is judged alone.
 */
export function lostWord(
  known: Voucher | null | undefined,
  identity: BasisFacts['identity'],
  voucher: CurrentVoucher | undefined,
): string | undefined {
  const untrusted = lostTrust(identity, voucher)
  if (untrusted !== undefined || voucher === undefined || !known) return untrusted
  if (known.trust !== voucher.trust) return 'the third party decides otherwise whom it lets in'
  const isNamed = known.externalId === null || known.externalId === identity.externalId
  return isNamed ? undefined : 'the external id names the identity no more'
}

/** How an API session ends by time. Instants are epoch milliseconds. */
interface Ending {
  /** Null for a session that is not made of tokens: it ends when nobody uses it. */
  readonly tokensExpireAt: number | null
  readonly lastActivityAt: number
}

/**
 * When (epoch ms) an API session ends by itself: with its last token where it is made of tokens, otherwise after
 * `apiSessionTimeoutMs` milliseconds without use.
 */
export function endOf(session: Ending, { apiSessionTimeoutMs }: { readonly apiSessionTimeoutMs: number }): number {
  return session.tokensExpireAt ?? session.lastActivityAt + apiSessionTimeoutMs
}

/** When (epoch ms) an API session is looked at next: at its end, or before, when a certificate that its login stands on runs out. */
export function dueAtOf(
  session: Ending & Parameters<typeof basisEnds>[0],
  settings: Parameters<typeof endOf>[1],
  now: number,
): number {
  // Where the auth policy takes expired certificates, the session goes on, and that instant is behind it.
  const expiries = basisEnds(session).filter((expiry) => expiry >= now)
  return Math.min(endOf(session, settings), ...expiries.map((expiry) => expiry + 1))
}

/** Whether an API session is underway at `now` (epoch ms), is over, or is from the future of a clock that went back. */
export function phaseOf(
  session: Ending & { readonly createdAt: number },
  now: number,
  settings: Parameters<typeof endOf>[1],
): 'underway' | 'over' | 'future' {
  if (isYetToCome(Math.max(session.createdAt, session.lastActivityAt), now)) return 'future'
  return now < endOf(session, settings) ? 'underway' : 'over'
}
