/** A login by credentials that are good. */
export interface LoginAttempt {
  readonly method: 'password' | 'cert' | 'ext-jwt'
  readonly identityId: string
  readonly remoteAddress: string | undefined
}

/** An enrollment by a token or a certificate that is good. */
export interface EnrollmentAttempt {
  /** `ott`, `ottca` and `updb` redeem an invitation; `ca` and `token` make an identity by what a third party vouches for. */
  readonly method: 'ott' | 'ottca' | 'updb' | 'ca' | 'token'
  /** The identity, of `ca` and `token` the one that is made if this goes on. */
  readonly identityId: string
  readonly remoteAddress: string | undefined
}

/**
 * Rules of the host about logins and enrollments. A function answers whether it goes on, at once or later. One that throws or
 * rejects refuses, and is logged.
 */
export interface HostHooks {
  /** Asked once the credentials of a login are good; who is refused is answered as for wrong credentials. */
  beforeLogin?(attempt: LoginAttempt): boolean | Promise<boolean>
  /** Asked once the token or certificate of an enrollment is good, before anything is written; a token stays good. */
  beforeEnroll?(attempt: EnrollmentAttempt): boolean | Promise<boolean>
}

/** The rules of the host, as services ask them. No function rejects. */
export interface HostRules {
  admitsLogin(attempt: LoginAttempt): Promise<boolean>
  admitsEnrollment(attempt: EnrollmentAttempt): Promise<boolean>
}
