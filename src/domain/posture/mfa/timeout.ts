import type { SessionReports } from '../data/posture-data.ts'
import { sessionPosture } from '../data/session-posture.ts'
import { NO_TIMEOUT } from '../kind/posture-check-kind.ts'
import { isLegacyEndpoint } from './legacy-endpoint.ts'
import { hasTimeout, MFA_GRACE_SECONDS, type MfaCheck, standingPass } from './pass.ts'

/** The timeout of an MFA check in its stored form: whole seconds, or -1 for zero and less. */
export function normaliseTimeout(timeoutSeconds: number): number {
  return timeoutSeconds > 0 ? timeoutSeconds : NO_TIMEOUT
}

/**
 * Whole seconds until an MFA check stops passing for an API session: 0 when it fails already, -1 when the check has no
 * timeout (even while a grace period runs, as clients expect) or the check spares legacy endpoints and this is one.
 * `now` is epoch ms.
 */
export function timeoutRemaining(check: MfaCheck, data: SessionReports, apiSessionId: string, now: number): number {
  if (!hasTimeout(check)) return NO_TIMEOUT
  const session = sessionPosture(data, apiSessionId)
  const pass = standingPass(check, session)
  if (pass === undefined) return 0
  if (check.ignoreLegacyEndpoints && isLegacyEndpoint(session?.sdkInfo ?? null)) return NO_TIMEOUT
  const remaining = check.timeoutSeconds - elapsedSeconds(pass.passedAt, now)
  const graces = pass.gracesBeganAt.map((beganAt) => MFA_GRACE_SECONDS - elapsedSeconds(beganAt, now))
  return Math.max(0, Math.min(remaining, ...graces))
}

/** Whole seconds since an instant; never negative, so that a clock set back does not lengthen a timeout. */
export function elapsedSeconds(since: number, now: number): number {
  return Math.max(0, Math.floor((now - since) / 1000))
}
