import { instant } from '../../time/instant.ts'

/** When a value was reported (epoch ms), and in answer to which posture check. */
export interface Report {
  readonly postureCheckId: string
  readonly lastUpdatedAt: number
}

/** A report in answer to a posture check, made at `now` (epoch ms). */
export function reportOf(response: { readonly id: string }, now: number): Report {
  return { postureCheckId: response.id, lastUpdatedAt: now }
}

/** When a value was reported and for which posture check, as it is shown: null and empty when it never was. */
export interface ReportView {
  readonly lastUpdatedAt: Date | null
  readonly postureCheckId: string
  readonly timedOut: boolean
}

/** Shows when a value was reported. Reported values have no timeout of their own, so none is ever timed out. */
export function reportView(report: Report | null): ReportView {
  return {
    lastUpdatedAt: instant(report?.lastUpdatedAt ?? null),
    postureCheckId: report?.postureCheckId ?? '',
    timedOut: false,
  }
}

/** What an SDK says about itself when it authenticates. */
export interface SdkInfo {
  readonly appId?: string | undefined
  readonly appVersion?: string | undefined
  readonly branch?: string | undefined
  readonly revision?: string | undefined
  readonly type?: string | undefined
  readonly version?: string | undefined
}

/** When an API session last passed MFA (epoch ms). */
export interface SessionMfa {
  readonly passedAt: number | null
}

/** What is known about the endpoint of one API session. Instants are epoch ms. */
export interface SessionPosture {
  readonly apiSessionId: string
  readonly mfa: SessionMfa | null
  /** The last unlock and wake. */
  readonly unlockedAt: number | null
  readonly wokenAt: number | null
  /** The first unlock and wake since the last MFA pass: later ones must not begin the grace period anew. */
  readonly firstUnlockedAt: number | null
  readonly firstWokenAt: number | null
  readonly sdkInfo: SdkInfo | null
}

/** What is known about the endpoints of an identity, each by its API session. */
export interface SessionReports {
  readonly sessions: readonly SessionPosture[]
}
