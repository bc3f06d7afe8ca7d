import type { ControllerEvents } from './events.ts'

/** A login by credentials that are good. */
export interface LoginAttempt {
  readonly method: 'password' | 'cert' | 'ext-jwt'
  readonly identityId: string
  readonly remoteAddress: string | undefined
}

/** An enrollment by a token or a certificate that is good. */
export interface EnrollmentAttempt {
  /**
   * `ott`, `ottca` and `updb` redeem the invitation of an identity, `erott` and `trott` that of an edge router or transit router; `ca`
   * and `token` make an identity by what a third party vouches for.
   */
  readonly method: 'ott' | 'ottca' | 'updb' | 'ca' | 'token' | 'erott' | 'trott'
  /** The identity, of `ca` and `token` the one that is made if this goes on; absent from the enrollment of a router. */
  readonly identityId?: string
  /** The router; absent from the enrollment of an identity. */
  readonly routerId?: string
  /** The signing request by which a certificate was asked for, PEM, its signature checked; of a router the one for clients. */
  readonly csr?: string
  readonly remoteAddress: string | undefined
}

/**
 * Rules of the host about logins and enrollments, and what it does after changes. A rule answers whether it goes on, at once or
 * later; one that throws or rejects refuses, and is logged.
 */
export interface HostHooks {
  /** Asked once the credentials of a login are good; who is refused is answered as for wrong credentials. */
  beforeLogin?(attempt: LoginAttempt): boolean | Promise<boolean>
  /** Asked once the token or certificate of an enrollment is good, before anything is written; a token stays good. */
  beforeEnroll?(attempt: EnrollmentAttempt): boolean | Promise<boolean>
  /** Told of each entity that was created, changed or deleted, after the commit; what fails in it is logged. */
  afterChange?(change: ControllerEvents['entity.changed']): void | Promise<void>
}

/** The rules of the host, as services ask them. No function rejects. */
export interface HostRules {
  admitsLogin(attempt: LoginAttempt): Promise<boolean>
  admitsEnrollment(attempt: EnrollmentAttempt): Promise<boolean>
}
