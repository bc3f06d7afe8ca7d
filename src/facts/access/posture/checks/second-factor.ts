import { instant } from '../../../../base/time.ts'
import { NO_TIMEOUT, type PostureCheckBase } from './posture-check-kind.ts'
import { type SdkInfo, type SessionPosture, type SessionReports, sessionPosture } from './posture-data.ts'
import { compareSemVer, parseReportedVersion, type SemVer } from './semver.ts'

/** The API session passed MFA recently enough. A `timeoutSeconds` of zero or less means no timeout. */
export interface MfaCheck extends PostureCheckBase {
  readonly typeId: 'MFA'
  readonly timeoutSeconds: number
  readonly promptOnWake: boolean
  readonly promptOnUnlock: boolean
  readonly ignoreLegacyEndpoints: boolean
}

/** Seconds for which an MFA check still passes after the endpoint was unlocked or woken. */
export const MFA_GRACE_SECONDS = 300

/** An MFA pass of an API session, and the beginnings of grace periods since then. Instants are epoch ms. */
interface ValidPass {
  readonly passedAt: number
  readonly gracesBeganAt: readonly number[]
}

/** True when the check lets an MFA pass run out; zero and less mean no timeout. */
export function hasTimeout(check: MfaCheck): boolean {
  return check.timeoutSeconds > 0
}

/** True when the timeout of the check has elapsed since the MFA pass. Instants are epoch ms. */
export function isTimeoutElapsed(check: MfaCheck, passedAt: number, now: number): boolean {
  return hasTimeout(check) && now >= passedAt + check.timeoutSeconds * 1000
}

/** True while the grace period that began with an unlock or wake runs. Instants are epoch ms. */
function isGraceRunning(beganAt: number, now: number): boolean {
  return now < beganAt + MFA_GRACE_SECONDS * 1000
}

/**
 * True when the API session passed MFA, the pass has not timed out, and no unlock or wake that prompts for a new code
 * is older than the grace period. `now` is epoch ms.
 */
export function passesMfaCheck(check: MfaCheck, data: SessionReports, apiSessionId: string, now: number): boolean {
  const pass = validPass(check, sessionPosture(data, apiSessionId))
  if (pass === undefined || isTimeoutElapsed(check, pass.passedAt, now)) return false
  return pass.gracesBeganAt.every((beganAt) => isGraceRunning(beganAt, now))
}

/**
 * The instants (epoch ms) at which the MFA pass of an API session ends: its timeout, and the end of each grace period. Empty without an MFA
 * pass.
 */
export function mfaDeadlines(check: MfaCheck, session: SessionPosture | undefined): readonly number[] {
  const pass = validPass(check, session)
  if (pass === undefined) return []
  const graceEnds = pass.gracesBeganAt.map((beganAt) => beganAt + MFA_GRACE_SECONDS * 1000)
  return hasTimeout(check) ? [pass.passedAt + check.timeoutSeconds * 1000, ...graceEnds] : graceEnds
}

/** The MFA pass of an API session; undefined if it never passed. */
export function validPass(check: MfaCheck, session: SessionPosture | undefined): ValidPass | undefined {
  const passedAt = session?.mfa?.passedAt ?? null
  if (session === undefined || passedAt === null) return undefined
  const { firstWokenAt, firstUnlockedAt } = session
  const events = [check.promptOnWake ? firstWokenAt : null, check.promptOnUnlock ? firstUnlockedAt : null]
  return { passedAt, gracesBeganAt: events.filter((at) => at !== null) }
}

/** The actual or the expected values of an MFA check for an API session. */
export interface MfaValues {
  readonly passedMfa: boolean
  readonly passedOnUnlock: boolean
  readonly passedOnWake: boolean
  readonly timedOut: boolean
}

/** The failure of an MFA check with the facts of the decision, for the record of a failed service request. */
export interface MfaFailure {
  readonly actualValue: MfaValues
  readonly expectedValue: MfaValues
  readonly criteria: {
    readonly passedMfaAt: string | null
    readonly timeoutRemainingSeconds: number
    readonly timeoutSeconds: number
    readonly unlockedAt: string | null
    readonly wokenAt: string | null
  }
}

