import { instant } from '../../../../base/time.ts'

/** When a value was reported (epoch ms), and in answer to which posture check. */
export interface Report {
  readonly postureCheckId: string
  readonly lastUpdatedAt: number
}

/** A report in answer to a posture check, made at `now` (epoch ms). */
export function reportOf(response: { readonly id: string }, now: number): Report {
  return { postureCheckId: response.id, lastUpdatedAt: now }
}

/** When a value was reported and for which posture check, as it is shown: null and empty when it never was. */
export interface ReportView {
  readonly lastUpdatedAt: Date | null
  readonly postureCheckId: string
  readonly timedOut: boolean
}

/** Shows when a value was reported. Reported values have no timeout of their own, so none is ever timed out. */
export function reportView(report: Report | null): ReportView {
  return {
    lastUpdatedAt: instant(report?.lastUpdatedAt ?? null),
    postureCheckId: report?.postureCheckId ?? '',
    timedOut: false,
  }
}

/** The facts that an SDK tells of itself when it authenticates. */
export interface SdkInfo {
  readonly appId?: string | undefined
  readonly appVersion?: string | undefined
  readonly branch?: string | undefined
  readonly revision?: string | undefined
  readonly type?: string | undefined
  readonly version?: string | undefined
}

/** When an API session last passed MFA (epoch ms). */
export interface SessionMfa {
  readonly passedAt: number | null
}

/** The state of the endpoint of one API session. Instants are epoch ms. */
export interface SessionPosture {
  readonly apiSessionId: string
  readonly mfa: SessionMfa | null
  /** The last unlock and wake. */
  readonly unlockedAt: number | null
  readonly wokenAt: number | null
  /** The first unlock and wake since the last MFA pass: later ones must not begin the grace period anew. */
  readonly firstUnlockedAt: number | null
  readonly firstWokenAt: number | null
  readonly sdkInfo: SdkInfo | null
}

/** The state of the endpoints of an identity, each by its API session. */
export interface SessionReports {
  readonly sessions: readonly SessionPosture[]
}

const NOTHING_KNOWN: Omit<SessionPosture, 'apiSessionId'> = {
  mfa: null,
  unlockedAt: null,
  wokenAt: null,
  firstUnlockedAt: null,
  firstWokenAt: null,
  sdkInfo: null,
}

/** Finds the state of the endpoint of an API session, or `undefined` when none is known. */
export function sessionPosture(data: SessionReports, apiSessionId: string): SessionPosture | undefined {
  return data.sessions.find((session) => session.apiSessionId === apiSessionId)
}

/**
 * The API session passed MFA at `now` (epoch ms), which answers every unlock and wake before. It may be heard of later than an
 * unlock or wake that came after it: that one stays unanswered.
 *
 * @example
 * const data = recordMfaPass(emptyPostureData(), 'session-1', now)
 */
export function recordMfaPass<D extends SessionReports>(data: D, apiSessionId: string, now: number): D {
  const { unlockedAt, wokenAt, firstUnlockedAt, firstWokenAt } = sessionPosture(data, apiSessionId) ?? NOTHING_KNOWN
  return changeSession(data, apiSessionId, {
    mfa: { passedAt: now },
    firstUnlockedAt: firstAfter(now, firstUnlockedAt, unlockedAt),
    firstWokenAt: firstAfter(now, firstWokenAt, wokenAt),
  })
}

/** The first unanswered event after a second factor, of the first and the last one that are known; null where there is none. */
function firstAfter(passedAt: number, first: number | null, last: number | null): number | null {
  if (first === null || first > passedAt) return first
  return last !== null && last > passedAt ? last : null
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

/**
 * The hex digits of a MAC address, hash or certificate fingerprint in lower case (`14-B2-2C` is `14b22c`), or
 * `undefined` when the text holds none: such a value matches nothing and must not be stored as an empty one.
 */
export function normaliseHex(text: string): string | undefined {
  const digits = text.toLowerCase().replaceAll(/[^0-9a-f]/g, '')
  return digits === '' ? undefined : digits
}

/** The normalised form of every text that holds hex digits. */
export function normaliseHexList(texts: readonly string[]): readonly string[] {
  return texts.map(normaliseHex).filter((digits) => digits !== undefined)
}

/** True when one of the required values, normalised, is among the reported ones, which are normalised already. */
export function includesAnyHex(reported: readonly string[], required: readonly string[]): boolean {
  return normaliseHexList(required).some((digits) => reported.includes(digits))
}

/** Operating systems that a posture check can name, in their stored spelling. */
export const OS_TYPES = ['Windows', 'WindowsServer', 'Android', 'iOS', 'Linux', 'macOS'] as const

/** An operating system as a posture check stores it. */
export type OsType = (typeof OS_TYPES)[number]

const BY_FOLDED_NAME: ReadonlyMap<string, OsType> = new Map(OS_TYPES.map((type) => [foldName(type), type]))

/**
 * The stored spelling of an operating system named in any case and with any spaces (`WINDOWS`, `Windows Server`), or
 * `undefined` when no posture check can name it.
 */
export function canonicalOsType(name: string): OsType | undefined {
  return BY_FOLDED_NAME.get(foldName(name))
}

/**
 * The operating system that an endpoint means by the name it reports, or `undefined` when it is none of ours.
 *
 * Apple endpoints report the kernel's name, `Darwin`, which counts as macOS.
 */
export function reportedOsType(name: string): OsType | undefined {
  return foldName(name) === 'darwin' ? 'macOS' : canonicalOsType(name)
}

function foldName(name: string): string {
  return name.replaceAll(/\s/g, '').toLowerCase()
}

/** A value whose operating system, under `member` or as `os`, has its stored spelling where it can have one. */
export function withOsType(member: 'type' | 'osType', value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { os, ...rest }: { readonly os?: unknown; readonly type?: unknown; readonly osType?: unknown } = value
  const given = rest[member] ?? os
  if (typeof given !== 'string') return value
  return { ...rest, [member]: canonicalOsType(given) ?? given }
}
