import { evaluateCheck } from './evaluate-check.ts'
import { NO_TIMEOUT, normaliseTimeout, timeoutRemaining } from './mfa-timeout.ts'
import type { OsType } from './os-type.ts'
import type { PostureCheck } from './posture-check.ts'
import type { PostureData } from './posture-data.ts'
import { sessionPosture } from './session-posture.ts'

/** A process that a client is asked to report. Hashes and signers are not told to clients. */
export interface QueriedProcess {
  readonly osType: OsType
  readonly path: string
}

/** What a client is asked to report for a posture check. Timeouts are seconds, -1 for none; `timeoutAt` is epoch ms. */
export interface PostureQuery {
  readonly queryType: PostureCheck['typeId']
  readonly isPassing: boolean
  readonly timeout: number
  readonly timeoutRemaining: number
  readonly timeoutAt?: number
  readonly promptOnWake?: true
  readonly promptOnUnlock?: true
  readonly process?: QueriedProcess
  readonly processes: readonly QueriedProcess[]
}

/** The posture query of a check for an API session at `now` (epoch ms), without the base fields of the check. */
export function postureQuery(check: PostureCheck, data: PostureData, apiSessionId: string, now: number): PostureQuery {
  const isPassing = evaluateCheck(check, data, apiSessionId, now)
  const query = { queryType: check.typeId, isPassing, timeout: NO_TIMEOUT, timeoutRemaining: NO_TIMEOUT }
  switch (check.typeId) {
    case 'OS':
    case 'DOMAIN':
    case 'MAC':
      return { ...query, processes: [] }
    case 'PROCESS':
      return { ...query, process: queriedProcess(check.process), processes: [] }
    case 'PROCESS_MULTI':
      return { ...query, processes: check.processes.map(queriedProcess) }
    case 'MFA': {
      const remaining = timeoutRemaining(check, data, apiSessionId, now)
      return {
        ...query,
        timeout: normaliseTimeout(check.timeoutSeconds),
        timeoutRemaining: remaining,
        ...(remaining === NO_TIMEOUT ? {} : { timeoutAt: now + remaining * 1000 }),
        ...(check.promptOnWake ? { promptOnWake: true } : {}),
        ...(check.promptOnUnlock ? { promptOnUnlock: true } : {}),
        processes: [],
      }
    }
  }
}

/**
 * When the query of a check last changed (epoch ms): the check's own `updatedAt`, or a later unlock or wake that
 * prompts for an MFA code. Clients compare it to notice that a grace period began.
 */
export function queryUpdatedAt(
  check: PostureCheck,
  data: PostureData,
  apiSessionId: string,
  updatedAt: number,
): number {
  const session = sessionPosture(data, apiSessionId)
  if (check.typeId !== 'MFA' || session === undefined || session.mfa === null) return updatedAt
  const wokenAt = check.promptOnWake ? session.wokenAt : null
  const unlockedAt = check.promptOnUnlock ? session.unlockedAt : null
  return Math.max(updatedAt, wokenAt ?? updatedAt, unlockedAt ?? updatedAt)
}

function queriedProcess({ osType, path }: QueriedProcess): QueriedProcess {
  return { osType, path }
}
