import type { AccessApproval, AccessRefusal } from '../access/access-request.resource.ts'
import type { DirectoryAnswer } from '../identities/directory.rules.ts'
import type { ControllerEvents } from './events.ts'
import type { DirectoryChange, DirectoryIdentity, DirectoryPerson, DirectorySearch } from './host-directory.ts'

/** A login with valid credentials. */
export interface LoginAttempt {
  readonly method: 'password' | 'cert' | 'ext-jwt'
  readonly identityId: string
  readonly remoteAddress: string | undefined
}

/** An enrollment with a valid token or certificate. */
export interface EnrollmentAttempt {
  /**
   * `ott`, `ottca` and `updb` redeem the invitation of an identity, `erott` and `trott` the invitation of an edge router or transit router;
   * `ca` and `token` create an identity that a third party vouches for.
   */
  readonly method: 'ott' | 'ottca' | 'updb' | 'ca' | 'token' | 'erott' | 'trott'
  /** The identity; for `ca` and `token`, the identity that the enrollment will create. Absent for a router. */
  readonly identityId?: string
  /** The router; absent for an identity. */
  readonly routerId?: string
  /** The signing request for a certificate, PEM, with a verified signature; for a router, the request for its client certificate. */
  readonly csr?: string
  readonly remoteAddress: string | undefined
}

/** Milliseconds that the host may take to decide an access request; the request stays open then. */
export const GRANT_RULE_MS = 5000

/** An access request that was just made. */
export interface GrantRequest {
  readonly requestId: string
  readonly identityId: string
  readonly identityName: string
  /** The name of the service; where there is no such service, the text of the identity. */
  readonly service: string
  /** Undefined where there is no such service: an answer that depends on it tells the identity so. */
  readonly serviceId: string | undefined
  readonly type: 'Dial' | 'Bind'
  /** Milliseconds for which the access is asked for. */
  readonly durationMs: number
  readonly reason: string
  readonly remoteAddress: string | undefined
}

/** The decision of a host about an access request. `undefined` leaves it open for a person. */
export type GrantDecision =
  | 'approve'
  | 'refuse'
  | ({ readonly decision: 'approve' } & AccessApproval)
  | ({ readonly decision: 'refuse' } & AccessRefusal)
  | undefined

/**
 * Rules of the host for logins and enrollments, and its reaction to changes. A rule answers true to permit, at once or later. A rule that
 * fails counts as a refusal, and is logged.
 */
export interface HostHooks {
  /** Called once the credentials of a login are valid. A refused client gets the same answer as for wrong credentials. */
  beforeLogin?(attempt: LoginAttempt): boolean | Promise<boolean>
  /** Called once the token or certificate of an enrollment is valid, before any write. After a refusal the token stays valid. */
  beforeEnroll?(attempt: EnrollmentAttempt): boolean | Promise<boolean>
  /**
   * Called once an access request is made. It may take 5 s. A rule that fails or answers later leaves the request open, and is logged.
   *
   * @example
   * import type { HostHooks } from 'portcullis'
   * const beforeGrant: HostHooks['beforeGrant'] = ({ durationMs }) => (durationMs <= 3_600_000 ? 'approve' : undefined)
   */
  beforeGrant?(request: GrantRequest): GrantDecision | Promise<GrantDecision>
  /** Called after the commit for each entity that was created, changed or deleted. Its failures are logged. */
  afterChange?(change: ControllerEvents['entity.changed']): void | Promise<void>
}

/** A question to a directory, until its answer is written. A later question about the same identity that is answered makes it outdated. */
export interface DirectoryQuestion {
  isOutdated: boolean
}

/** The question of the logins of one identity. Its answer is false where the directory gave none. No promise rejects. */
export interface LoginQuestion {
  running: Promise<boolean>
  /** The question after it, which has not begun. */
  next: Promise<boolean> | undefined
}

/** The directory of the host, as services ask it. No function rejects or throws. */
export interface AskedDirectory {
  /** Undefined where the directory gives no valid answer in time. */
  answerFor(identity: DirectoryIdentity): Promise<{ readonly answer: DirectoryAnswer } | undefined>
  /** Undefined where the directory finds nobody, or gives no valid answer in time. */
  find(wanted: DirectorySearch): Promise<DirectoryPerson | undefined>
  /** Calls `listener`, which does not reject, after each change that the host reports; answers the function that ends this. */
  follow(listener: (change: DirectoryChange) => Promise<void>): () => void
  /** The questions of this process, in the order of asking, by the id of the identity. */
  readonly underWay: Map<string, Set<DirectoryQuestion>>
  /** The questions of logins of this process, by the id of the identity. */
  readonly ofLogins: Map<string, LoginQuestion>
  /** The changes that could not be written yet, by their texts. Each of `reports` answers a report of the change. */
  readonly leftChanges: Map<string, { readonly change: DirectoryChange; readonly reports: (() => void)[] }>
  /** Milliseconds for which an answer counts. */
  readonly keepForMs: number
}

/** The rules of the host, as services call them. No function rejects. */
export interface HostRules {
  admitsLogin(attempt: LoginAttempt): Promise<boolean>
  admitsEnrollment(attempt: EnrollmentAttempt): Promise<boolean>
  /** Undefined where the host decides nothing, fails, or takes too long. */
  decidesGrant(request: GrantRequest): Promise<Exclude<GrantDecision, string>>
  /** Undefined where the host has no directory. */
  readonly directory: AskedDirectory | undefined
}
