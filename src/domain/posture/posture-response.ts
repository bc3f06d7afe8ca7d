import { type PostureData, type PostureResponse, RESPONSE_KINDS } from './checks/index.ts'

/**
 * The posture data after an API session submitted responses, in order, at `now` (epoch ms).
 *
 * Posture check ids are not looked up: a response to an unknown check is kept and harms nothing.
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
