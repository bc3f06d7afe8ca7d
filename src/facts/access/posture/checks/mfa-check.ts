import {
  type GracePeriod,
  type MissingKind,
  NO_TIMEOUT,
  type PostureCheckKind,
  storedAsGiven,
} from './posture-check-kind.ts'
import { recordEndpointState, type SessionPosture, type SessionReports, sessionPosture } from './posture-data.ts'
import {
  elapsedSeconds,
  hasTimeout,
  isTimeoutElapsed,
  MFA_GRACE_SECONDS,
  type MfaCheck,
  type MfaFailure,
  mfaDeadlines,
  mfaFailure,
  normaliseTimeout,
  passesMfaCheck,
  type SessionPostureView,
  sessionPostureView,
  timeoutRemaining,
  validPass,
} from './second-factor.ts'

/** A report that the endpoint was unlocked or woken. */
export interface EndpointStateResponse {
  readonly id: string
  readonly typeId: 'ENDPOINT_STATE'
  readonly unlocked?: boolean | undefined
  readonly woken?: boolean | undefined
}

export interface MfaTypes {
  readonly check: MfaCheck
  readonly reports: SessionReports
  readonly response: EndpointStateResponse
  readonly failure: MfaFailure
  readonly view: { readonly apiSessionPostureData: Readonly<Record<string, SessionPostureView>> }
}

/** The second factor of the API session. A code proves it, outside of posture; endpoints only report that they were unlocked or woken. */
export const MFA: PostureCheckKind<MfaTypes> = {
  schemaName: 'Mfa',
  members: {
    timeoutSeconds: { absent: NO_TIMEOUT, stored: (seconds) => storedAsGiven(normaliseTimeout(seconds)) },
    promptOnUnlock: { absent: false, stored: storedAsGiven },
    promptOnWake: { absent: false, stored: storedAsGiven },
    ignoreLegacyEndpoints: { absent: false, stored: storedAsGiven },
  },
  nothingReported: { sessions: [] },
  response: {
    typeId: 'ENDPOINT_STATE',
    schemaName: 'EndpointState',
    reported(data, responses, apiSessionId, now) {
      return responses.reduce<SessionReports>(
        (known, { unlocked = false, woken = false }) =>
          recordEndpointState(known, apiSessionId, { unlocked, woken }, now),
        { sessions: data.sessions },
      )
    },
  },
  fulfilledBy: 'user',
  passes: passesMfaCheck,
  failure: mfaFailure,
  isKnown(_check, data, apiSessionId) {
    const mfa = sessionPosture(data, apiSessionId)?.mfa ?? null
    return mfa !== null
  },
  missing: (check, data, apiSessionId, now) => [{ kind: missingMfa(check, sessionPosture(data, apiSessionId), now) }],
  expectedWords: () => [],
  query(check, data, apiSessionId, now) {
    const remaining = timeoutRemaining(check, data, apiSessionId, now)
    return {
      timeout: normaliseTimeout(check.timeoutSeconds),
      timeoutRemaining: remaining,
      ...(remaining === NO_TIMEOUT ? {} : { timeoutAt: now + remaining * 1000 }),
      ...(check.promptOnWake ? { promptOnWake: true } : {}),
      ...(check.promptOnUnlock ? { promptOnUnlock: true } : {}),
    }
  },
  /** The last unlock or wake that prompts for a code. Clients recognise the beginning of a grace period by it. */
  queryChangedAt(check, data, apiSessionId) {
    const session = sessionPosture(data, apiSessionId)
    if (session === undefined || session.mfa === null) return undefined
    const prompts = [check.promptOnWake ? session.wokenAt : null, check.promptOnUnlock ? session.unlockedAt : null]
    const instants = prompts.filter((at) => at !== null)
    return instants.length === 0 ? undefined : Math.max(...instants)
  },
  deadlines: (check, data, apiSessionId) => mfaDeadlines(check, sessionPosture(data, apiSessionId)),
  grace(check, data, responses, apiSessionId, now) {
    const unlocked = check.promptOnUnlock && responses.some((response) => response.unlocked === true)
    const woken = check.promptOnWake && responses.some((response) => response.woken === true)
    return unlocked || woken ? graceOf(check, sessionPosture(data, apiSessionId), now) : undefined
  },
  view: ({ sessions }) => ({
    apiSessionPostureData: Object.fromEntries(
      sessions.map((session) => [session.apiSessionId, sessionPostureView(session)]),
    ),
  }),
}

function missingMfa(check: MfaCheck, session: SessionPosture | undefined, now: number): MissingKind {
  const passedAt = session?.mfa?.passedAt ?? null
  if (passedAt === null) return 'mfa-not-passed'
  return isTimeoutElapsed(check, passedAt, now) ? 'mfa-timed-out' : 'mfa-prompt-unanswered'
}

/** The grace period of a check, if one runs and ends before the timeout. */
function graceOf(check: MfaCheck, session: SessionPosture | undefined, now: number): GracePeriod | undefined {
  const pass = validPass(check, session)
  if (pass === undefined) return undefined
  const elapsed = pass.gracesBeganAt.map((beganAt) => elapsedSeconds(beganAt, now))
  const remainingSeconds = MFA_GRACE_SECONDS - Math.max(0, ...elapsed)
  const untilTimeout = check.timeoutSeconds - elapsedSeconds(pass.passedAt, now)
  if (remainingSeconds <= 0 || (hasTimeout(check) && untilTimeout <= remainingSeconds)) return undefined
  return { timeoutSeconds: check.timeoutSeconds, remainingSeconds }
}
