import { kindOf, type PostureCheck, type PostureData } from './checks/index.ts'
import type { MissingPosture } from './kind/missing-posture.ts'

/**
 * True when a posture check passes for an API session at `now` (epoch ms). A check without data to look at fails.
 *
 * @example
 * const check = { id: 'check-1', name: 'at work', typeId: 'DOMAIN', domains: ['corp'] } as const
 * evaluateCheck(check, emptyPostureData(), 'session-1', now) // false
 */
export function evaluateCheck(check: PostureCheck, data: PostureData, apiSessionId: string, now: number): boolean {
  return kindOf(check.typeId).passes(check, data, apiSessionId, now)
}

/**
 * What keeps a check from passing for an API session at `now` (epoch ms); empty when it passes.
 *
 * @example
 * missingPosture(check, emptyPostureData(), 'session-1', now) // [{ kind: 'not-reported' }]
 */
export function missingPosture(
  check: PostureCheck,
  data: PostureData,
  apiSessionId: string,
  now: number,
): readonly MissingPosture[] {
  if (evaluateCheck(check, data, apiSessionId, now)) return []
  return kindOf(check.typeId).missing(check, data, apiSessionId, now)
}

/** True when something was reported that the check can look at. */
export function isPostureKnown(check: PostureCheck, data: PostureData, apiSessionId: string): boolean {
  return kindOf(check.typeId).isKnown(check, data, apiSessionId)
}

/**
 * The instant (epoch ms) at which a check that passes now fails by itself, if nothing is reported until then: an MFA
 * timeout, or the end of a grace period. `undefined` when it fails already or passes for good.
 *
 * @example
 * const endsAt = nextDeadline(check, data, 'session-1', now)
 */
export function nextDeadline(
  check: PostureCheck,
  data: PostureData,
  apiSessionId: string,
  now: number,
): number | undefined {
  const next = Math.min(...(kindOf(check.typeId).deadlines?.(check, data, apiSessionId) ?? []))
  return now < next && Number.isFinite(next) ? next : undefined
}
