import {
  kindOf,
  POSTURE_CHECK_TYPE_IDS,
  type PostureCheck,
  type PostureCheckTypeId,
  type PostureData,
  type PostureResponse,
} from './checks/index.ts'
import { NO_TIMEOUT } from './kind/posture-check-kind.ts'

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
  readonly postureQueryType: PostureCheckTypeId
  readonly timeout: number
  readonly timeoutRemaining: number
}

const GRACE_RESPONSES: ReadonlySet<string> = new Set(
  POSTURE_CHECK_TYPE_IDS.map(kindOf).flatMap(({ grace, response }) => (grace && response ? [response.typeId] : [])),
)

/** True when responses may begin a grace period; {@link serviceTimeouts} is empty when they do not. */
export function mayBeginGrace(responses: readonly PostureResponse[]): boolean {
  return responses.some(({ typeId }) => GRACE_RESPONSES.has(typeId))
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
  const graceOf = (check: PostureCheck) => {
    const kind = kindOf(check.typeId)
    const own = responses.filter(({ typeId }) => typeId === kind.response?.typeId)
    const grace = kind.grace?.(check, data, own, apiSessionId, now)
    return grace === undefined ? [] : [{ ...grace, typeId: check.typeId }]
  }
  return services.flatMap(({ id, name, checks }) => {
    const [first, ...others] = checks.flatMap(graceOf)
    if (first === undefined) return []
    const graces = [first, ...others]
    const soonest = graces.reduce((a, b) => (b.remainingSeconds < a.remainingSeconds ? b : a))
    const timeouts = graces.map((grace) => grace.timeoutSeconds).filter((seconds) => seconds > 0)
    const timeout = timeouts.length === 0 ? NO_TIMEOUT : Math.min(...timeouts)
    return [{ id, name, postureQueryType: soonest.typeId, timeout, timeoutRemaining: soonest.remainingSeconds }]
  })
}
