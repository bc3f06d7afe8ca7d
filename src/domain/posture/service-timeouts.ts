import { hasTimeout, MFA_GRACE_SECONDS, standingPass } from './mfa-check.ts'
import { elapsedSeconds, NO_TIMEOUT } from './mfa-timeout.ts'
import type { MfaCheck, PostureCheck } from './posture-check.ts'
import type { PostureData, SessionPosture } from './posture-data.ts'
import type { PostureResponse } from './posture-response.ts'
import { sessionPosture } from './session-posture.ts'

/** A service of the caller with the posture checks of all service policies that grant it to the caller. */
export interface CheckedService {
  readonly id: string
  readonly name: string
  readonly checks: readonly PostureCheck[]
}

/** A service whose MFA grace period began with an unlock or wake. Both timeouts are seconds, -1 for none. */
export interface ServiceTimeout {
  readonly id: string
  readonly name: string
  readonly postureQueryType: 'MFA'
  readonly timeout: number
  readonly timeoutRemaining: number
}

/**
 * The services of the caller for which the submitted responses began an MFA grace period: those with an MFA check that
 * prompts on a reported unlock or wake and would not time out sooner anyway. `data` has the responses applied already;
 * `now` is epoch ms.
 *
 * Empty when nothing was unlocked or woken, or the API session has no MFA pass to lose. Of several such checks the
 * lowest timeout is told.
 */
export function serviceTimeouts(
  services: readonly CheckedService[],
  data: PostureData,
  apiSessionId: string,
  responses: readonly PostureResponse[],
  now: number,
): readonly ServiceTimeout[] {
  const session = sessionPosture(data, apiSessionId)
  const states = responses.filter((response) => response.typeId === 'ENDPOINT_STATE')
  const unlocked = states.some((state) => state.unlocked === true)
  const woken = states.some((state) => state.woken === true)
  const prompts = (check: MfaCheck) => (check.promptOnUnlock && unlocked) || (check.promptOnWake && woken)
  return services.flatMap(({ id, name, checks }) => {
    const graces = checks
      .filter((check) => check.typeId === 'MFA')
      .filter(prompts)
      .flatMap((check) => graceOf(check, session, now) ?? [])
    if (graces.length === 0) return []
    const timeouts = graces.map((grace) => grace.timeoutSeconds).filter((seconds) => seconds > 0)
    const timeout = timeouts.length === 0 ? NO_TIMEOUT : Math.min(...timeouts)
    const timeoutRemaining = Math.min(...graces.map((grace) => grace.remaining))
    return [{ id, name, postureQueryType: 'MFA', timeout, timeoutRemaining }]
  })
}

/** The grace period of a check and the whole seconds it has left, if one runs and ends before the timeout. */
function graceOf(check: MfaCheck, session: SessionPosture | undefined, now: number) {
  const pass = standingPass(check, session)
  if (pass === undefined) return undefined
  const elapsed = pass.gracesBeganAt.map((beganAt) => elapsedSeconds(beganAt, now))
  const remaining = MFA_GRACE_SECONDS - Math.max(0, ...elapsed)
  const untilTimeout = check.timeoutSeconds - elapsedSeconds(pass.passedAt, now)
  if (remaining <= 0 || (hasTimeout(check) && untilTimeout <= remaining)) return undefined
  return { timeoutSeconds: check.timeoutSeconds, remaining }
}
