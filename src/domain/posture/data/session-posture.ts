import type { SdkInfo, SessionPosture, SessionReports } from './posture-data.ts'

const NOTHING_KNOWN: Omit<SessionPosture, 'apiSessionId'> = {
  mfa: null,
  unlockedAt: null,
  wokenAt: null,
  firstUnlockedAt: null,
  firstWokenAt: null,
  sdkInfo: null,
}

/** What is known about the endpoint of an API session, or `undefined` when nothing is. */
export function sessionPosture(data: SessionReports, apiSessionId: string): SessionPosture | undefined {
  return data.sessions.find((session) => session.apiSessionId === apiSessionId)
}

/**
 * The API session passed MFA now (epoch ms), which answers every unlock and wake before.
 *
 * @example
 * const data = recordMfaPass(emptyPostureData(), 'session-1', now)
 */
export function recordMfaPass<D extends SessionReports>(data: D, apiSessionId: string, now: number): D {
  return changeSession(data, apiSessionId, { mfa: { passedAt: now }, firstUnlockedAt: null, firstWokenAt: null })
}

/**
 * The identity has no MFA any more: no API session of it counts as having passed.
 *
 * @example
 * const data = clearMfa(known)
 */
export function clearMfa<D extends SessionReports>(data: D): D {
  const mfa = { passedAt: null }
  return { ...data, sessions: data.sessions.map((session) => (session.mfa === null ? session : { ...session, mfa })) }
}

/** The SDK of the API session described itself while authenticating. */
export function recordSdkInfo<D extends SessionReports>(data: D, apiSessionId: string, sdkInfo: SdkInfo): D {
  return changeSession(data, apiSessionId, { sdkInfo })
}

/** The endpoint of the API session was unlocked or woken now (epoch ms); an event that did not occur changes nothing. */
export function recordEndpointState<D extends SessionReports>(
  data: D,
  apiSessionId: string,
  event: { readonly unlocked: boolean; readonly woken: boolean },
  now: number,
): D {
  const known = sessionPosture(data, apiSessionId)
  return changeSession(data, apiSessionId, {
    ...(event.unlocked ? { unlockedAt: now, firstUnlockedAt: known?.firstUnlockedAt ?? now } : {}),
    ...(event.woken ? { wokenAt: now, firstWokenAt: known?.firstWokenAt ?? now } : {}),
  })
}

/** The posture data with a change to one API session, which becomes known by it. */
function changeSession<D extends SessionReports>(
  data: D,
  apiSessionId: string,
  change: Partial<Omit<SessionPosture, 'apiSessionId'>>,
): D {
  const known = sessionPosture(data, apiSessionId)
  if (known !== undefined) {
    const sessions = data.sessions.map((session) => (session === known ? { ...session, ...change } : session))
    return { ...data, sessions }
  }
  return { ...data, sessions: [...data.sessions, { apiSessionId, ...NOTHING_KNOWN, ...change }] }
}
