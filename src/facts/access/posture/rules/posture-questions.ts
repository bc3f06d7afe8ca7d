import {
  kindOf,
  POSTURE_CHECK_TYPE_IDS,
  type PostureCheck,
  type PostureCheckTypeId,
  type PostureData,
  type PostureDataView,
  type PostureResponse,
  RESPONSE_KINDS,
} from '../checks/index.ts'
import { type ListedPostureCheckType, NO_TIMEOUT, type QueryMembers } from '../checks/posture-check-kind.ts'
import { evaluateCheck } from './evaluate-policies.ts'

/** A posture query to a client. Timeouts are seconds, -1 for none; `timeoutAt` is epoch ms. */
export interface PostureQuery extends QueryMembers {
  readonly queryType: PostureCheckTypeId
  readonly isPassing: boolean
}

/** The posture query of a check for an API session at `now` (epoch ms), without the base fields of the check. */
export function postureQuery(check: PostureCheck, data: PostureData, apiSessionId: string, now: number): PostureQuery {
  return {
    queryType: check.typeId,
    isPassing: evaluateCheck(check, data, apiSessionId, now),
    timeout: NO_TIMEOUT,
    timeoutRemaining: NO_TIMEOUT,
    processes: [],
    ...kindOf(check.typeId).query?.(check, data, apiSessionId, now),
  }
}

/**
 * The last change of a check's query (epoch ms): the check's own `updatedAt`, or a later unlock or wake that prompts for an MFA code.
 * Clients compare it to notice the beginning of a grace period.
 */
export function queryUpdatedAt(
  check: PostureCheck,
  data: PostureData,
  apiSessionId: string,
  updatedAt: number,
): number {
  return Math.max(updatedAt, kindOf(check.typeId).queryChangedAt?.(check, data, apiSessionId) ?? updatedAt)
}

/**
 * The posture data after an API session submitted responses, in order, at `now` (epoch ms).
 *
 * Posture check ids are not looked up: a response to an unknown check is kept and does no harm.
 *
 * @example
 * const data = applyResponses(emptyPostureData(), 'session-1', [{ id: 'check-1', typeId: 'DOMAIN', domain: 'corp' }], now)
 */
export function applyResponses(
  data: PostureData,
  apiSessionId: string,
  responses: readonly PostureResponse[],
  now: number,
): PostureData {
  let known = data
  for (const kind of RESPONSE_KINDS) {
    const own = responses.filter(({ typeId }) => typeId === kind.typeId)
    if (own.length > 0) known = { ...known, ...kind.reported(known, own, apiSessionId, now) }
  }
  return known
}

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
 * The services of the caller for which the submitted responses began an MFA grace period: services with an MFA check that prompts on a
 * reported unlock or wake and does not time out earlier. `data` already includes the responses; `now` is epoch ms.
 *
 * Empty without an unlock or wake, and for an API session without an MFA pass. Among several such checks, the lowest timeout is shown.
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

/** A type of posture check, with the operating systems that it applies to. */
export interface PostureCheckType extends ListedPostureCheckType {
  readonly id: string
}

/** The types that deployed controllers list; they do not list MFA. */
export const POSTURE_CHECK_TYPES: readonly PostureCheckType[] = POSTURE_CHECK_TYPE_IDS.flatMap((id) => {
  const { listed } = kindOf(id)
  return listed === undefined ? [] : [{ id, ...listed }]
})

/** The shown form of an identity's posture data: values that were never reported are null. */
export function postureDataView(data: PostureData): PostureDataView {
  const parts = POSTURE_CHECK_TYPE_IDS.map((typeId) => kindOf(typeId).view(data))
  // Every type shows its own part, and together the parts are complete.
  return Object.assign({}, ...parts) as PostureDataView
}
