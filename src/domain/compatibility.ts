/** Whose clients a controller gives up strictness for. */
export type Compat = 'openziti'

/** Where a controller is stricter than deployed ones in a way that a client could notice: each may be loosened by itself. */
export interface Leniency {
  /** Accepts a one-time code again while its time step is near. Strict: once. */
  readonly allowTotpReuse: boolean
  /** Takes any number of wrong codes. Strict: 429 after 10 in five minutes or 50 in a day, until they are so long past. */
  readonly allowUnlimitedCodes: boolean
  /** Takes any number of logins by password. Strict: 429 beyond the rates of `rateLimits`; a rate that is given wins. */
  readonly allowUnlimitedLogins: boolean
  /** Allows the key sets of external JWT signers at addresses of private networks and of this machine. Strict: 400. */
  readonly allowPrivateJwks: boolean
  /** Keeps an auth policy's password rules without enforcing them. Strict: a password that breaks them is 400. */
  readonly allowWeakPasswords: boolean
  /** Lets an identity delete itself. Strict: 409, so that no admin locks everybody out by a slip. */
  readonly allowSelfDeletion: boolean
  /** Takes any token of the signer that an auth policy requires besides. Strict: it names the identity of the session. */
  readonly allowTokensOfOthers: boolean
  /** API sessions of a password go on when it is changed. Strict: they end, the caller's own too. */
  readonly keepSessionsOnPasswordChange: boolean
  /** Characters of an MFA recovery code, five bits each. Strict: 10; deployed controllers have 6. */
  readonly recoveryCodeLength: number
  /**
   * Milliseconds for which a refresh token that was used up gets an answer again, for the same client and certificate: the
   * answer may have been lost. Presented later it ends the session. Strict: 10 seconds; deployed controllers take a minute.
   */
  readonly refreshTokenGraceMs: number
}

/**
 * Everything in which a controller may do as deployed ones do: what each option of {@link Leniency} says, and where no safety
 * is at stake and `compat` alone decides. What is asked anywhere is a member of this one value.
 */
export interface Profile extends Leniency {
  /** Takes keys of key sets that say what they are by their certificate (`x5c`) alone, without `kty`. */
  readonly allowsUntypedKeys: boolean
  /** A patch of a certificate authority that says nothing of its external id claim takes it away. */
  readonly clearsUnsentClaims: boolean
  /** Operations answer with the status of deployed controllers where it is another one of success. */
  readonly answersDeployedStatus: boolean
  /** Hashes and fingerprints of posture checks are shown as they were written, not as lower-case hex digits. */
  readonly keepsHexAsWritten: boolean
  /** Too many wrong passwords disable the identity as well: no other method lets it in, and its API sessions end. */
  readonly disablesLockedOut: boolean
  /** Service updates move for access that came and went since the last look, and for reports of the endpoint, too. */
  readonly tellsPassingAccess: boolean
  /** Services show, and sessions name, every policy that grants them; otherwise one for all that ask for the same posture. */
  readonly namesEveryPolicy: boolean
  /** What nobody filled is shown as deployed controllers do: lists and configs as null, listeners of routers not at all. */
  readonly showsEmptyAsDeployed: boolean
  /** Edge routers are listed among transit routers, too. */
  readonly listsEdgeRoutersAsRouters: boolean
  /** What a request has to hold there, though it has a default here: `encryptionRequired` of a new service. */
  readonly requiresDeployedMembers: boolean
  /** Lists below a service that is not there are empty, as below every other entity. Else they are `NOT_FOUND`. */
  readonly listsBelowUnknownServices: boolean
  /** Identities of the types `User`, `Device` and `Service` are of the type `Default`; only that and `Router` are listed. */
  readonly knowsDefaultTypeAlone: boolean
}

const STRICT: Profile = {
  allowTotpReuse: false,
  allowUnlimitedCodes: false,
  allowUnlimitedLogins: false,
  allowPrivateJwks: false,
  allowWeakPasswords: false,
  allowSelfDeletion: false,
  allowTokensOfOthers: false,
  keepSessionsOnPasswordChange: false,
  recoveryCodeLength: 10,
  refreshTokenGraceMs: 10_000,
  allowsUntypedKeys: false,
  clearsUnsentClaims: false,
  answersDeployedStatus: false,
  keepsHexAsWritten: false,
  disablesLockedOut: false,
  tellsPassingAccess: false,
  namesEveryPolicy: false,
  showsEmptyAsDeployed: false,
  listsEdgeRoutersAsRouters: false,
  requiresDeployedMembers: false,
  listsBelowUnknownServices: false,
  knowsDefaultTypeAlone: false,
}

const DEPLOYED: Profile = {
  allowTotpReuse: true,
  allowUnlimitedCodes: true,
  allowUnlimitedLogins: true,
  allowPrivateJwks: true,
  allowWeakPasswords: true,
  allowSelfDeletion: true,
  allowTokensOfOthers: true,
  keepSessionsOnPasswordChange: true,
  recoveryCodeLength: 6,
  refreshTokenGraceMs: 60_000,
  allowsUntypedKeys: true,
  clearsUnsentClaims: true,
  answersDeployedStatus: true,
  keepsHexAsWritten: true,
  disablesLockedOut: true,
  tellsPassingAccess: true,
  namesEveryPolicy: true,
  showsEmptyAsDeployed: true,
  listsEdgeRoutersAsRouters: true,
  requiresDeployedMembers: true,
  listsBelowUnknownServices: true,
  knowsDefaultTypeAlone: true,
}

/** The profile of a controller: as each option says, else as `compat` does, else strict. */
export function profileOf(options: { readonly compat?: Compat | undefined } & Partial<Leniency>): Profile {
  const base = options.compat === 'openziti' ? DEPLOYED : STRICT
  return {
    ...base,
    allowTotpReuse: options.allowTotpReuse ?? base.allowTotpReuse,
    allowUnlimitedCodes: options.allowUnlimitedCodes ?? base.allowUnlimitedCodes,
    allowUnlimitedLogins: options.allowUnlimitedLogins ?? base.allowUnlimitedLogins,
    allowPrivateJwks: options.allowPrivateJwks ?? base.allowPrivateJwks,
    allowWeakPasswords: options.allowWeakPasswords ?? base.allowWeakPasswords,
    allowSelfDeletion: options.allowSelfDeletion ?? base.allowSelfDeletion,
    allowTokensOfOthers: options.allowTokensOfOthers ?? base.allowTokensOfOthers,
    keepSessionsOnPasswordChange: options.keepSessionsOnPasswordChange ?? base.keepSessionsOnPasswordChange,
    recoveryCodeLength: options.recoveryCodeLength ?? base.recoveryCodeLength,
    refreshTokenGraceMs: options.refreshTokenGraceMs ?? base.refreshTokenGraceMs,
  }
}
