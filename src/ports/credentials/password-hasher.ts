/** Turns passwords into verifiers. Implementations cap how many hashes run at once, so that logins cannot starve the host. */
export interface PasswordHasher {
  /** Answers a PHC string (`$argon2id$…`) that carries its own salt and parameters. Throws on the empty password. */
  hash(password: string): Promise<string>
  /**
   * Reports whether `password` belongs to `verifier`. Without a verifier it spends the same time as with one and
   * answers `false`, so that a caller cannot tell an unknown user from a wrong password.
   */
  verify(password: string, verifier: string | undefined): Promise<boolean>
  /** Reports whether `verifier` was made in another way than {@link hash} makes them now, so that it is to be replaced. */
  needsRehash(verifier: string): boolean
}
