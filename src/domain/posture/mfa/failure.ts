import { instant } from '../../time/instant.ts'
import type { SessionReports } from '../data/posture-data.ts'
import { sessionPosture } from '../data/session-posture.ts'
import { isGraceRunning, isTimeoutElapsed, type MfaCheck } from './pass.ts'
import { normaliseTimeout, timeoutRemaining } from './timeout.ts'

/** What an MFA check found, or would have needed, of an API session. */
export interface MfaValues {
  readonly passedMfa: boolean
  readonly passedOnUnlock: boolean
  readonly passedOnWake: boolean
  readonly timedOut: boolean
}

/** Why an MFA check fails, with the facts it was decided on, as the record of a failed service request keeps them. */
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

/** RFC 3339: what is stored is JSON, which has no dates. */
function instantText(milliseconds: number | null | undefined): string | null {
  return typeof milliseconds === 'number' ? instant(milliseconds).toISOString() : null
}
