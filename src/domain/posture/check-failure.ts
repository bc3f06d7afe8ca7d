import { type CheckFailure, kindOf, type PostureCheck, type PostureData } from './checks/index.ts'

/**
 * What a posture check found and expected for an API session at `now` (epoch ms), for the record of a failed service
 * request. Values that were never reported are empty.
 *
 * @example
 * const { actualValue, expectedValue } = explainFailure(check, data, 'session-1', now)
 */
export function explainFailure(
  check: PostureCheck,
  data: PostureData,
  apiSessionId: string,
  now: number,
): CheckFailure {
  const { id, name, typeId } = check
  const failure = kindOf(typeId).failure(check, data, apiSessionId, now)
  // The type of the failure goes with the type of the check, which kindOf does not tell.
  return { postureCheckId: id, postureCheckName: name, postureCheckType: typeId, ...failure } as CheckFailure
}