/** The values of an MFA check for an API session at `now` (epoch ms). A session that never passed counts as timed out. */
export function mfaFailure(check: MfaCheck, data: SessionReports, apiSessionId: string, now: number): MfaFailure {
  const session = sessionPosture(data, apiSessionId)
  const passedAt = session?.mfa?.passedAt ?? null
  const passedOn = (prompts: boolean, graceBeganAt: number | null | undefined) =>
    passedAt !== null && (!prompts || typeof graceBeganAt !== 'number' || isGraceRunning(graceBeganAt, now))
  const elapsed = passedAt === null || isTimeoutElapsed(check, passedAt, now)
  return {
    actualValue: {
      passedMfa: passedAt !== null,
      passedOnUnlock: passedOn(check.promptOnUnlock, session?.firstUnlockedAt),
      passedOnWake: passedOn(check.promptOnWake, session?.firstWokenAt),
      timedOut: elapsed,
    },
    expectedValue: {
      passedMfa: true,
      passedOnUnlock: check.promptOnUnlock,
      passedOnWake: check.promptOnWake,
      timedOut: false,
    },
    criteria: {
      passedMfaAt: instantText(passedAt),
      timeoutRemainingSeconds: timeoutRemaining(check, data, apiSessionId, now),
      timeoutSeconds: normaliseTimeout(check.timeoutSeconds),
      unlockedAt: instantText(session?.unlockedAt),
      wokenAt: instantText(session?.wokenAt),
    },
  }
}

/** RFC 3339 text, because the stored JSON has no dates. */
function instantText(milliseconds: number | null | undefined): string | null {
  return typeof milliseconds === 'number' ? instant(milliseconds).toISOString() : null
}

/** The timeout of an MFA check in its stored form: whole seconds, or -1 for zero and less. */
export function normaliseTimeout(timeoutSeconds: number): number {
  return timeoutSeconds > 0 ? timeoutSeconds : NO_TIMEOUT
}

/**
 * Whole seconds until an MFA check stops passing for an API session: 0 for a failing check; -1 for a check without a timeout (even during a
 * grace period, as clients expect), and for a legacy endpoint that the check exempts. `now` is epoch ms.
 */
export function timeoutRemaining(check: MfaCheck, data: SessionReports, apiSessionId: string, now: number): number {
  if (!hasTimeout(check)) return NO_TIMEOUT
  const session = sessionPosture(data, apiSessionId)
  const pass = validPass(check, session)
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

const MODERN_SDK_TYPE = 'ziti-sdk-c'
const FIRST_MODERN_VERSION: SemVer = { major: 0, minor: 25, patch: 0, prerelease: [] }

/** True unless the endpoint's SDK is known to follow MFA timeouts: the C SDK from version 0.25.0 on. */
function isLegacyEndpoint(sdkInfo: SdkInfo | null): boolean {
  if (sdkInfo?.type !== MODERN_SDK_TYPE) return true
  const version = parseReportedVersion(sdkInfo.version ?? '')
  return version === undefined || compareSemVer(version, FIRST_MODERN_VERSION) < 0
}

/** The posture of one API session. `passedOnWake` and `passedOnUnlock`: no wake or unlock awaits an MFA code. */
export type SessionPostureView = {
  readonly endpointState: { readonly unlockedAt: Date | null; readonly wokenAt: Date | null }
  readonly mfa: {
    readonly apiSessionId: string
    readonly passedAt: Date | null
    readonly passedMfa: boolean
    readonly passedOnUnlock: boolean
    readonly passedOnWake: boolean
  }
  readonly sdkInfo?: SdkInfo
}

/** The shown form of an API session's posture. */
export function sessionPostureView(session: SessionPosture): SessionPostureView {
  const { apiSessionId, mfa, unlockedAt, wokenAt, firstUnlockedAt, firstWokenAt, sdkInfo } = session
  const passedAt = mfa?.passedAt ?? null
  return {
    endpointState: { unlockedAt: instant(unlockedAt), wokenAt: instant(wokenAt) },
    mfa: {
      apiSessionId,
      passedAt: instant(passedAt),
      passedMfa: passedAt !== null,
      passedOnUnlock: passedAt !== null && firstUnlockedAt === null,
      passedOnWake: passedAt !== null && firstWokenAt === null,
    },
    ...(sdkInfo === null ? {} : { sdkInfo }),
  }
}
