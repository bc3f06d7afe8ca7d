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
}

const STRICT: Leniency = {
  allowTotpReuse: false,
  allowUnlimitedCodes: false,
  allowUnlimitedLogins: false,
  allowPrivateJwks: false,
  allowWeakPasswords: false,
  allowSelfDeletion: false,
  allowTokensOfOthers: false,
  keepSessionsOnPasswordChange: false,
  recoveryCodeLength: 10,
}

const OPENZITI: Leniency = {
  allowTotpReuse: true,
  allowUnlimitedCodes: true,
  allowUnlimitedLogins: true,
  allowPrivateJwks: true,
  allowWeakPasswords: true,
  allowSelfDeletion: true,
  allowTokensOfOthers: true,
  keepSessionsOnPasswordChange: true,
  recoveryCodeLength: 6,
}

/** How lenient a controller is: as each option says, else as `compat` does, else not at all. */
export function leniencyOf(options: { readonly compat?: Compat | undefined } & Partial<Leniency>): Leniency {
  const base = options.compat === 'openziti' ? OPENZITI : STRICT
  return {
    allowTotpReuse: options.allowTotpReuse ?? base.allowTotpReuse,
    allowUnlimitedCodes: options.allowUnlimitedCodes ?? base.allowUnlimitedCodes,
    allowUnlimitedLogins: options.allowUnlimitedLogins ?? base.allowUnlimitedLogins,
    allowPrivateJwks: options.allowPrivateJwks ?? base.allowPrivateJwks,
    allowWeakPasswords: options.allowWeakPasswords ?? base.allowWeakPasswords,
    allowSelfDeletion: options.allowSelfDeletion ?? base.allowSelfDeletion,
    allowTokensOfOthers: options.allowTokensOfOthers ?? base.allowTokensOfOthers,
    keepSessionsOnPasswordChange: options.keepSessionsOnPasswordChange ?? base.keepSessionsOnPasswordChange,
    recoveryCodeLength: options.recoveryCodeLength ?? base.recoveryCodeLength,
  }
}

/** Where deployed controllers accept more and no safety is at stake: these follow `compat` alone. */
export interface Profile {
  /** Takes keys of key sets that say what they are by their certificate (`x5c`) alone, without `kty`. */
  readonly allowsUntypedKeys: boolean
  /** A patch of a certificate authority that says nothing of its external id claim takes it away. */
  readonly clearsUnsentClaims: boolean
  /** Operations answer with the status of deployed controllers where it is another one of success. */
  readonly answersDeployedStatus: boolean
}

/** What follows `compat` alone. */
export function profileOf(compat: Compat | undefined): Profile {
  const isDeployed = compat === 'openziti'
  return { allowsUntypedKeys: isDeployed, clearsUnsentClaims: isDeployed, answersDeployedStatus: isDeployed }
}
