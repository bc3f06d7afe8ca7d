import { passesDomainCheck } from './domain-check.ts'
import { passesMacCheck } from './mac-check.ts'
import { mfaDeadlines, passesMfaCheck } from './mfa-check.ts'
import { passesOsCheck } from './os-check.ts'
import type { PostureCheck } from './posture-check.ts'
import type { PostureData } from './posture-data.ts'
import { passesProcessCheck } from './process-check.ts'
import { passesProcessMultiCheck } from './process-multi-check.ts'
import { sessionPosture } from './session-posture.ts'

/** True when a posture check passes for an API session at `now` (epoch ms). A check without data to look at fails. */
export function evaluateCheck(check: PostureCheck, data: PostureData, apiSessionId: string, now: number): boolean {
  switch (check.typeId) {
    case 'OS':
      return passesOsCheck(check, data)
    case 'DOMAIN':
      return passesDomainCheck(check, data)
    case 'MAC':
      return passesMacCheck(check, data)
    case 'PROCESS':
      return passesProcessCheck(check, data)
    case 'PROCESS_MULTI':
      return passesProcessMultiCheck(check, data)
    case 'MFA':
      return passesMfaCheck(check, data, apiSessionId, now)
  }
}

/**
 * The instant (epoch ms) at which a check that passes now fails by itself, if nothing is reported until then: an MFA
 * timeout, or the end of a grace period. `undefined` when it fails already or passes for good.
 */
export function nextDeadline(
  check: PostureCheck,
  data: PostureData,
  apiSessionId: string,
  now: number,
): number | undefined {
  if (check.typeId !== 'MFA') return undefined
  const next = Math.min(...mfaDeadlines(check, sessionPosture(data, apiSessionId)))
  return now < next && Number.isFinite(next) ? next : undefined
}
