import { isYetToCome } from '../../base/time.ts'
import { hasRights, type RightsHolder } from '../authority/authority.rules.ts'

/** The certificate of a login. */
interface BasisCertificate {
  /** SHA-1, 40 lower-case hex digits. */
  readonly fingerprint: string
  /** Epoch milliseconds of its expiry. The auth policy may accept the certificate after that. */
  readonly notAfter: number
}

/** A certificate authority or external signer that named the identity of a login. */
export interface Voucher {
  /** A digest of the settings by which it lets identities in. */
  readonly trust: string
  /** The external id by which it named the identity; null if an authenticator or the identity's own id named it. */
  readonly externalId: string | null
  /** Epoch milliseconds of the expiry of its pinned key; null or absent without a pinned key. */
  readonly notAfter?: number | null
}

/** A token of an external signer that proved a second factor. */
export interface SignerProof extends Voucher {
  readonly signerId: string
}

/** The credentials of a login that must stay valid as long as the sessions and tokens that follow from the login. */
export interface LoginBasis {
  /** Null for other methods than `cert`. */
  readonly certificate: BasisCertificate | null
  /** Null without a third party. */
  readonly voucher: Voucher | null
}

/** A login, with the credentials that it used. */
export interface LetIn {
  readonly method: 'password' | 'cert' | 'ext-jwt'
  /** The authenticator's id, or a substitute for a login without a stored authenticator. */
  readonly authenticatorId: string
  /** The id of the third party that vouched for the identity: a certificate authority or an external signer. */
  readonly trustAnchorId: string | null
  /** Null for logins of versions that did not store it. */
  readonly basis: LoginBasis | null
  /** Role attributes by the claims of the token that let the identity in; absent where the signer says nothing of them. */
  readonly claimed?: readonly string[] | undefined
}

/** The `authenticatorId` of a login without a stored authenticator: by an external id, or by the host of the controller. */
export const NO_AUTHENTICATOR = 'internal'

/** A login that the host of the controller vouches for. */
export function byHost(): LetIn {
  return { method: 'ext-jwt', authenticatorId: NO_AUTHENTICATOR, trustAnchorId: null, basis: null }
}

/** The current state of a third party. */
export interface CurrentVoucher {
  /** True when it may let identities in: it is enabled, verified and not expired. */
  readonly isInForce: boolean
  readonly mayAuthenticateAdmins: boolean
  readonly trust: string
}

/** The facts that decide whether credentials are still valid. A deleted record is `undefined`. */
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
  /** True when the network's authority that issued the certificate has ended. */
  readonly isIssuerOver: boolean
  readonly voucher: CurrentVoucher | undefined
}

/** The prefix of the `authenticatorId` of a login by a token of an external signer; the signer's id follows. */
const SIGNER_PREFIX = 'extJwtId:'

/** The `authenticatorId` of a login by a token of an external signer. */
export function authenticatorIdOfSigner(signerId: string): string {
  return `${SIGNER_PREFIX}${signerId}`
}

/** The third party behind a login. Logins of versions that did not store it use their authenticator. */
export function trustAnchorOf(
  { authenticatorId, trustAnchorId }: Pick<LetIn, 'authenticatorId' | 'trustAnchorId'>,
  authenticator: BasisFacts['authenticator'],
): string | null {
  if (trustAnchorId !== null) return trustAnchorId
  if (authenticatorId.startsWith(SIGNER_PREFIX)) return authenticatorId.slice(SIGNER_PREFIX.length)
  return authenticator?.caId ?? null
}

/**
 * The reason why the credentials of a login are no longer valid at `now` (epoch ms); `undefined` for valid credentials. This is the only
 * place that decides it: logins under way and their codes, API sessions, tokens and circuits call it.
 */
export function lostBasis(login: LetIn, facts: BasisFacts, now: number): string | undefined {
  switch (login.method) {
    case 'password':
      if (!facts.primary.updb.allowed) return 'auth policy forbids passwords'
      return hasAuthenticator(login, facts) ? undefined : 'the password is gone'
    case 'cert':
      return lostCertificate(login, facts, now) ?? lostVoucher(login, facts)
    case 'ext-jwt': {
      // The host decides about its own logins.
      if (login.authenticatorId === NO_AUTHENTICATOR) return undefined
      const { allowed, allowedSigners } = facts.primary.extJwt
      if (!allowed) return 'auth policy forbids tokens of external signers'
      const isAllowed = allowedSigners.length === 0 || allowedSigners.includes(trustAnchorOf(login, undefined) ?? '')
      return isAllowed ? lostVoucher(login, facts) : 'auth policy forbids the signer'
    }
  }
}

/**
 * The instants (epoch ms) at which credentials of a login expire: its certificate, or the pinned key of a signer that vouched for the
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
  // When an external id names the identity, only the authority must still be valid.
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

/** The reason why a third party may not vouch for an identity at all; `undefined` when it may. */
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
 * The reason why the statement of a third party about an identity is no longer valid; `undefined` while it is. Without `known`, only the
 * third party is judged.
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

/** The facts that decide when an API session expires. Instants are epoch milliseconds. */
interface Ending {
  /** Null for a session without tokens, which ends after a time without use. */
  readonly tokensExpireAt: number | null
  readonly lastActivityAt: number
}

/**
 * The instant (epoch ms) at which an API session expires: a token session with its last token, another session after `apiSessionTimeoutMs`
 * milliseconds without use.
 */
export function endOf(session: Ending, { apiSessionTimeoutMs }: { readonly apiSessionTimeoutMs: number }): number {
  return session.tokensExpireAt ?? session.lastActivityAt + apiSessionTimeoutMs
}

/** The instant (epoch ms) at which an API session is judged next: at its expiry, or earlier when a certificate of its login expires. */
export function dueAtOf(
  session: Ending & Parameters<typeof basisEnds>[0],
  settings: Parameters<typeof endOf>[1],
  now: number,
): number {
  // A session whose auth policy accepts expired certificates goes on, and its certificate's expiry may be in the past.
  const expiries = basisEnds(session).filter((expiry) => expiry >= now)
  return Math.min(endOf(session, settings), ...expiries.map((expiry) => expiry + 1))
}

/** The phase of an API session at `now` (epoch ms): open, over, or begun in the future of a clock that was set back. */
export function phaseOf(
  session: Ending & { readonly createdAt: number },
  now: number,
  settings: Parameters<typeof endOf>[1],
): 'underway' | 'over' | 'future' {
  if (isYetToCome(Math.max(session.createdAt, session.lastActivityAt), now)) return 'future'
  return now < endOf(session, settings) ? 'underway' : 'over'
}
