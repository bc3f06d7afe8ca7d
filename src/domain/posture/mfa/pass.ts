import type { SessionPosture, SessionReports } from '../data/posture-data.ts'
import { sessionPosture } from '../data/session-posture.ts'
import type { PostureCheckBase } from '../kind/posture-check-kind.ts'

/** The API session passed MFA recently enough. A `timeoutSeconds` of zero or less means no timeout. */
export interface MfaCheck extends PostureCheckBase {
  readonly typeId: 'MFA'
  readonly timeoutSeconds: number
  readonly promptOnWake: boolean
  readonly promptOnUnlock: boolean
  readonly ignoreLegacyEndpoints: boolean
}

/** Seconds for which an MFA check goes on passing after the endpoint was unlocked or woken. */
export const MFA_GRACE_SECONDS = 300

/** An MFA pass of an API session, and when grace periods began since then. Instants are epoch ms. */
interface StandingPass {
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
export function isGraceRunning(beganAt: number, now: number): boolean {
  return now < beganAt + MFA_GRACE_SECONDS * 1000
}

/**
 * True when the API session passed MFA, the pass has not timed out, and no unlock or wake that prompts for a new code
 * is older than the grace period. `now` is epoch ms.
 */
export function passesMfaCheck(check: MfaCheck, data: SessionReports, apiSessionId: string, now: number): boolean {
  const pass = standingPass(check, sessionPosture(data, apiSessionId))
  if (pass === undefined || isTimeoutElapsed(check, pass.passedAt, now)) return false
  return pass.gracesBeganAt.every((beganAt) => isGraceRunning(beganAt, now))
}

/**
 * The instants (epoch ms) at which the MFA pass of an API session ends: its timeout, and the end of each grace period.
 * None when no pass stands.
 */
export function mfaDeadlines(check: MfaCheck, session: SessionPosture | undefined): readonly number[] {
  const pass = standingPass(check, session)
  if (pass === undefined) return []
  const graceEnds = pass.gracesBeganAt.map((beganAt) => beganAt + MFA_GRACE_SECONDS * 1000)
  return hasTimeout(check) ? [pass.passedAt + check.timeoutSeconds * 1000, ...graceEnds] : graceEnds
}

/** The MFA pass of an API session, unless there is none. */
export function standingPass(check: MfaCheck, session: SessionPosture | undefined): StandingPass | undefined {
  const passedAt = session?.mfa?.passedAt ?? null
  if (session === undefined || passedAt === null) return undefined
  const { firstWokenAt, firstUnlockedAt } = session
  const events = [check.promptOnWake ? firstWokenAt : null, check.promptOnUnlock ? firstUnlockedAt : null]
  return { passedAt, gracesBeganAt: events.filter((at) => at !== null) }
}
