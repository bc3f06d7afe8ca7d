/** Time-based one-time passwords as authenticator apps compute them: HMAC-SHA1, six digits, steps of 30 seconds. */
export interface Totp {
  /** A fresh secret, base32. */
  newSecret(): Promise<string>
  /**
   * The time step that a code belongs to, among the one at `now` (epoch ms) and two before and after it; `undefined` for a
   * code of none of them. Each step is to be accepted once.
   */
  stepOf(secret: string, code: string, now: number): Promise<number | undefined>
  /** The `otpauth:` URL from which an authenticator app takes the secret. */
  provisioningUrl(secret: string, issuer: string, account: string): Promise<string>
}
